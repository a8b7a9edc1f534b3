import Control
import Files
import HTTPTypes
import HummingbirdCore
import Logging
import PipelineKit

/// Serves one request: finds its route, asks who wants it, and says what comes of it.
struct SiteResponder: Sendable {
    let table: RouteTable
    let site: Site
    let log: Logger

    /// What every answer has: our own pages and nothing else, no guessing, no traces.
    static let headers: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
            + "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
        .xContentTypeOptions: "nosniff", fixed("Referrer-Policy"): "no-referrer",
        fixed("Cross-Origin-Opener-Policy"): "same-origin", fixed("Cross-Origin-Resource-Policy"): "same-origin",
    ]

    private static func fixed(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }

    /// `peer`: the address at the other end; nil on a Unix socket.
    func respond(to request: Request, peer: String?, user: String?) async -> Response {
        var response: Response
        do {
            response = try await serve(request, peer, user)
        } catch let problem as Problem {
            response = problem.response
        } catch {
            log.warning("a request failed: \(error)")
            let problem = Problem(
                .internalServerError, "internal", "the request failed: \(error)", subject: nil,
                remedy: "The log of this process says more; try again.")
            response = problem.response
        }
        for field in Self.headers where response.headers[field.name] == nil {
            response.headers[field.name] = field.value
        }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func serve(_ request: Request, _ peer: String?, _ user: String?) async throws -> Response {
        let target = request.head.path ?? ""
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = RequestPath(halves.first ?? "") else {
            throw Problem(
                .badRequest, "path.malformed", "'\(EscapedText.of(target.prefix(200).utf8))' is no path here",
                subject: "path", remedy: "Escape what is not plain, and leave out empty parts, '.' and '..'.")
        }
        if let coding = request.headers[.transferEncoding] {
            throw Problem(
                coding.lowercased() == "chunked" ? .lengthRequired : .badRequest, "body.length",
                "the length of its body is not said", subject: "Transfer-Encoding",
                remedy: "Send it as it is, with its Content-Length.")
        }
        if request.headers[.upgrade] != nil, request.method != .get, request.method != .head {
            throw Problem(
                .badRequest, "body.upgrade", "a request with a body cannot change to another protocol",
                subject: "Upgrade", remedy: "Leave it out.")
        }
        try site.gatekeeper.check(request.head)
        let route: Route
        let parts: [String: [[UInt8]]]
        switch table.find(request.method, path) {
        case .route(let found, let named): (route, parts) = (found, named)
        case .otherMethod(let methods):
            var response = Problem(
                .methodNotAllowed, "method.unknown", "\(request.method.rawValue) cannot be done here",
                subject: "method",
                remedy: "Use \(methods.map(\.rawValue).joined(separator: " or "))."
            ).response
            response.headers[.allow] = methods.map(\.rawValue).joined(separator: ", ")
            return response
        case .nothing:
            throw Problem.notFound(
                EscapedText.of(String(halves[0].prefix(200))), "there is nothing here",
                remedy: "Begin at '/'; /api/v1/openapi.json lists what programs can have.")
        }
        var caller = try site.gatekeeper.caller(request.head, peer: peer)
        if caller?.way == .socket, let user { caller?.name = user }
        // A person who follows a link signs in first.
        if caller == nil, route.isPage, case .role = route.need { return HTTPAnswer.signIn(then: target) }
        do throws(Problem) {
            try allow(caller, route)
        } catch {
            await note(error, request, caller)
            throw error
        }
        let query = try Query(halves.count > 1 ? halves[1] : "")
        if route.isDocumented { try query.check(names: Set(route.parameters.map(\.name))) }
        let call = Call(
            request: request, site: site, caller: caller,
            address: site.gatekeeper.address(request.head, peer: peer), query: query, path: parts,
            bodyKeys: route.body?.keys,
            // Tokens that cannot be read let nobody in.
            isStillAllowed: { [site] in
                let found = try? site.gatekeeper.caller(request.head, peer: peer, isAgain: true)
                guard let caller = found else { return false }
                return (try? allow(caller, route)) != nil
            })
        return try await route.serve(call)
    }

    /// Has the daemon record that a caller who has signed in was refused. Nobody else's refusal is recorded.
    private func note(_ refusal: Problem, _ request: Request, _ caller: Caller?) async {
        guard let caller, request.method != .get, request.method != .head else { return }
        var wish = JSONText()
        wish.object { wish in
            wish.text("method", request.method.rawValue)
            wish.text("path", EscapedText.of(String((request.head.path ?? "").prefix(512))))
        }
        do throws(Problem) {
            _ = try await site.daemon.ask(
                RefusedVerb.self, .init(verb: "http", arguments: wish.string, text: refusal.fact), for: caller.behalf)
        } catch {
            log.warning("a refused wish is not on record: \(error.fact)")
        }
    }

    private func allow(_ caller: Caller?, _ route: Route) throws(Problem) {
        let needed: Role
        switch route.need {
        case .nothing: return
        case .monitor:
            if site.isPublic { return }
            needed = .look
        case .role(let role): needed = role
        }
        guard let caller else {
            throw Problem(
                .unauthorized, "token.missing", "nobody has signed in", subject: "session",
                remedy: "Sign in at /login, or give a token as 'Authorization: Bearer'.")
        }
        guard caller.role >= needed else {
            throw Problem(
                .forbidden, "role.\(needed.rawValue)", "'\(caller.name)' may \(caller.role.text)", subject: caller.name,
                remedy: "Use a token with the role '\(needed.rawValue)'.")
        }
    }
}
