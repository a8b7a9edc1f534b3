import Files
import HTTPTypes
import HummingbirdCore
import PipelineKit

extension Route {
    static let session = Route(
        .get, "/api/v1/session", .role(.look), "Who asks, and what that one may do",
        .json(
            .object([
                .field("name", .text), .field("role", .choice(Role.allCases.map(\.rawValue))),
                .field("via", .choice(["socket", "token", "proxy"])), .field("version", .text),
                .maybe("pipelines", .array(.text)), .maybe("expires_at", .time),
            ]))
    ) { call in
        guard let caller = call.caller else { throw Problem.malformed }
        return HTTPAnswer.json { json in
            json.text("name", caller.name)
            json.text("role", caller.role.rawValue)
            json.text("via", caller.way.rawValue)
            json.text("version", call.site.version)
            if let pipelines = caller.pipelines {
                json.array("pipelines") { json in for name in pipelines { json.text(nil, name) } }
            }
            if let expires = caller.expires { json.text("expires_at", expires.iso8601) }
        }
    }

    private struct Login: Decodable {
        let token: String
    }

    static let login = Route(
        .post, "/login", .nothing, "Turns a token into a session of twelve hours",
        body: .object([.field("token", .text)]), success: .noContent, .nothing,
        refusals: [.badRequest, .unauthorized, .tooManyRequests, .unsupportedMediaType]
    ) { call in
        let given = try await call.body(Login.self, atMost: 4 << 10)
        let token = try call.site.gatekeeper.token(bySecret: given.token, from: call.address)
        let (secret, _) = call.site.gatekeeper.sessions.begin(with: token, at: .now())
        var response = HTTPAnswer.nothing
        response.headers[.setCookie] = cookie(secret, seconds: Int(Sessions.time.seconds), call.site)
        return response
    }

    static let logout = Route(
        .post, "/logout", .nothing, "Ends the session", success: .noContent, .nothing
    ) { call in
        for secret in call.site.gatekeeper.cookies(call.request.headers) { call.site.gatekeeper.sessions.end(secret) }
        var response = HTTPAnswer.nothing
        response.headers[.setCookie] = cookie("", seconds: 0, call.site)
        return response
    }

    private static func cookie(_ value: String, seconds: Int, _ site: Site) -> String {
        "\(site.gatekeeper.sessions.cookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
            + (site.isSecure ? "; Secure" : "")
    }
}
