import Control
import Journal
import PipelineKit

/// The jobs that something is to be done to, found one after the other, up to a limit.
struct BulkChoice {
    private let limit: Int
    private(set) var jobs: [JobID] = []
    private var counted = JobSummary()

    init(of limit: Int) { self.limit = limit }

    /// Whether one more can be taken. One that is too many is not, and makes known that there are more.
    mutating func add(_ record: JobRecord) -> Bool {
        guard jobs.count < limit else {
            counted.more = true
            return false
        }
        jobs.append(record.id)
        counted.add(record)
        return true
    }

    /// Nil where there is none.
    var summary: JobSummary? { jobs.isEmpty ? nil : counted }
}
