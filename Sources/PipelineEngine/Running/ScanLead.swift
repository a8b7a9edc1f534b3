@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit

/// Whether this node is the one that lists an inbox (`scan: leader`). The database is asked on a queue of its own: the
/// inbox does not wait for it.
final class ScanLead: Sendable {
    private let pipeline: String
    private let journal: any SharedJournal
    private let queue: DispatchQueue

    /// How often it is asked, on average: several times in the time for which the answer holds.
    static let interval = Duration.milliseconds(1500)

    init(of pipeline: String, _ journal: any SharedJournal) {
        (self.pipeline, self.journal) = (pipeline, journal)
        queue = DispatchQueue(label: "dropmill.\(pipeline).lead")
    }

    /// Takes the lead, keeps it, or gives it up where it is not wanted. `answer`: whether it is this node's.
    func ask(isWanted: Bool, _ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { @Sendable [self] in
            do throws(JournalError) {
                if !isWanted { try journal.leaveLead(of: pipeline) }
                answer(isWanted ? try journal.takeLead(of: pipeline) : false)
            } catch {
                // Whoever writes tells of it. Another one may have it by now.
                answer(false)
            }
        }
    }
}
