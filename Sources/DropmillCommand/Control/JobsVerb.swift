import Files
import FoundationEssentials
import Journal
import PipelineKit
import SystemPackage

/// Jobs that the journal knows, with all that it knows of each, newest first.
enum JobsVerb: ControlVerb {
    static let name = "jobs"
    /// Others may be asking, too, and a query may read every job.
    static let patience = 60

    typealias Answer = RecordPage

    /// Which of them: what is left out makes no difference.
    struct Arguments: Codable, Equatable {
        var states: [String]?
        var pipeline: String?
        /// What the id begins with.
        var id: String?
        /// The drop's name, in bytes.
        var name: Data?
        var slot: String?
        /// A pattern of names.
        var pattern: String?
        /// When it was claimed, and from when on it was over: nanoseconds since 1970.
        var since: Int64?
        var until: Int64?
        var finishedSince: Int64?
        /// Why it failed, and why not.
        var code: String?
        var otherThan: String?
        var retryOf: String?
        var replayOf: String?
        /// Paths of which it left one, in bytes.
        var left: [Data]?
        var limit: Int?
        /// How many of the first are left out.
        var skip: Int?
    }
}

extension JobsVerb.Arguments {
    init(_ query: JobQuery, skip: Int = 0) {
        states = query.states.isEmpty ? nil : query.states.map(\.rawValue)
        pipeline = query.pipeline
        id = query.idPrefix
        name = query.name.map { Data($0.bytes) }
        slot = query.slot?.text
        pattern = query.pattern?.pattern
        since = query.since?.nanoseconds
        until = query.until?.nanoseconds
        finishedSince = query.finishedSince?.nanoseconds
        code = query.code
        otherThan = query.otherThan
        retryOf = query.retryOf?.text
        replayOf = query.replayOf?.text
        left = query.left.isEmpty ? nil : query.left.map { Data($0.bytes) }
        limit = query.limit
        self.skip = skip == 0 ? nil : skip
    }

    /// Without `limit` and `skip`, which are the page's.
    func query() throws(ControlProblem) -> JobQuery {
        var query = JobQuery()
        for word in states ?? [] {
            query.states.append(try Self.read(word, as: "a job's state") { JobRecord.State(rawValue: $0) })
        }
        query.pipeline = pipeline
        query.idPrefix = id
        if let name { query.name = try Self.read(Array(name), as: "a file's name") { FileName($0) } }
        if let slot { query.slot = try Self.read(slot, as: "a job's id") { JobID($0) } }
        if let pattern { query.pattern = try Self.read(pattern, as: "a pattern of names") { Glob($0) } }
        query.since = since.map { Timestamp(nanoseconds: $0) }
        query.until = until.map { Timestamp(nanoseconds: $0) }
        query.finishedSince = finishedSince.map { Timestamp(nanoseconds: $0) }
        query.code = code
        query.otherThan = otherThan
        if let retryOf { query.retryOf = try Self.read(retryOf, as: "a job's id") { JobID($0) } }
        if let replayOf { query.replayOf = try Self.read(replayOf, as: "a job's id") { JobID($0) } }
        query.left = (left ?? []).map { FilePath(bytes: Array($0)) }
        return query
    }

    private static func read<Given, Value>(
        _ given: Given, as what: String, _ read: (Given) -> Value?
    ) throws(ControlProblem) -> Value {
        guard let value = read(given) else { throw ControlProblem("malformed request: \(given) is not \(what)") }
        return value
    }
}
