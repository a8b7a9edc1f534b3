import PipelineKit

/// Random words that nobody guesses.
enum Secret {
    /// 256 bits from the kernel, in characters that need no escape anywhere.
    static func random(prefix: String = "") -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let characters = (0..<43).map { _ in alphabet[Int(generator.next() & 63)] }
        return prefix + String(decoding: characters, as: UTF8.self)
    }

    /// Whether two digests are the same, in a time that does not tell how much of them is.
    static func isEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
