import Control
import Files
import Journal
import PipelineKit

/// One run of `dismiss`: finds the failures that are open, and takes them out of the count, some at a time. The daemon
/// has it, or the verb where none answers.
struct DismissRun: BulkRun {
    let found: JobSummary?
    private(set) var rest: ArraySlice<JobID>
    private let journal: any Journal
    private let person: String
    private var untold: [SendingVerb.Result] = []
    private var tally = BulkTally(done: "dismissed", not: "not dismissed")

    init(_ jobs: [JobID], _ found: JobSummary?, in journal: any Journal, by person: String) {
        (rest, self.found, self.journal, self.person) = (jobs[...], found, journal, person)
    }

    /// Finds the jobs. `query`: the order's; `most`: how many are looked for.
    init(
        _ order: SendingOrder, _ query: JobQuery, most: Int = .max, in journal: any Journal, by person: String
    ) throws(JournalError) {
        var query = query.among([.failed])
        query?.isOpen = true
        let choice = try BulkChoice(order, query, most: most, in: journal) { records throws(JournalError) in
            try records.map { record throws(JournalError) in
                guard order.names, let obstacle = try journal.obstacle(toDismissing: record.id) else { return nil }
                return .init(record, obstacle.text, isDone: obstacle.isDismissed)
            }
        }
        self.init(choice.jobs, choice.summary, in: journal, by: person)
        untold = choice.refused
    }

    mutating func goOn(_ count: Int) throws(JournalError) {
        let jobs = Array(rest.prefix(count))
        let outcomes = try journal.dismiss(jobs, Dismissal(by: person, at: .now()))
        rest.removeFirst(jobs.count)
        untold += zip(jobs, outcomes).map { .init(job: $0.text, text: $1.text, isDone: $1.isDismissed) }
    }

    mutating func results() -> [SendingVerb.Result] {
        defer { untold = [] }
        tally.add(untold)
        return untold
    }

    var text: String { tally.text(left: rest.count) }
}
