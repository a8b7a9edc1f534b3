import Control
import Files
import Journal
import PipelineKit

/// Which jobs something is to be done to, as a body says it: those that are named, or those that a filter chooses.
struct JobsOrder: Decodable {
    /// One that is not known is refused: without it more jobs would be meant than were asked for.
    private struct Filter: Decodable {
        let values: [String: String]
        static let known = ["pipeline", "producer", "code", "name", "since", "until", "state"]

        init(from decoder: any Decoder) throws {
            values = try decoder.singleValueContainer().decode([String: String].self)
            if let other = values.keys.sorted().first(where: { !Self.known.contains($0) }) {
                throw Problem(
                    .badRequest, "body.filter", "there is no filter '\(EscapedText.of(other))'", subject: "filter",
                    remedy: "Use \(Self.known.joined(separator: ", ")).")
            }
        }
    }

    private var jobs: [String]?
    private var filter: Filter?
    private var limit: Int?

    /// How many jobs a filter chooses at most.
    private static let most = 10_000
    /// How many may be named: each is looked for.
    private static let mostNames = 1000

    init(jobs: [String]) { self.jobs = jobs }

    /// What is asked for, of jobs in these states. A filter has to name one of them, if any.
    func read(of states: [String]) throws(Problem) -> SendingOrder {
        guard (jobs?.count ?? 0) <= Self.mostNames else {
            throw Problem(
                .badRequest, "body.jobs", "more than \(Self.mostNames) jobs are named", subject: "jobs",
                remedy: "Name fewer at once, or choose them by a filter.")
        }
        guard let filter = filter?.values else { return SendingOrder(jobs: jobs, limit: limit) }
        var order = SendingOrder(jobs: jobs, limit: min(limit ?? Self.most, Self.most))
        (order.pipeline, order.producer) = (filter["pipeline"], filter["producer"])
        (order.code, order.name) = (filter["code"], filter["name"])
        order.since = try Self.time(filter["since"])
        order.until = try Self.time(filter["until"])
        order.all = filter.isEmpty || Array(filter.keys) == ["state"] ? true : nil
        guard let words = filter["state"]?.split(separator: ",").map(String.init), !words.isEmpty else { return order }
        let given = try StateFilter.read(words) { fact, remedy in
            Problem(.badRequest, "body.filter", fact, subject: "filter", remedy: remedy)
        }
        guard !Set(given).isDisjoint(with: states) else {
            throw Problem(
                .badRequest, "body.filter", "this is only done to jobs that are \(states.joined(separator: ", "))",
                subject: "filter", remedy: "Leave 'state' out.")
        }
        order.states = given
        return order
    }

    private static func time(_ text: String?) throws(Problem) -> Int64? {
        guard let text else { return nil }
        guard let time = Timestamp(past: text) else {
            throw Problem(
                .badRequest, "body.time", "'\(EscapedText.of(text))' is no time", subject: "filter",
                remedy: "Write how long ago (2h, 7d) or a date (2026-11-01T14:30).")
        }
        return time.nanoseconds
    }

    /// What such a body looks like, with other fields before these.
    static func body(_ others: [Schema.Field] = []) -> Schema {
        .object(
            others + [
                .maybe("jobs", .array(.text)), .maybe("filter", .object(Filter.known.map { .maybe($0, .text) })),
                .maybe("limit", .integer),
            ])
    }
}
