import Synchronization

/// The id of a job: 26 characters that sort by the time the job was made, then by a random part (as ULIDs do: 48 bits
/// of milliseconds, 80 bits of chance, in Crockford's base 32). Folders bear it as a name, so it holds nothing but
/// letters and digits.
package struct JobID: Hashable, Sendable, Comparable {
    /// The 26 characters.
    package let text: String

    /// The text as a file's name.
    package var fileName: FileName { FileName(unchecked: Array(text.utf8)) }

    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// An id from its text, or nil where it is none.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 26, bytes.allSatisfy(Self.digits.contains), bytes[0] <= UInt8(ascii: "7") else {
            return nil
        }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// An id of 48 and 80 bits.
    init(milliseconds: UInt64, high: UInt16, low: UInt64) {
        var bytes = [UInt8](repeating: 0, count: 26)
        var value = (UInt128(milliseconds & 0xFFFF_FFFF_FFFF) << 80) | (UInt128(high) << 64) | UInt128(low)
        for index in stride(from: 25, through: 0, by: -1) {
            bytes[index] = Self.digits[Int(truncatingIfNeeded: value & 31)]
            value >>= 5
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// When the id was made, to the millisecond.
    package var time: Timestamp {
        var value: UInt128 = 0
        for byte in text.utf8 { value = value << 5 | UInt128(Self.digits.firstIndex(of: byte) ?? 0) }
        return Timestamp(nanoseconds: Int64(truncatingIfNeeded: value >> 80) * 1_000_000)
    }

    /// The first id that a job could get at a time.
    package static func first(at time: Timestamp) -> JobID {
        JobID(milliseconds: UInt64(max(0, time.milliseconds)), high: 0, low: 0)
    }

    /// Earlier first.
    package static func < (left: JobID, right: JobID) -> Bool { left.text < right.text }
}

extension JobID: CustomStringConvertible {
    /// The 26 characters.
    package var description: String { text }
}
