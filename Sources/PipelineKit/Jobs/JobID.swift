package import Files
import Synchronization

/// The id of a job: 26 characters that sort by the time the job was made, then by a random part (as ULIDs do: 48 bits
/// of milliseconds, 80 bits of chance, in Crockford's base 32). Folders bear it as a name, so it holds nothing but
/// letters and digits.
public struct JobID: Hashable, Sendable, Comparable {
    /// Its 48 and 80 bits. Ids are copied and looked up all the time, and read seldom.
    private let bits: UInt128

    /// The 26 characters.
    public var text: String {
        String(unsafeUninitializedCapacity: Self.length) { bytes in
            write(to: bytes)
            return Self.length
        }
    }

    /// The text as a file's name.
    package var fileName: FileName {
        FileName(
            unchecked: Array(unsafeUninitializedCapacity: Self.length) { bytes, count in
                write(to: bytes)
                count = Self.length
            })
    }

    private func write(to bytes: UnsafeMutableBufferPointer<UInt8>) {
        var (high, low) = (UInt64(truncatingIfNeeded: bits >> 65), UInt64(truncatingIfNeeded: bits))
        // Each half is 13 digits of five bits, one bit more than a word has: this is the digit that lies in both words.
        let first = UInt64(truncatingIfNeeded: bits >> 60) & 31
        for place in stride(from: 12, through: 0, by: -1) {
            bytes[place] = Self.digits[Int(high & 31)]
            high >>= 5
            bytes[place + 13] = Self.digits[Int(place == 0 ? first : low & 31)]
            low >>= 5
        }
    }

    private static let length = 26
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// An id from its text, or nil where it is none.
    public init?(_ text: some StringProtocol) { self.init(utf8: text.utf8) }

    /// The same from its bytes.
    package init?(utf8 text: some Collection<UInt8>) {
        guard text.count == Self.length, let first = text.first, first <= UInt8(ascii: "7") else { return nil }
        var bits: UInt128 = 0
        for byte in text {
            guard let digit = Self.value(of: byte) else { return nil }
            bits = bits << 5 | UInt128(digit)
        }
        self.bits = bits
    }

    /// Of a digit; nil where it is none.
    private static func value(of byte: UInt8) -> UInt8? {
        let value = values[Int(byte)]
        return value < 32 ? value : nil
    }

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: .max, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// An id of 48 and 80 bits.
    init(milliseconds: UInt64, high: UInt16, low: UInt64) {
        bits = UInt128(milliseconds & 0xFFFF_FFFF_FFFF) << 80 | UInt128(high) << 64 | UInt128(low)
    }

    /// When the id was made, to the millisecond.
    package var time: Timestamp { Timestamp(nanoseconds: Int64(truncatingIfNeeded: bits >> 80) * 1_000_000) }

    /// The first id that a job could get at a time.
    package static func first(at time: Timestamp) -> JobID {
        JobID(milliseconds: UInt64(max(0, time.milliseconds)), high: 0, low: 0)
    }

    /// Earlier first.
    public static func < (left: JobID, right: JobID) -> Bool { left.bits < right.bits }
}

extension JobID: CustomStringConvertible {
    /// The 26 characters.
    public var description: String { text }
}
