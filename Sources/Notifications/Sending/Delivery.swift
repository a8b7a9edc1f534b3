import Files

/// What came of sending a message.
package struct Delivery: Sendable, Equatable {
    /// Whether the other side has it.
    package let isTaken: Bool
    /// What it said, or what went wrong, without secrets: a sentence without a full stop.
    package let said: String
    /// How long it asks to be left alone.
    package var retryAfter: Duration?

    package init(isTaken: Bool, said: String, retryAfter: Duration? = nil) {
        (self.isTaken, self.said, self.retryAfter) = (isTaken, EscapedText.printable(said), retryAfter)
    }
}
