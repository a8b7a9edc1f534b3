import Control
import Files
import FoundationEssentials
import Journal
import PipelineEngine
import PipelineKit

/// One run of `cancel`: finds the jobs that can be called off, and calls them off, some at a time.
struct CancelRun: BulkRun {
    let found: JobSummary?
    private(set) var rest: ArraySlice<JobID>
    private let engine: Engine
    private let person: String
    private var untold: [SendingVerb.Result] = []
    private var tally = BulkTally(done: "cancelled", not: "not cancelled")

    /// How many are called off at once: what comes of them is written together.
    private static let atOnce = 100

    init(_ jobs: [JobID], _ found: JobSummary?, of engine: Engine, by person: String) {
        (rest, self.found, self.engine, self.person) = (jobs[...], found, engine, person)
    }

    /// Finds the jobs. `query`: the order's; `most`: how many are looked for. Nil where the engine does not run.
    init?(
        _ order: SendingOrder, _ query: JobQuery, most: Int = .max, of engine: Engine, by person: String
    ) throws(JournalError) {
        guard let journal = try engine.upToDateJournal() else { return nil }
        var choice = BulkChoice(of: min(order.limit ?? .max, most))
        var refused: [SendingVerb.Result] = []
        let body = { (page: [JobRecord]) throws(JournalError) -> Bool in
            for (record, outcome) in zip(page, try Self.preview(page.map(\.id), engine)) {
                if let refusal = outcome.refusal {
                    // Who names a job wants to know.
                    if order.names { refused.append(.init(record, refusal)) }
                } else if !choice.add(record) {
                    return false
                }
            }
            return true
        }
        if let jobs = order.jobs, order.names {
            var records: [JobRecord] = []
            for name in jobs {
                switch try JobFinder.find(name, in: journal) {
                case .nothing(let message):
                    refused.append(.init(job: EscapedText.of(RawArguments.bytes(of: name)), text: message))
                case .found(let record): if !records.contains(where: { $0.id == record.id }) { records.append(record) }
                }
            }
            _ = try body(records)
        } else {
            var query = query
            query.states = JobRecord.State.unfinished.filter { query.states.isEmpty || query.states.contains($0) }
            if !query.states.isEmpty { try journal.forEachPage(query, body) }
        }
        self.init(choice.jobs, choice.summary, of: engine, by: person)
        untold = refused
    }

    private static func preview(_ jobs: [JobID], _ engine: Engine) throws(JournalError) -> [CallingOff] {
        do throws(EngineError) {
            return try engine.previewCallOff(jobs)
        } catch {
            throw JournalError(.environment, error.message)
        }
    }

    mutating func goOn() throws(JournalError) {
        let jobs = Array(rest.prefix(Self.atOnce))
        let (outcomes, unwritten): ([CallingOff], JournalError?)
        do throws(EngineError) {
            (outcomes, unwritten) = try engine.callOff(jobs, by: person)
        } catch {
            throw JournalError(.environment, error.message)
        }
        rest.removeFirst(jobs.count)
        untold += zip(jobs, outcomes).map { job, outcome in
            .init(job: job.text, text: outcome.text, isDone: outcome.isCalledOff)
        }
        if let unwritten { throw unwritten }
    }

    mutating func results() -> [SendingVerb.Result] {
        defer { untold = [] }
        tally.add(untold)
        return untold
    }

    var text: String { tally.text(left: rest.count) }
}

extension SendingVerb.Result {
    /// Why nothing was done to a job.
    init(_ record: JobRecord, _ refusal: String) {
        self.init(
            job: record.id.text, pipeline: record.pipeline, name: Data(record.drop.name.bytes), text: refusal)
    }
}
