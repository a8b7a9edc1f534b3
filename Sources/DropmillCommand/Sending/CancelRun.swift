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

    init(_ jobs: [JobID], _ found: JobSummary?, of engine: Engine, by person: String) {
        (rest, self.found, self.engine, self.person) = (jobs[...], found, engine, person)
    }

    /// Finds the jobs. `query`: the order's; `most`: how many are looked for. Nil where the engine does not run.
    init?(
        _ order: SendingOrder, _ query: JobQuery, most: Int = .max, of engine: Engine, by person: String
    ) throws(JournalError) {
        guard let journal = try engine.upToDateJournal() else { return nil }
        let choice = try BulkChoice(
            order, query.among(JobRecord.State.unfinished), most: most, in: journal
        ) { records throws(JournalError) in
            zip(records, try Self.preview(records.map(\.id), engine)).map { record, outcome in
                outcome.refusal.map { .init(record, $0) }
            }
        }
        self.init(choice.jobs, choice.summary, of: engine, by: person)
        untold = choice.refused
    }

    private static func preview(_ jobs: [JobID], _ engine: Engine) throws(JournalError) -> [CallingOff] {
        do throws(EngineError) {
            return try engine.previewCallOff(jobs)
        } catch {
            throw JournalError(.environment, error.message)
        }
    }

    mutating func goOn(_ count: Int) throws(JournalError) {
        let jobs = Array(rest.prefix(count))
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
    /// Why nothing is done to a job. `isDone`: it was before.
    init(_ record: JobRecord, _ reason: String, isDone: Bool = false) {
        self.init(
            job: record.id.text, pipeline: record.pipeline, name: Data(record.drop.name.bytes), text: reason,
            isDone: isDone)
    }
}
