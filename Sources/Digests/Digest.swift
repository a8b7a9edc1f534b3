/// The result of a hash function.
package struct Digest: Sendable, Hashable {
    package let algorithm: DigestAlgorithm
    package let bytes: [UInt8]

    package init(_ algorithm: DigestAlgorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// A digest from hexadecimal, upper or lower case; nil where it is none, or of another length.
    package init?(_ algorithm: DigestAlgorithm, hex: some Sequence<UInt8>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(algorithm.size)
        var high: UInt8?
        for character in hex {
            guard let digit = Self.value(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil, bytes.count == algorithm.size else { return nil }
        self.init(algorithm, bytes: bytes)
    }

    /// The digest of some bytes.
    package static func of(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) throws(DigestError) -> Digest {
        var context = try DigestContext.start(algorithm)
        var failure: DigestError?
        bytes.withUnsafeBytes { buffer in
            do throws(DigestError) { try context.update(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        return try context.finish()
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The bytes in lower-case hexadecimal, as `sha256sum` prints them.
    package var hex: String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var index = 0
            for byte in bytes {
                buffer[index] = Self.digit(byte >> 4)
                buffer[index + 1] = Self.digit(byte & 15)
                index += 2
            }
            return index
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension Digest: CustomStringConvertible {
    /// `sha256:e3b0c4…`
    package var description: String { "\(algorithm.rawValue):\(hex)" }
}

extension Sequence where Element == Digest {
    /// The functions that they are of, each once.
    package var algorithms: [DigestAlgorithm] { Set(map(\.algorithm)).sorted { $0.rawValue < $1.rawValue } }
}
