import Control
import Files
import Journal
import Synchronization

/// Puts refused wishes on record: few of them, and little of each.
final class RefusalLog: Sendable {
    /// Bytes of arguments, and characters of verbs and reasons.
    private static let longest = (arguments: 1024, verb: 32, text: 400)

    private let record: ControlRecord
    private let budget = Mutex(RefusalBudget())

    init(_ record: ControlRecord) { self.record = record }

    /// Returns whether it is on record. Blocks. `arguments`: as JSON, called only where they are kept.
    func note(_ verb: String, _ arguments: () -> String, by peer: ControlPeer, because text: String) -> Bool {
        guard let skipped = budget.withLock({ $0.admit(at: .now()) }) else { return false }
        let more = skipped == 0 ? "" : "; \(skipped) more were refused that are not on record"
        record.note(
            AuditEntry(
                user: peer.user, name: peer.account,
                verb: String(EscapedText.printable(verb).prefix(Self.longest.verb)),
                arguments: AuditEntry.shortened(arguments(), toBytes: Self.longest.arguments),
                result: "refused: \(EscapedText.printable(text).prefix(Self.longest.text))\(more)",
                behalf: peer.behalf))
        return true
    }
}
