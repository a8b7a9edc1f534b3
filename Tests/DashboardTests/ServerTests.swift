import Files
import Glibc
import SystemPackage
import TestTools
import Testing

@testable import Dashboard

/// The server, by what goes over its socket.
@Suite("Server", .timeLimit(.minutes(2))) struct ServerTests {
    private static let noise = String(repeating: "a", count: 100 << 10)

    @Test(
        "What is no request gets a clear answer, and the connection is closed",
        arguments: [
            ("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", 426), ("GET / HTTP/1.1\nHost: localhost\n\n", 400),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nA: b\nC: d\r\n\r\n", 400), ("GET /\0 HTTP/1.1\r\n\r\n", 400),
            ("GET /\(noise) HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(noise)\r\n\r\n", 431),
            ("GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\n\r\n", 431),
            ("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
            ("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2, 2\r\n\r\n{}", 400),
            (
                "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                400
            ),
            ("POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n{}", 400),
            ("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}", 400),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 421), ("GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
            ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\r\n\r\n", 426),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nA:b\r\n c\r\n\r\n", 400),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 426), ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ])
    func malformed(_ request: String, _ status: Int) async throws {
        let server = try TestServer()
        let connection = try server.connect()
        connection.send(request)
        let answer = RawAnswer(connection.receiveAll())
        #expect(answer.status == status, "\(request.prefix(60).debugDescription): \(answer.body)")
        #expect(answer.fields["content-type"] == Problem.mediaType && answer["remedy"]?.isEmpty == false)
        #expect(answer.fields["connection"] == "close" || answer.status == 421, "\(answer.fields)")
    }

    @Test("Heads that are never whole are gone after their time, and others are served meanwhile")
    func slow() async throws {
        let server = try TestServer()
        let slow = try (0..<200).map { index in
            let connection = try server.connect()
            connection.send("GET / HTTP/1.1\r\nX: \(index)")
            return connection
        }
        #expect(try server.send("GET /login").status == 200)
        for connection in slow {
            let answer = RawAnswer(connection.receiveAll())
            #expect(answer.status == 408 && answer.code == "request.late")
        }
        #expect(try server.send("GET /login").status == 200)
    }

    @Test("One connection may ask again and again")
    func keepAlive() async throws {
        let server = try TestServer()
        let connection = try server.connect()
        for _ in 0..<3 {
            connection.send("GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(connection.receive(until: "</html>").hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    /// Half a request to sign in.
    private static let login = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{"

    @Test(
        "Whoever opens all connections that it serves, and asks for nothing, keeps nobody out",
        arguments: ["", "G", login, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + login])
    func crowd(said: String) async throws {
        let server = try TestServer()
        let (asking, token) = (try server.connect(), try server.token(.operate))
        let head =
            "POST /api/v1/jobs/cancel HTTP/1.1\r\nHost: \(server.authority)\r\nAuthorization: Bearer \(token)\r\n"
        asking.send("\(head)Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{")
        // Its head has been read once a later one is answered.
        #expect(try server.send("GET /healthz").status != 0)
        let all = try (0..<Listener.most).map { _ in try server.connect() }
        for connection in all where !said.isEmpty { connection.send(said) }
        for _ in 0..<3 { #expect(try server.send("GET /login").status == 200) }
        #expect(await eventually { all.contains(where: \.isAnswered) }, "one that waited has made room")
        asking.send("}")
        #expect(asking.receive(until: "\r\n").hasPrefix("HTTP/1.1 "), "what is under way is left alone")
    }

    @Test("It ends in order, also while it takes connections")
    func end() async throws {
        for _ in 0..<3 {
            let server = try TestServer()
            let all = try (0..<100).map { _ in try server.connect() }
            #expect(try server.stop() == 0, "\(server.transcript)")
            for connection in all { #expect(connection.receiveAll().isEmpty) }
        }
    }

    @Test("Every answer says what browsers may do with it")
    func headers() async throws {
        let server = try TestServer()
        for path in ["/login", "/", "/nothing", "/api/v1/overview", "/assets/style.css", "/healthz"] {
            let answer = try server.send("GET \(path)")
            let policy = try #require(answer.fields["content-security-policy"])
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "\(path)")
            #expect(answer.fields["x-content-type-options"] == "nosniff")
            #expect(answer.fields["referrer-policy"] == "no-referrer")
            #expect(answer.fields["cross-origin-resource-policy"] == "same-origin")
            #expect(answer.fields["cross-origin-opener-policy"] == "same-origin")
            #expect(
                answer.fields["cache-control"]
                    == (path.hasPrefix("/login") || path.hasPrefix("/assets") ? "no-cache" : "no-store"))
        }
    }

    @Test("Nobody gets anything without a token, and each role what it may")
    func roles() async throws {
        let server = try TestServer()
        let (look, operate) = (try server.token(.look), try server.token(.operate))
        for route in Route.all where route.need != .nothing {
            let path = route.path.description.replacing("{", with: "").replacing("}", with: "")
            let answer = try server.send("\(route.method.rawValue) \(path)", ["Sec-Fetch-Site: same-origin"])
            #expect(answer.status == (route.isPage ? 303 : 401), "\(path)")
            if case .role(.operate) = route.need {
                let refused = try server.send("\(route.method.rawValue) \(path)", token: look)
                #expect(refused.status == 403 && refused.code == "role.operate", "\(path)")
            }
        }
        #expect(try server.send("GET /api/v1/session", token: look)["role"] == "look")
        #expect(try server.send("GET /api/v1/session", token: operate)["name"] == "operate-er")
        #expect(try server.send("GET /api/v1/session", token: "dm_wrong").code == "token.wrong")
        #expect(try server.send("GET /jobs?state=failed").fields["location"] == "/login?next=%2Fjobs%3Fstate%3Dfailed")
    }

    @Test("A token becomes a session, which ends when somebody signs out")
    func sessions() async throws {
        let server = try TestServer()
        let secret = try server.token(.operate)
        let own = ["Sec-Fetch-Site: same-origin", "Content-Type: application/json"]
        let signedIn = try server.send("POST /login", own, body: #"{"token":"\#(secret)"}"#)
        #expect(signedIn.status == 204)
        let cookie = try #require(signedIn.fields["set-cookie"])
        #expect(cookie.hasSuffix("HttpOnly; SameSite=Strict"))
        let pair = "Cookie: " + cookie.prefix { $0 != ";" }
        let session = try server.send("GET /api/v1/session", [pair])
        #expect(session["via"] == "token" && session["expires_at"] != nil)
        #expect(try server.send("POST /api/v1/reload", [pair], body: "{}").code == "origin.missing")
        #expect(
            try server.send("POST /api/v1/reload", [pair, "Origin: http://evil.example"], body: "{}").status == 403)
        #expect(try server.send("POST /api/v1/reload", [pair] + own, body: "{}").code == "daemon.down")
        #expect(try server.send("POST /logout", [pair] + own).status == 204)
        #expect(try server.send("GET /api/v1/session", [pair]).status == 401)
        #expect(try server.send("POST /login", own, body: #"{"token":"x"}"#).status == 401)
        #expect(try server.send("POST /login", own, body: "[").code == "body.malformed")
        #expect(try server.send("POST /login", ["Sec-Fetch-Site: same-origin"], body: "{}").status == 415)
    }

    @Test("Who may open the Unix socket may do everything; others may not open it")
    func unixSocket() async throws {
        let scratch = try ScratchFolder()
        let path = scratch.path("web.sock")
        let server = try TestServer(at: path.string)
        #expect(FileStatus.of(path).map { $0.st_mode & 0o777 } == 0o660)
        let session = try server.send("GET /api/v1/session")
        #expect(session["role"] == "operate" && session["via"] == "socket")
        #expect(session["name"] == "root" || geteuid() != 0)
        #expect(try server.send("GET /api/v1/session", host: "evil.example").status == 421)
        #expect(throws: ListenError.self, "somebody listens there") { _ = try TestServer(at: path.string) }
        #expect(try server.stop() == 0)
        #expect(FileStatus.of(path) == nil)
        try scratch.write("x", to: "web.sock")
        #expect(throws: ListenError.self, "a file is no socket") { _ = try TestServer(at: path.string) }
        #expect(try ScratchFolder.read(path) == Array("x".utf8))
    }

    @Test("Without a daemon it says so, and what does not need one is there")
    func noDaemon() async throws {
        let server = try TestServer()
        let token = try server.token(.operate)
        for path in ["overview", "jobs", "waiting", "changes", "files", "runs", "pipelines/x"] {
            let answer = try server.send("GET /api/v1/\(path)", token: token)
            #expect(answer.status == 503 && answer.code == "daemon.down", "\(path): \(answer.body)")
        }
        #expect(try server.send("GET /readyz", token: token).status == 503)
        #expect(try server.send("GET /metrics", token: token).status == 503)
        #expect(try server.send("GET /healthz", token: token)["status"] == "ok")
        #expect(try server.send("GET /healthz").status == 401)
        #expect(try server.send("GET /api/v1/openapi.json", token: token)["openapi"] == "3.1.0")
        let open = try TestServer(["--public-metrics"])
        #expect(try open.send("GET /healthz").status == 200)
        #expect(try open.send("GET /readyz").code == "daemon.down")
    }

    @Test("What cannot be done is told, with what can")
    func refusals() async throws {
        let server = try TestServer()
        let token = try server.token(.operate)
        let wrong = try server.send("PUT /api/v1/overview", token: token)
        #expect(wrong.status == 405 && wrong.fields["allow"] == "GET")
        #expect(try server.send("GET /api/v2", token: token).code == "not.found")
        #expect(try server.send("GET /assets/..%2f..%2fetc%2fpasswd").code == "not.found")
        #expect(try server.send("GET /assets/%2e%2e").code == "path.malformed")
        #expect(try server.send("GET /api/v1/jobs?stat=failed", token: token).code == "query.unknown")
        #expect(try server.send("GET /api/v1/jobs?state=broken", token: token).code == "query.state")
        #expect(try server.send("GET /api/v1/jobs?limit=0", token: token).code == "query.limit")
        #expect(try server.send("GET /api/v1/jobs?since=yesterday", token: token).code == "query.since")
        #expect(try server.send("GET /api/v1/jobs?before=x", token: token).code == "query.before")
        let long = String(repeating: "a", count: 256)
        #expect(try server.send("GET /api/v1/waiting?name=\(long)", token: token).code == "query.name")
        #expect(try server.send("GET /api/v1/jobs/x", token: token).status == 404)
        #expect(try server.send("HEAD /login").body.isEmpty)
        let tag = try #require(try server.send("GET /assets/style.css").fields["etag"])
        #expect(try server.send("GET /assets/style.css", ["If-None-Match: \(tag)"]).status == 304)
    }

    @Test("A body of more than a megabyte is refused")
    func body() async throws {
        let server = try TestServer()
        let token = try server.token(.operate)
        let large = "{\"jobs\":[\"" + String(repeating: "a", count: 2 << 20) + "\"]}"
        let answer = try server.send(
            "POST /api/v1/jobs/cancel", ["Content-Type: application/json"], body: large, token: token)
        #expect(answer.status == 413)
    }

    @Test("Who has not signed in sends little, and another way of signing in is no token")
    func strangers() async throws {
        let server = try TestServer()
        let large = "{\"token\":\"" + String(repeating: "a", count: 5 << 10) + "\"}"
        let fields = ["Content-Type: application/json", "Origin: http://\(server.authority)"]
        #expect(try server.send("POST /login", fields, body: large).status == 413)
        for _ in 0..<12 {
            let answer = try server.send("GET /api/v1/session", ["Authorization: Basic YTpi"])
            #expect(answer.code == "token.missing")
        }
        #expect(try server.send("GET /api/v1/session", token: try server.token(.look)).status == 200)
    }

    @Test("A key of a body that is not known is refused: it may have meant much")
    func unknownKeys() async throws {
        let server = try TestServer()
        let token = try server.token(.operate)
        for (path, body) in [
            ("hold", #"{"kind":"pause","pipelines":["a"]}"#), ("pipelines/a/hold", #"{"kind":"pause","for":"2h"}"#),
            ("runs", #"{"verb":"retry","jobs":[],"dry_run":true}"#),
        ] {
            let answer = try server.send(
                "POST /api/v1/\(path)", ["Content-Type: application/json"], body: body, token: token)
            #expect(answer.code == "body.unknown", "\(answer.body)")
        }
    }

    @Test("To ask about the stream opens none")
    func streamHeads() async throws {
        let server = try TestServer()
        let token = try server.token(.look)
        for _ in 0...EventHub.most { #expect(try server.send("HEAD /api/v1/events", token: token).status == 200) }
        let connection = try server.connect()
        connection.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(connection.receive(until: "retry:").contains("200 OK"))
    }

    @Test("Who may not look any more is told nothing more")
    func revoked() async throws {
        let server = try TestServer()
        let token = try server.token(.look)
        let connection = try server.connect()
        connection.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(connection.receive(until: "retry:").contains("200 OK"))
        try TokenFile(in: server.scratch.path("tokens")).change { $0.removeAll() }
        // The end of a body whose length is not known beforehand.
        #expect(connection.receive(until: "\r\n0\r\n").contains("\r\n0\r\n"))
    }

    @Test("So many browsers are told what happens; one that leaves makes room")
    func events() async throws {
        let server = try TestServer()
        let token = try server.token(.look)
        let request = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
        var all = try (0..<EventHub.most).map { _ in
            let connection = try server.connect()
            connection.send(request)
            return connection
        }
        for connection in all { #expect(connection.receive(until: "retry:").contains("text/event-stream")) }
        #expect(all[0].receive(until: "\n\n").contains("daemon.down") || all[0].receive(until: "daemon.down").count > 0)
        #expect(try server.send("GET /api/v1/events", token: token).code == "events.full")
        all.removeLast()
        #expect(
            await eventually {
                guard let connection = try? server.connect() else { return false }
                connection.send(request)
                return connection.receive(until: "retry:").contains("200 OK")
            })
    }
}
