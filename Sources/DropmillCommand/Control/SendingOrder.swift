import Files
import Journal
import PipelineKit

/// Which jobs' originals are to go in once more, those that are named or those that filters choose, and how fast.
struct SendingOrder: Codable, Equatable {
    /// What is to go in: originals of failed jobs, or copies of those of processed jobs.
    enum Kind: String, Codable {
        case retry, replay
    }

    /// Ids or their beginnings, or drops' names.
    var jobs: [String]?
    /// Whether everything is meant that the filters leave.
    var all: Bool?
    var pipeline: String?
    /// A pattern of drops' names.
    var name: String?
    var code: String?
    /// When they were claimed: nanoseconds since 1970.
    var since: Int64?
    var until: Int64?
    /// How many at most, beginning with the oldest.
    var limit: Int?
    /// Seconds from one to the next.
    var interval: Double?

    /// Whether jobs are named.
    var names: Bool { !(jobs ?? []).isEmpty }

    /// Whether neither jobs nor filters are given.
    var choosesAll: Bool {
        let filters: [Any?] = [pipeline, name, code, since, until]
        return all == true && !names && filters.allSatisfy { $0 == nil }
    }

    private static let longestInterval = 1e7

    /// From one to the next, of an order whose `query` makes sense.
    var pace: Duration { .seconds(min(max(0, interval ?? 0), Self.longestInterval)) }

    /// What the filters say. Nothing is chosen by chance.
    func query() throws(ControlProblem) -> JobQuery {
        var query = JobQuery()
        query.pipeline = pipeline
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
}
