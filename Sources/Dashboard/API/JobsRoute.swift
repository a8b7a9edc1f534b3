import Control
import Files
import FoundationEssentials
import Journal
import PipelineKit

extension Route {
    static let jobs = Route(
        .get, "/api/v1/jobs", .role(.look), "Jobs, newest first",
        parameters: [
            .init(name: "state", about: "Only these states: repeat it, or separate them by commas"),
            .init(name: "pipeline", about: "Only those of this pipeline"),
            .init(name: "producer", about: "Only drops of this one"),
            .init(name: "code", about: "Only those that failed with this code"),
            .init(name: "name", about: "A pattern of drops' names"),
            .init(name: "since", about: "Claimed since then: how long ago (24h), or a date"),
            .init(name: "until", about: "Claimed before then"),
            .init(name: "before", about: "The `next` of the page before"),
            .init(name: "limit", about: "At most so many: 1 to 200, else 50", schema: .integer),
        ],
        .json(.object([.field("jobs", .array(.part(.job))), .maybe("next", .text)])), refusals: [.badRequest]
    ) { call in
        let query = call.query
        var ask = JobsVerb.Arguments()
        ask.pipeline = try query.text("pipeline")
        ask.producer = try query.text("producer")
        ask.code = try query.text("code")
        let words = query.values("state").flatMap { $0.split(separator: UInt8(ascii: ",")) }
        if !words.isEmpty {
            ask.states = try StateFilter.read(words.map { String(decoding: $0, as: UTF8.self) }) {
                .badQuery("state", $0, remedy: $1)
            }
        }
        ask.pattern = try query.text("name")
        if let pattern = ask.pattern, Glob(pattern) == nil {
            throw Problem.badPattern("name", pattern)
        }
        ask.since = try TimeFilter.read("since", query)?.nanoseconds
        ask.until = try TimeFilter.read("until", query)?.nanoseconds
        ask.limit = try query.integer("limit", in: 1...200) ?? 50
        if let key = try query.text("before") {
            guard let place = JobPlace(key) else {
                throw Problem.badQuery("before", "it is no place in the list", remedy: "Use the 'next' of a page.")
            }
            (ask.until, ask.skip) = (min(place.until, ask.until ?? .max), place.skip)
        }
        let page = try await call.site.daemon.ask(JobsVerb.self, ask)
        let records = try page.records.map { value in
            guard let record = value.job else { throw Problem.malformed }
            return record
        }
        let surroundings = JobSurroundings(of: try await call.site.daemon.ask(BoardVerb.self, Nothing()))
        return HTTPAnswer.json { json in
            json.array("jobs") { json in
                for record in records { json.object { JobJSON.write(record, surroundings, &$0) } }
            }
            if page.more, let next = JobPlace(behind: records, page.horizon, from: ask) { json.text("next", next.text) }
        }
    }
}

extension Problem {
    static func badPattern(_ name: String, _ pattern: String) -> Problem {
        .badQuery(name, "'\(EscapedText.of(pattern))' is no pattern", remedy: "Write one like *.pdf or scan_[0-9]*.")
    }

    static let malformed = Problem(
        .badGateway, "daemon.version", "the daemon's answer is malformed; it may be of another version",
        subject: "daemon", remedy: "Restart it, so that both are the same.")
}
