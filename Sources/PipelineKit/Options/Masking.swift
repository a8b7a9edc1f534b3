/// Replaces secrets in what is shown.
package enum Masking {
    /// Shorter ones are found everywhere, and hide nothing.
    private static let leastBytes = 4
    private static let mark = Array(Concealed.mark.utf8)

    /// The bytes with a mark in the place of each secret; the longer of two that begin at one place goes first.
    /// `beginsWithin`, `endsWithin`: they are a piece of something, and may begin or end within a secret.
    package static func masked(
        _ bytes: [UInt8], _ secrets: [[UInt8]], beginsWithin: Bool = false, endsWithin: Bool = false
    ) -> [UInt8] {
        let secrets = secrets.filter { $0.count >= leastBytes }.sorted { $0.count > $1.count }
        if secrets.isEmpty { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = beginsWithin ? secrets.map { endOfSecret($0, in: bytes) }.max() ?? 0 : 0
        let open = endsWithin ? secrets.map { beginningOfSecret($0, in: bytes) }.max() ?? 0 : 0
        let end = bytes.count - open
        if index > 0 { result += mark }
        while index < end {
            let rest = bytes[index...]
            if let secret = secrets.first(where: { rest.starts(with: $0) }) {
                result += mark
                index += secret.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return index < bytes.count ? result + mark : result
    }

    /// How many of the first bytes are the end of a secret.
    private static func endOfSecret(_ secret: [UInt8], in bytes: [UInt8]) -> Int {
        (1..<secret.count).reversed().first { bytes.starts(with: secret.suffix($0)) } ?? 0
    }

    /// How many of the last bytes are the beginning of a secret.
    private static func beginningOfSecret(_ secret: [UInt8], in bytes: [UInt8]) -> Int {
        (1..<secret.count).reversed().first { bytes.suffix($0).elementsEqual(secret.prefix($0)) } ?? 0
    }
}
