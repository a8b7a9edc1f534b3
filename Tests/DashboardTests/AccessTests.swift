import Files
import Glibc
import HTTPTypes
import PipelineKit
import SystemPackage
import TestTools
import Testing

@testable import Dashboard

@Suite struct AccessTests {
    private let scratch: ScratchFolder
    private let now = Timestamp(nanoseconds: 1_000_000_000_000)

    init() throws { scratch = try ScratchFolder() }

    private func list(_ tokens: [Token]) -> TokenList {
        TokenList(TokenFile(in: scratch.path("tokens")), named: tokens)
    }

    private func gatekeeper(
        _ tokens: TokenList, isOpen: Bool = false, proxy: ProxyTrust = ProxyTrust()
    ) -> Gatekeeper {
        Gatekeeper(OriginRules(), tokens, isOpen: isOpen, proxy: proxy) { @Sendable [now] in now }
    }

    private func head(_ fields: HTTPFields) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/", headerFields: fields)
    }

    @Test("A token opens with its role until it is revoked or its time is over; its secret is nowhere")
    func tokens() throws {
        let file = TokenFile(in: scratch.path("tokens"))
        let (token, secret) = try Token.make("desk", .drop, pipelines: ["covers"], at: now)
        try file.change { tokens throws(TokenError) in tokens.append(token) }
        let text = String(decoding: try ScratchFolder.read(file.folder.pushing(TokenFile.name)), as: UTF8.self)
        #expect(!text.contains(secret) && text.contains("\"desk\""))
        let gatekeeper = gatekeeper(list([]))
        let caller = try gatekeeper.caller(head([.authorization: "Bearer \(secret)"]), peer: "10.0.0.1")
        #expect(caller?.name == "desk" && caller?.role == .drop && caller?.address == "10.0.0.1")
        #expect(caller?.mayDrop(into: "covers") == true && caller?.mayDrop(into: "press") == false)
        let (session, _) = gatekeeper.sessions.begin(with: token, at: now)
        #expect(try gatekeeper.caller(head([.cookie: "a=b; dropmill=\(session)"]), peer: nil)?.name == "desk")
        try file.change { tokens throws(TokenError) in tokens = [] }
        #expect(throws: Problem.self) {
            try gatekeeper.caller(head([.authorization: "Bearer \(secret)"]), peer: "10.0.0.1")
        }
        #expect(try gatekeeper.caller(head([.cookie: "dropmill=\(session)"]), peer: nil) == nil)
        let old = try Token.make("old", .look, expires: now, at: now)
        #expect(throws: Problem.self) {
            try self.gatekeeper(list([old.token])).caller(bySecret: old.secret, from: "10.0.0.1")
        }
    }

    @Test("The token that was named at the start opens, whatever is wrong with those that were given out")
    func namedToken() throws {
        let (token, secret) = try Token.make("named", .look, at: now)
        let file = try scratch.write("no list", to: "tokens/tokens.json")
        for mode: mode_t in [0o600, 0o644] {
            try #require(chmod(file.string, mode) == 0)
            #expect(try list([token]).token(of: secret, at: now) == token)
            #expect(throws: TokenError.self) { try list([]).token(of: secret, at: now) }
        }
    }

    @Test("A list that was replaced twice is another, though its file may have the number of the first")
    func replacedTwice() throws {
        let scratch = try ScratchFolder()
        let file = TokenFile(in: scratch.path("tokens"))
        let list = TokenList(file, named: [])
        func add(_ name: String) throws -> String {
            let (token, secret) = try Token.make(name, .look, at: .now())
            try file.change { tokens throws(TokenError) in tokens.append(token) }
            return secret
        }
        for round in 0..<20 {
            let old = try add("old-\(round)")
            #expect(try list.token(of: old, at: .now()) != nil)
            try file.change { $0.removeAll() }
            let new = try add("new-\(round)")
            #expect(try list.token(of: old, at: .now()) == nil)
            #expect(try list.token(of: new, at: .now()) != nil)
            try file.change { $0.removeAll() }
        }
    }

    @Test("A list that others can read, or that is none, opens nothing")
    func file() throws {
        let file = TokenFile(in: scratch.path("tokens"))
        #expect(try file.read() == [])
        try file.change { tokens throws(TokenError) in tokens.append(try Token.make("a", .look, at: now).token) }
        let path = file.folder.pushing(TokenFile.name)
        #expect(FileStatus.of(path).map { $0.st_mode & 0o777 } == 0o600)
        #expect(FileStatus.of(file.folder).map { $0.st_mode & 0o777 } == 0o700)
        chmod(path.text, 0o644)
        #expect(throws: TokenError.self) { try file.read() }
        chmod(path.text, 0o600)
        try scratch.write("[", to: "tokens/tokens.json")
        #expect(throws: TokenError.self) { try file.read() }
        for name in ["", "a b", "a\nb", "<b>", String(repeating: "a", count: 65)] {
            #expect(throws: TokenError.self) { try Token.make(name, .look, at: now) }
        }
    }

    @Test("A file with one token is refused where others can read it")
    func tokenFile() throws {
        try scratch.write("12345678901234567890\n", to: "token")
        let path = scratch.path("token")
        chmod(path.text, 0o644)
        #expect(throws: TokenError.self) { try Token(inFile: path) }
        chmod(path.text, 0o600)
        let token = try Token(inFile: path)
        #expect(try gatekeeper(list([token])).caller(bySecret: "12345678901234567890", from: "::1").role == .operate)
        try scratch.write("short\n", to: "token")
        #expect(throws: TokenError.self) { try Token(inFile: path) }
    }

    @Test("Who is wrong ten times has to wait, also with a token that is right; others have not")
    func throttling() throws {
        let (token, secret) = try Token.make("a", .look, at: now)
        let gatekeeper = gatekeeper(list([token]))
        for _ in 0..<10 {
            let problem = #expect(throws: Problem.self) { try gatekeeper.caller(bySecret: "x", from: "10.0.0.1") }
            #expect(problem?.status == .unauthorized)
        }
        let problem = #expect(throws: Problem.self) { try gatekeeper.caller(bySecret: secret, from: "10.0.0.1") }
        #expect(problem?.status == .tooManyRequests && problem?.retryAfter != nil)
        #expect(try gatekeeper.caller(bySecret: secret, from: "10.0.0.2").name == "a")
        // What it is in the middle of goes on.
        let right = head([.authorization: "Bearer \(secret)"])
        #expect(throws: Problem.self) { try gatekeeper.caller(right, peer: "10.0.0.1") }
        #expect(try gatekeeper.caller(right, peer: "10.0.0.1", isAgain: true)?.name == "a")
        let wrong = head([.authorization: "Bearer x"])
        #expect(throws: Problem.self) { try gatekeeper.caller(wrong, peer: "10.0.0.1", isAgain: true) }
    }

    @Test("The throttle forgets after a minute, and remembers so many addresses")
    func throttle() {
        var throttle = Throttle()
        let start = MonotonicTime.now()
        for index in 0..<10 { throttle.note("a", at: start + .seconds(index)) }
        #expect(throttle.wait(for: "a", at: start + .seconds(9)) == 51)
        #expect(throttle.wait(for: "a", at: start + .seconds(60)) == nil)
        for index in 0..<5000 { throttle.note("\(index)", at: start) }
        #expect(throttle.wait(for: "b", at: start) == nil)
    }

    @Test("Sessions end after twelve hours, and the oldest give way")
    func sessions() throws {
        let token = try Token.make("a", .look, at: now).token
        let sessions = Sessions()
        let (first, expires) = sessions.begin(with: token, at: now)
        #expect(expires - now == .seconds(12 * 3600))
        #expect(sessions.session(first, at: now)?.token == token)
        #expect(sessions.session(first, at: expires) == nil)
        sessions.end(first)
        #expect(sessions.session(first, at: now) == nil)
        let old = sessions.begin(with: token, at: now).secret
        for index in 1...1024 {
            _ = sessions.begin(with: token, at: Timestamp(nanoseconds: now.nanoseconds + Int64(index)))
        }
        #expect(sessions.session(old, at: now) == nil)
    }

    @Test("A proxy is believed where it is named, and nobody else")
    func proxies() throws {
        let proxy = ProxyTrust(header: "X-Remote-User", addresses: ["10.0.0.9"])
        let name = try #require(HTTPField.Name("X-Remote-User"))
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        let fields: HTTPFields = [name: "anna", forwarded: "6.6.6.6, 10.2.0.14"]
        let gatekeeper = gatekeeper(list([]), proxy: proxy)
        #expect(try gatekeeper.caller(head(fields), peer: "10.0.0.8") == nil)
        #expect(gatekeeper.address(head(fields), peer: "10.0.0.8") == "10.0.0.8")
        let caller = try gatekeeper.caller(head(fields), peer: "10.0.0.9")
        #expect(caller?.name == "anna" && caller?.way == .proxy && caller?.address == "10.2.0.14")
        #expect(try gatekeeper.caller(head(fields), peer: nil)?.name == "anna", "by the Unix socket")
        #expect(try gatekeeper.caller(head([forwarded: "x"]), peer: nil) == nil)
        let long = String(repeating: "a", count: 65)
        #expect(try gatekeeper.caller(head([name: long]), peer: nil) == nil)
        let without = self.gatekeeper(list([]), isOpen: true)
        #expect(try without.caller(head(fields), peer: nil)?.way == .socket)
        #expect(without.address(head(fields), peer: nil) == "unix")
    }

    @Test("Addresses are read, and others are none")
    func addresses() {
        #expect(ListenAddress("127.0.0.1:8866")?.isLocal == true)
        #expect(ListenAddress("localhost:1") == .ip("127.0.0.1", port: 1))
        #expect(ListenAddress("[::1]:8866")?.authority == "[::1]:8866")
        #expect(ListenAddress("0.0.0.0:80")?.isLocal == false)
        #expect(ListenAddress("/run/a.sock") == .unix("/run/a.sock"))
        #expect(ListenAddress("unix:a.sock") == .unix("a.sock"))
        for text in ["", "8866", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "example.org:80", "unix:", ":80", "/"] {
            #expect(ListenAddress(text) == nil, "\(text)")
        }
    }
}
