import Files

/// Why tokens cannot be read or changed: a sentence, with its remedy.
package struct TokenError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(unknown name: String) {
        description = "there is no token '\(EscapedText.of(name))'; 'dropmill token list' lists them"
    }

    package init(taken name: String) {
        description = "there is a token '\(EscapedText.of(name))' already; revoke it, or choose another name"
    }

    init(_ description: String) { self.description = description }
}
