import Files
import FoundationEssentials
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

/// One run of `retry` or `replay`: finds what can be sent in, and sends one after the other. The daemon has it, or the
/// verb where none answers.
struct SendingRun {
    /// How many jobs were found, of which size, and the first names; nil where none was.
    let found: JobSummary?
    private var resubmission: Resubmission
    private var rest: ArraySlice<JobID>
    private var (sent, refused) = (0, 0)
    private var lines: [String] = []

    /// More lines do not go on record.
    private static let mostLines = 100

    /// Finds the jobs. `query`: the order's.
    init(_ order: SendingOrder, _ query: JobQuery, with resubmission: Resubmission) throws(JournalError) {
        var resubmission = resubmission
        let all =
            if let jobs = order.jobs, order.names {
                try resubmission.find(jobs)
            } else {
                try resubmission.find(query)
            }
        let records = Array(all.prefix(order.limit ?? all.count))
        found = records.isEmpty ? nil : JobSummary(records)
        rest = records.map(\.id)[...]
        self.resubmission = resubmission
    }

    /// How many are still to be sent in.
    var left: Int { rest.count }

    /// Sends the next one in, unless too much has become of it since it was found.
    mutating func sendNext() throws(JournalError) {
        guard let id = rest.first else { return }
        try resubmission.send(id)
        rest.removeFirst()
    }

    /// What there is to tell since this was asked for last.
    mutating func results() -> [SendingVerb.Result] {
        let (sent, problems) = resubmission.drain()
        let results = sent.map { SendingVerb.Result($0) } + problems.map { .init(job: $0.subject, text: $0.message) }
        self.sent += sent.count
        refused += problems.count
        lines += results.prefix(max(0, Self.mostLines - lines.count)).map(\.line)
        return results
    }

    /// What came of it, in a line.
    var text: String {
        let counts = [(sent, "sent"), (refused, "not sent"), (left, "left")].filter { $0.0 > 0 }.map {
            "\($0.0) \($0.1)"
        }
        return ([counts.joined(separator: ", ")] + lines).joined(separator: "; ")
    }
}

extension SendingVerb.Result {
    init(_ sent: Resubmission.Sent) {
        let record = sent.record
        self.init(
            job: record.id.text, pipeline: record.pipeline, name: Data(record.drop.name.bytes),
            path: Data(sent.path.bytes), text: sent.leftover)
    }

    fileprivate var line: String {
        "\(job): " + (path.map { FilePath(bytes: Array($0)).text } ?? text ?? "")
    }
}
