import Control
import Files
import FoundationEssentials
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

/// One run of `retry` or `replay`: finds what can be sent in, and sends one after the other. The daemon has it, or the
/// verb where none answers.
struct SendingRun: BulkRun {
    let found: JobSummary?
    private(set) var rest: ArraySlice<JobID>
    private var resubmission: Resubmission
    private var tally = BulkTally(done: "sent", not: "not sent")

    /// Finds the jobs. `query`: the order's; `most`: how many are looked for.
    init(
        _ order: SendingOrder, _ query: JobQuery, most: Int = .max, with resubmission: Resubmission
    ) throws(JournalError) {
        var (resubmission, choice) = (resubmission, BulkChoice(of: min(order.limit ?? .max, most)))
        if let jobs = order.jobs, order.names {
            for record in try resubmission.find(jobs) where !choice.add(record) { break }
        } else {
            try resubmission.find(query) { choice.add($0) }
        }
        self.init(choice.jobs, choice.summary, with: resubmission)
    }

    /// With jobs that a dry run has found.
    init(_ jobs: [JobID], _ found: JobSummary?, with resubmission: Resubmission) {
        (rest, self.found, self.resubmission) = (jobs[...], found, resubmission)
    }

    /// One after the other: each is work enough.
    mutating func goOn(_: Int) throws(JournalError) {
        guard let id = rest.first else { return }
        try resubmission.send(id)
        rest.removeFirst()
    }

    mutating func results() -> [SendingVerb.Result] {
        let (sent, problems) = resubmission.drain()
        let results = sent.map { SendingVerb.Result($0) } + problems.map { .init(job: $0.subject, text: $0.message) }
        tally.add(results)
        return results
    }

    var text: String { tally.text(left: rest.count) }
}

extension SendingVerb.Result {
    init(_ sent: Resubmission.Sent) {
        let record = sent.record
        self.init(
            job: record.id.text, pipeline: record.pipeline, name: Data(record.drop.name.bytes),
            path: Data(sent.path.bytes), text: sent.leftover)
    }

    /// For the record.
    var line: String { "\(job): " + (path.map { FilePath(bytes: Array($0)).text } ?? text ?? "") }
}
