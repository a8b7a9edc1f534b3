package import FoundationEssentials

/// Something that waits, or is left alone.
package struct WaitingReply: Codable, Equatable, Sendable {
    /// Its path from the inbox on, in bytes.
    package var path: Data
    /// Seconds since it is known.
    package var known: Double?
    /// Why it waits: a word that stays the same.
    package var code: String
    package var text: String
    /// Whether time or a sender will bring what it waits for.
    package var waits = true
    /// Whether it is in the work folder already.
    package var claimed = false

    package init(
        path: Data, known: Double? = nil, code: String, text: String, waits: Bool = true, claimed: Bool = false
    ) {
        self.path = path
        self.known = known
        self.code = code
        self.text = text
        self.waits = waits
        self.claimed = claimed
    }
}
