/// What a file is by its content, as libmagic (the library of `file`) tells.
package struct MediaType: Sendable, Hashable {
    /// The media type: `application/pdf`; `application/x-empty` for an empty file.
    package let type: String
    /// How text is encoded: `us-ascii`, `utf-8`; `binary` for what is none.
    package let encoding: String

    /// libmagic's answer, such as `text/plain; charset=us-ascii`. It comes from a process that a stranger's file may
    /// have taken over, and goes into names and messages: nil where it is not of that kind.
    init?(answer: String) {
        let parts = answer.split(separator: "; charset=", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(Self.isPlain) else { return nil }
        (type, encoding) = (String(parts[0]), String(parts[1]))
    }

    private static func isPlain(_ text: Substring) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
