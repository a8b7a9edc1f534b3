import Control
import Files
import Journal
import PipelineKit

/// The jobs that something is to be done to, found one after the other, up to a limit.
struct BulkChoice {
    private let limit: Int
    private(set) var jobs: [JobID] = []
    private(set) var refused: [SendingVerb.Result] = []
    private var counted = JobSummary()

    init(of limit: Int) { self.limit = limit }

    /// Finds those that an order names, or that `query` does; nil where its filters can choose none. `obstacles`: what
    /// there is to say of each that stays as it is, which whoever names a job wants to know.
    init(
        _ order: SendingOrder, _ query: JobQuery?, most: Int, in journal: any Journal,
        obstacles: ([JobRecord]) throws(JournalError) -> [SendingVerb.Result?]
    ) throws(JournalError) {
        self.init(of: min(order.limit ?? .max, most))
        if let names = order.jobs, order.names {
            var records: [JobRecord] = []
            for name in names {
                switch try JobFinder.find(name, in: journal) {
                case .nothing(let message):
                    refused.append(.init(job: EscapedText.of(RawArguments.bytes(of: name)), text: message))
                case .found(let record): if !records.contains(where: { $0.id == record.id }) { records.append(record) }
                }
            }
            let told = try obstacles(records)
            refused += told.compactMap(\.self)
            for (record, obstacle) in zip(records, told) where obstacle == nil && !add(record) { break }
        } else if let query {
            try journal.forEachPage(query) { (page) throws(JournalError) in
                for (record, obstacle) in zip(page, try obstacles(page)) where obstacle == nil {
                    guard add(record) else { return false }
                }
                return true
            }
        }
        if jobs.isEmpty, let pipeline = order.pipeline, let text = try JobFilters.strange(pipeline, in: journal) {
            refused.append(.init(job: EscapedText.of(pipeline), text: text))
        }
    }

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
