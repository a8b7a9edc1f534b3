import Control
import Files
import Journal
import PipelineKit

extension Route {
    static let changes = Route(
        .get, "/api/v1/changes", .role(.look), "What people changed, newest first",
        parameters: [
            .init(name: "since", about: "Made since then: how long ago (24h), or a date"),
            .init(name: "user", about: "Only by this user, or for this token"),
            .init(name: "verb", about: "Only by this verb"),
            .init(name: "text", about: "Only those in which this occurs"),
            .init(name: "before", about: "The `next` of the page before", schema: .integer),
            .init(name: "limit", about: "At most so many: 1 to 200, else 50", schema: .integer),
        ],
        .json(.object([.field("changes", .array(.part(.change))), .maybe("next", .text)]))
    ) { call in
        let since = try TimeFilter.read("since", call.query)?.nanoseconds
        let limit = try call.query.integer("limit", in: 1...200) ?? 50
        let page = try await call.site.daemon.ask(
            AuditVerb.self,
            .init(
                since: since, before: try call.query.integer("before", in: 0...Int.max).map(Int64.init),
                user: try call.query.text("user"), verb: try call.query.text("verb"),
                text: try call.query.text("text"), limit: limit))
        let entries = try page.records.map { value in
            guard let entry = value.audit else { throw Problem.malformed }
            return entry
        }
        return HTTPAnswer.json { json in
            json.array("changes") { json in for entry in entries { json.object { entry.write(&$0) } } }
            if page.more, let last = entries.last?.number { json.text("next", String(last)) }
        }
    }
}

extension AuditEntry {
    fileprivate func write(_ json: inout JSONText) {
        json.text("at", at.iso8601)
        json.integer("uid", Int(user))
        json.text("user", name)
        json.text("verb", verb)
        json.text("arguments", arguments)
        if let behalf {
            json.text("token", behalf.name)
            json.text("role", behalf.role)
            json.text("address", behalf.address)
        }
        if let result { json.text("result", result) }
    }
}
