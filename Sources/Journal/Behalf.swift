import Files

/// For whom a program asks that others sign in to, such as `dropmill serve`: it is trusted to say so.
package struct Behalf: Codable, Equatable, Sendable {
    /// What is called so there: a token, or a user.
    package var name: String
    /// What they may do there.
    package var role: String
    /// Where they came from.
    package var address: String

    package init(name: String, role: String, address: String) {
        (self.name, self.role, self.address) = (name, role, address)
    }

    /// Bytes of each.
    private static let longest = 64

    /// What is wrong with it; nil where nothing is.
    package var fault: String? {
        let parts = [("name", name), ("role", role), ("address", address)]
        for (key, text) in parts where text.utf8.count > Self.longest || EscapedText.printable(text) != text {
            return "'for.\(key)' must be printable, and have \(Self.longest) bytes at most"
        }
        return name.isEmpty ? "'for.name' must not be empty" : nil
    }
}
