import Files
import Glibc
import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import Dashboard

/// The server where it speaks TLS, as another implementation of it sees it.
@Suite(
    "Server with TLS", .timeLimit(.minutes(5)),
    .enabled(if: TestCertificate.isPossible && SecureClient.isPossible, TestCertificate.need))
struct SecureServerTests {
    private let scratch: ScratchFolder
    private let certificate: TestCertificate

    init() throws {
        scratch = try ScratchFolder()
        certificate = try TestCertificate("own", in: scratch)
    }

    private func server(at address: String = "0.0.0.0:0", _ more: [String] = ["--host", "mill.example"]) throws
        -> TestServer
    {
        try TestServer(
            at: address, daemon: scratch.path("state"),
            ["--tls-certificate", certificate.chain.string, "--tls-key", certificate.key.string] + more)
    }

    private func client(_ server: TestServer) -> SecureClient { SecureClient(server: server, chain: certificate.chain) }

    @Test("Pages come by TLS 1.3 and 1.2, and by nothing older; HTTP/1.1 is all that is offered")
    func versions() throws {
        let server = try server()
        #expect(server.transcript.contains("serving at https://mill.example:"))
        let client = client(server)
        let page = try client.send("GET /login")
        #expect(page.agreed == "TLSv1.3 http/1.1")
        #expect(page.answer.status == 200 && page.answer.body.contains("</html>"))
        #expect(page.answer.fields["strict-transport-security"] == nil)
        let older = try client.send("GET /login", most: "TLSv1_2")
        #expect(older.agreed == "TLSv1.2 http/1.1" && older.answer.status == 200)
        let old = try client.send("GET /login", most: "TLSv1_1")
        #expect(old.agreed.contains("PROTOCOL_VERSION") && old.answer.status == 0, "\(old.agreed)")
        #expect(try client.send("GET /login", protocols: "h2").agreed == "TLSv1.3 None")
    }

    @Test("The rules for hosts and origins hold, and the cookie stays within TLS")
    func access() throws {
        let server = try server()
        let (client, token) = (client(server), try server.token(.operate))
        #expect(try client.send("GET /login", host: "evil.example").answer.status == 421)
        #expect(try client.send("GET /login", host: "mill.example:8866").answer.status == 200)
        try scratch.write(#"{"token":"\#(token)"}"#, to: "login")
        func signIn(_ fields: [String]) throws -> RawAnswer {
            let length = (try scratch.read("login")).count
            return try client.send(
                "POST /login", fields + ["Content-Type: application/json", "Content-Length: \(length)"],
                body: scratch.path("login")
            ).answer
        }
        #expect(try signIn([])["remedy"]?.contains("Origin: https://mill.example") == true)
        #expect(try signIn(["Origin: http://mill.example"]).code == "origin.foreign")
        let signedIn = try signIn(["Origin: https://mill.example"])
        #expect(signedIn.status == 204)
        let cookie = try #require(signedIn.fields["set-cookie"])
        #expect(cookie.hasPrefix("__Host-dropmill=") && cookie.contains("; Path=/;"))
        #expect(cookie.hasSuffix("; HttpOnly; SameSite=Strict; Secure"))
        let pair = "Cookie: " + cookie.prefix { $0 != ";" }
        #expect(try client.send("GET /api/v1/session", [pair]).answer["via"] == "token")
        let other = pair.replacing("__Host-", with: "")
        #expect(try client.send("GET /api/v1/session", [other]).answer.status == 401)
    }

    @Test("Handshakes that are never whole are gone after their time, and others are served meanwhile")
    func slow() throws {
        let server = try server()
        let begun = ContinuousClock.now
        // The beginning of a greeting, and of nothing.
        let slow = try (0..<200).map { index in
            let connection = try server.connect()
            if index % 2 == 0 { connection.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]) }
            return connection
        }
        #expect(try client(server).send("GET /login").answer.status == 200)
        for connection in slow { #expect(connection.receiveAll().count < 16) }
        let time = ContinuousClock.now - begun
        #expect(time > .seconds(9) && time < .seconds(28), "\(time)")
        #expect(try client(server).send("GET /login").answer.status == 200)
    }

    @Test("Handshakes that are not whole count among the connections, and make room")
    func crowd() async throws {
        let server = try server()
        let all = try (0..<Listener.most).map { _ in try server.connect() }
        #expect(try client(server).send("GET /login").answer.status == 200)
        #expect(await eventually { all.contains(where: \.isClosed) })
    }

    @Test("Who speaks no TLS is shut out, and nobody else")
    func plain() throws {
        let server = try server()
        for text in [
            "GET /login HTTP/1.1\r\nHost: mill.example\r\n\r\n", "\r\n\r\n", String(repeating: "x", count: 1 << 20),
        ] {
            let connection = try server.connect()
            connection.send(text)
            #expect(!String(decoding: connection.receiveAll(), as: UTF8.self).contains("HTTP/1.1"))
        }
        #expect(try client(server).send("GET /login").answer.status == 200)
    }

    @Test("A head is bounded in size and time as without TLS")
    func heads() throws {
        let client = client(try server())
        let noise = String(repeating: "a", count: 64 << 10)
        #expect(try client.send("GET /login", ["X: \(noise)"]).answer.status == 431)
        #expect(try client.send("GET /login", ["Content-Length: 1", "Content-Length: 2"]).answer.status == 400)
        #expect(try client.send("GET /login", ["A: b\nC: d"]).answer.status == 400)
    }

    @Test("A renewed certificate is taken at SIGHUP; one that cannot be used is not, which is told")
    func renewal() async throws {
        let server = try server()
        let old = try TestCertificate("old", in: scratch)
        try old.replace(by: certificate)
        let next = try TestCertificate("next", in: scratch)
        try certificate.replace(by: next)
        try server.send(signal: SIGHUP)
        let renewed = SecureClient(server: server, chain: next.chain)
        #expect(try await eventually { try renewed.send("GET /login").answer.status == 200 })
        #expect(
            try SecureClient(server: server, chain: old.chain).send("GET /login").agreed == "CERTIFICATE_VERIFY_FAILED")
        #expect(!server.transcript.contains("warning"))
        try scratch.write("nonsense", to: "own.pem")
        for _ in 0..<2 { try server.send(signal: SIGHUP) }
        #expect(await eventually { server.transcript.contains("warning: '\(certificate.chain.string)' is no chain") })
        #expect(try renewed.send("GET /login").answer.status == 200)
        #expect(server.transcript.ranges(of: "warning").count == 1)
        #expect(try server.stop() == 0)
    }

    @Test("What cannot be used does not start")
    func refusals() throws {
        func start(_ arguments: [String]) throws -> (status: Int32, text: String) {
            var process = try DropmillProcess(
                ["serve", "--token-dir", scratch.path("tokens").string] + arguments, in: scratch.path(""),
                log: scratch.path("refusal-\(arguments.count)-\(arguments.joined().hashValue)"))
            return (try process.wait(), process.transcript)
        }
        let pair = ["--tls-certificate", certificate.chain.string, "--tls-key", certificate.key.string]
        for arguments in [Array(pair[..<2]), Array(pair[2...])] {
            let alone = try start(["--listen", "127.0.0.1:0"] + arguments)
            #expect(alone.status == 64 && alone.text.contains("of use with its key only"), "\(alone.text)")
        }
        let nameless = try start(["--listen", "0.0.0.0:0"] + pair)
        #expect(nameless.status == 64 && nameless.text.contains("--host NAME"), "\(nameless.text)")
        let unix = try start(["--listen", scratch.path("web.sock").string] + pair)
        #expect(unix.status == 64 && unix.text.contains("needs no TLS"), "\(unix.text)")
        let bare = try start(["--listen", "0.0.0.0:0"])
        #expect(bare.status == 64 && bare.text.contains("--tls-certificate FILE"), "\(bare.text)")
        #expect(chmod(certificate.key.string, 0o644) == 0)
        let open = try start(["--listen", "127.0.0.1:0"] + pair)
        #expect(open.status == 78 && open.text.contains("others can, too"), "\(open.text)")
        #expect(!scratch.exists("tokens"), "no token is given out before all else is well")
    }

    @Test("It ends in order while a browser is told what happens")
    func end() async throws {
        let server = try server()
        let token = try server.token(.look)
        var browser = try client(server).stay("GET /api/v1/events", ["Authorization: Bearer \(token)"])
        #expect(try await eventually { try browser.text().contains("retry:") })
        let idle = try server.connect()
        #expect(try server.stop() == 0)
        #expect(try browser.wait() == 0, "\(browser.transcript)")
        #expect(idle.receiveAll().isEmpty)
    }

    @Test("A file goes in")
    func upload() async throws {
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 50ms }\nstages: [checksum]\nupload: true\n",
            to: "pipelines/press.yaml")
        var daemon = try DropmillProcess(
            ["run", "--state-dir", scratch.path("state").string], in: scratch.path(""), log: scratch.path("log"))
        defer { do { try daemon.end() } catch { /* It has ended. */  } }
        let body = (0..<(20 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        _ = try scratch.write(body, to: scratch.path("body"))
        let server = try server(at: "127.0.0.1:0")
        let fields = ["Content-Length: \(body.count)", "Authorization: Bearer \(try server.token(.operate))"]
        #expect(await eventually { scratch.exists("state/control.sock") }, "\(daemon.transcript)")
        let answer = try client(server).send(
            "PUT /api/v1/pipelines/press/drops/a.bin", fields, body: scratch.path("body")
        ).answer
        #expect(answer.status == 201, "\(answer.body) \(daemon.transcript)")
        #expect(await eventually { scratch.exists("pipelines/done/a.bin") })
        #expect(try scratch.read("pipelines/done/a.bin") == body)
    }
}
