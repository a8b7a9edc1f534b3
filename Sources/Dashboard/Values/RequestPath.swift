/// A request's path in parts, each without escapes: an escaped slash belongs to its part, so no part is a way out.
struct RequestPath: Sendable, Equatable {
    let parts: [[UInt8]]

    /// Nil where it has an escape that is none, a part that is empty, `.` or `..`, or a NUL.
    init?(_ text: some StringProtocol) {
        guard text.first == "/" else { return nil }
        let rest = text.utf8.dropFirst()
        guard !rest.isEmpty else {
            parts = []
            return
        }
        var parts: [[UInt8]] = []
        for piece in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let part = Percent.decoded(piece), !part.isEmpty, !part.contains(0) else { return nil }
            guard !part.elementsEqual(".".utf8), !part.elementsEqual("..".utf8) else { return nil }
            parts.append(part)
        }
        self.parts = parts
    }
}
