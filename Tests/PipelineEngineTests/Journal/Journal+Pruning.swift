import Files
import Journal
import PipelineKit

extension Journal {
    /// Removes all that was over before that time, and what was noted before it, as housekeeping does. Returns how many
    /// jobs there were.
    func prune(finishedBefore time: Timestamp) throws(JournalError) -> Int {
        var (count, last): (Int, ExpiredJob?) = (0, nil)
        while true {
            let step = try expired(HistoryLimits(before: time), after: last, limit: 500)
            if step.isEmpty { break }
            count += try remove(step.map(\.id), noting: nil)
            last = step.last
        }
        while try removeNotes(content: time, others: time, limit: 500) > 0 {}
        return count
    }
}
