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

    /// Takes the lead, or keeps it; where it is not wanted only as long as no other node wants it. `answer`: whether it
    /// is this node's.
    func ask(isWanted: Bool, _ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { @Sendable [self] in
            do throws(JournalError) {
                answer(try journal.takeLead(of: pipeline, isWanted: isWanted))
            } catch {
                // Whoever writes tells of it. Another one may have it by now.
                answer(false)
            }
        }
    }
}
