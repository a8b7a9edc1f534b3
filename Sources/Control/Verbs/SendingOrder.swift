import Files
package import Journal
import PipelineKit

/// To which jobs something is to be done, those that are named or those that filters choose, and how fast.
package struct SendingOrder: Codable, Equatable, Sendable {
    /// Originals of failed jobs go in again, or copies of those of processed jobs; or unfinished jobs are called off,
    /// or failed ones dismissed.
    package enum Kind: String, Codable, CaseIterable {
        case retry, replay, cancel, dismiss
    }

    /// Ids or their beginnings, or drops' names.
    package var jobs: [String]?
    /// Whether everything is meant that the filters leave.
    package var all: Bool?
    package var states: [String]?
    package var pipeline: String?
    package var producer: String?
    /// A pattern of drops' names.
    package var name: String?
    package var code: String?
    /// When they were claimed: nanoseconds since 1970.
    package var since: Int64?
    package var until: Int64?
    /// How many at most, beginning with the oldest.
    package var limit: Int?
    /// Seconds from one to the next.
    package var interval: Double?
    /// What a dry run gave: only jobs that it has found.
    package var key: String?

    /// Whether jobs are named.
    package var names: Bool { !(jobs ?? []).isEmpty }

    /// Whether neither jobs nor filters are given.
    package var choosesAll: Bool {
        let filters: [Any?] = [states, pipeline, producer, name, code, since, until]
        return all == true && !names && filters.allSatisfy { $0 == nil }
    }

    private static let longestInterval = 1e7

    /// From one to the next, of an order whose `query` makes sense.
    package var pace: Duration { .seconds(min(max(0, interval ?? 0), Self.longestInterval)) }

    /// Whether another one names and chooses the same, whatever "a day ago" is by now.
    package func chooses(like other: SendingOrder) -> Bool {
        var (one, other) = (self, other)
        (one.key, one.interval) = (other.key, other.interval)
        if one.since != nil, other.since != nil { one.since = other.since }
        if one.until != nil, other.until != nil { one.until = other.until }
        return one == other
    }

    /// What the filters say. Nothing is chosen by chance.
    package func query() throws(ControlProblem) -> JobQuery {
        var query = JobQuery()
        if let word = query.choose(states ?? []) {
            throw ControlProblem("'\(EscapedText.of(word))' is no state of a job")
        }
        query.pipeline = pipeline
        query.producer = producer
        query.code = code
        query.since = since.map { Timestamp(nanoseconds: $0) }
        query.until = until.map { Timestamp(nanoseconds: $0) }
        if let name {
            guard let pattern = Glob(name) else {
                throw ControlProblem("'\(EscapedText.of(name))' is not a pattern of names")
            }
            query.pattern = pattern
        }
        if let interval, !(0...Self.longestInterval).contains(interval) {
            throw ControlProblem(
                "'interval' is \(interval), and must be from 0 to \(Int(Self.longestInterval)) seconds")
        }
        if let limit, limit < 1 { throw ControlProblem("'limit' must be at least 1") }
        let chooses = query != JobQuery() || all == true
        if names == chooses { throw ControlProblem("name jobs, or choose some by filters or 'all'") }
        return query
    }

    package init(
        jobs: [String]? = nil, all: Bool? = nil, states: [String]? = nil, pipeline: String? = nil,
        producer: String? = nil, name: String? = nil, code: String? = nil,
        since: Int64? = nil, until: Int64? = nil, limit: Int? = nil, interval: Double? = nil, key: String? = nil
    ) {
        self.jobs = jobs
        self.all = all
        self.states = states
        self.pipeline = pipeline
        self.producer = producer
        self.name = name
        self.code = code
        self.since = since
        self.until = until
        self.limit = limit
        self.interval = interval
        self.key = key
    }
}
