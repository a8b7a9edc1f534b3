import Control
import HummingbirdCore
import Journal
import PipelineKit

extension Route {
    private struct Hold: Decodable {
        var kind: String
        var reason: String?
        var forSeconds: Double?

        enum CodingKeys: String, CodingKey {
            case kind, reason
            case forSeconds = "for_s"
        }
    }

    private static let holdBody = Schema.object([
        .field("kind", .choice(["pause", "drain"])), .maybe("reason", .text), .maybe("for_s", .number),
    ])
    private static let lines = Content.json(.object([.field("lines", .array(.text))]))

    static let hold = Route(
        .post, "/api/v1/pipelines/{name}/hold", .role(.operate), "Pauses or drains a pipeline", body: holdBody, lines
    ) { call in
        try await change(call, [try call.text("name")], try await call.body(Hold.self))
    }

    static let resume = Route(
        .delete, "/api/v1/pipelines/{name}/hold", .role(.operate), "Lets a pipeline go on", lines
    ) { call in
        try await change(call, [try call.text("name")], nil)
    }

    static let holdAll = Route(
        .post, "/api/v1/hold", .role(.operate), "Pauses or drains all pipelines", body: holdBody, lines
    ) { call in
        try await change(call, [], try await call.body(Hold.self))
    }

    static let resumeAll = Route(.delete, "/api/v1/hold", .role(.operate), "Lets all pipelines go on", lines) { call in
        try await change(call, [], nil)
    }

    private static func change(_ call: Call, _ pipelines: [String], _ hold: Hold?) async throws -> Response {
        var arguments = HoldVerb.Arguments(pipelines: pipelines, reason: hold?.reason ?? "", seconds: hold?.forSeconds)
        if let hold {
            guard let kind = HoldRecord.Kind(rawValue: hold.kind) else {
                throw Problem(
                    .badRequest, "body.kind", "'kind' is neither 'pause' nor 'drain'", subject: "kind",
                    remedy: "Give one of these.")
            }
            arguments.kind = kind
        }
        let answer = try await call.change(HoldVerb.self, arguments)
        return HTTPAnswer.json { json in
            json.array("lines") { json in for line in answer.lines { json.text(nil, line) } }
        }
    }
}
