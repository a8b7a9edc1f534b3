import Control
import Journal
import PipelineKit

extension Route {
    static let failed = Route(
        .get, "/api/v1/failed", .role(.look), "What failed and was neither sent in again nor dismissed, in groups",
        parameters: [
            .init(name: "pipeline", about: "Only those of this pipeline"),
            .init(name: "since", about: "Failed since the hour of then: how long ago (24h), or a date"),
        ],
        .json(.object([.field("total", .integer), .field("groups", .array(groupSchema))])), refusals: [.badRequest]
    ) { call in
        let since = try TimeFilter.read("since", call.query)?.nanoseconds
        let answer = try await call.site.daemon.ask(
            FailuresVerb.self, .init(pipeline: try call.query.text("pipeline"), since: since))
        guard let failures = answer.failures else { throw Problem.malformed }
        return HTTPAnswer.json { failures.write(&$0) }
    }

    /// `retry`: true, or why they are not to be sent in again all together.
    private static let groupSchema = Schema.object([
        .field("pipeline", .text), .field("code", .text), .field("jobs", .integer), .field("bytes", .integer),
        .field("sentence", .text), .field("remedy", .text), .field("first_at", .time), .field("last_at", .time),
        .field("hours", .array(.integer)),
        .field("newest", .array(.object([.field("id", .text), .field("name", .text), .maybe("name_base64", .text)]))),
        .field("retry", .either([.flag, .text])),
    ])
}
