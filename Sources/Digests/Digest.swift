/// The result of a hash function.
package struct Digest: Sendable, Hashable {
    /// Which function.
    package let algorithm: DigestAlgorithm
    /// Its bytes.
    package let bytes: [UInt8]

    /// A digest of these bytes.
    package init(_ algorithm: DigestAlgorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
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
