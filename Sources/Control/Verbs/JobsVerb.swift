import Files
package import FoundationEssentials
package import Journal
import PipelineKit
import SystemPackage

/// Jobs that the journal knows, with all that it knows of each, newest first.
package enum JobsVerb: ControlVerb {
    package static let name = "jobs"
    /// Others may be asking, too, and a query may read every job.
    package static let patience = 60

    package typealias Answer = RecordPage

    /// Which of them: what is left out makes no difference.
    package struct Arguments: Codable, Equatable, Sendable {
        package var states: [String]?
        package var pipeline: String?
        package var producer: String?
        /// What the id begins with.
        package var id: String?
        /// The drop's name, in bytes.
        package var name: Data?
        package var slot: String?
        /// A pattern of names.
        package var pattern: String?
        /// When it was claimed, and from when on it was over: nanoseconds since 1970.
        package var since: Int64?
        package var until: Int64?
        package var finishedSince: Int64?
        /// Why it failed, and why not.
        package var code: String?
        package var otherThan: String?
        /// Whether only failures that were neither sent in again nor dismissed.
        package var open: Bool?
        package var retryOf: String?
        package var replayOf: String?
        /// Paths of which it left one, in bytes.
        package var left: [Data]?
        package var limit: Int?
        /// How many of the first are left out.
        package var skip: Int?

        package init(
            states: [String]? = nil, pipeline: String? = nil, producer: String? = nil, id: String? = nil,
            name: Data? = nil, slot: String? = nil,
            pattern: String? = nil, since: Int64? = nil, until: Int64? = nil, finishedSince: Int64? = nil,
            code: String? = nil, otherThan: String? = nil, open: Bool? = nil, retryOf: String? = nil,
            replayOf: String? = nil, left: [Data]? = nil, limit: Int? = nil, skip: Int? = nil
        ) {
            self.states = states
            self.pipeline = pipeline
            self.producer = producer
            self.id = id
            self.name = name
            self.slot = slot
            self.pattern = pattern
            self.since = since
            self.until = until
            self.finishedSince = finishedSince
            self.code = code
            self.otherThan = otherThan
            self.open = open
            self.retryOf = retryOf
            self.replayOf = replayOf
            self.left = left
            self.limit = limit
            self.skip = skip
        }
    }
}

extension JobsVerb.Arguments {
    package init(_ query: JobQuery, skip: Int = 0) {
        states = query.states.isEmpty ? nil : query.words
        pipeline = query.pipeline
        producer = query.producer
        id = query.idPrefix
        name = query.name.map { Data($0.bytes) }
        slot = query.slot?.text
        pattern = query.pattern?.pattern
        since = query.since?.nanoseconds
        until = query.until?.nanoseconds
        finishedSince = query.finishedSince?.nanoseconds
        code = query.code
        otherThan = query.otherThan
        open = query.isOpen ? true : nil
        retryOf = query.retryOf?.text
        replayOf = query.replayOf?.text
        left = query.left.isEmpty ? nil : query.left.map { Data($0.bytes) }
        limit = query.limit
        self.skip = skip == 0 ? nil : skip
    }

    /// Without `limit` and `skip`, which are the page's.
    package func query() throws(ControlProblem) -> JobQuery {
        var query = JobQuery()
        if let word = query.choose(states ?? []) {
            throw ControlProblem("malformed request: '\(EscapedText.of(word))' is not a job's state")
        }
        query.pipeline = pipeline
        query.producer = producer
        query.idPrefix = id
        if let name { query.name = try Self.read(Array(name), as: "a file's name") { FileName($0) } }
        if let slot { query.slot = try Self.read(slot, as: "a job's id") { JobID($0) } }
        if let pattern { query.pattern = try Self.read(pattern, as: "a pattern of names") { Glob($0) } }
        query.since = since.map { Timestamp(nanoseconds: $0) }
        query.until = until.map { Timestamp(nanoseconds: $0) }
        query.finishedSince = finishedSince.map { Timestamp(nanoseconds: $0) }
        query.code = code
        query.otherThan = otherThan
        query.isOpen = open ?? false
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
