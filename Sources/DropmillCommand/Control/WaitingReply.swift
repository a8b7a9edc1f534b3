import FoundationEssentials
import PipelineEngine

/// Something that waits, or is left alone.
struct WaitingReply: Codable, Equatable {
    /// Its path from the inbox on, in bytes.
    var path: Data
    /// Seconds since it is known.
    var known: Double?
    /// Why it waits: a word that stays the same.
    var code: String
    var text: String
    /// Whether time or a sender will bring what it waits for.
    var waits = true
    /// Whether it is in the work folder already.
    var claimed = false
}

extension WaitingReply {
    init(_ drop: WaitingDrop) {
        self.init(
            path: Data(drop.path), known: drop.known?.seconds, code: drop.waiting.code, text: drop.waiting.text,
            waits: drop.waiting.isWaiting, claimed: drop.isClaimed)
    }
}
