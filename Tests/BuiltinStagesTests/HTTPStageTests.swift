import BuiltinStages
import Dispatch
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: WebServer.isPossible, "needs python3 and openssl"))
struct HTTPStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "re port?.pdf", Array("content".utf8)) }

    private func options(_ server: WebServer, _ path: String, _ more: [(String, Options)] = []) -> Options {
        .map([("url", .text("http://127.0.0.1:\(server.port)\(path)"))] + more)
    }

    @Test func thePayloadIsSent() async throws {
        let server = try await WebServer(fixture.scratch)
        let secret = try fixture.scratch.write("s3cr3t\n", to: "token")
        chmod(secret.string, 0o600)
        let headers: Options = ["Authorization": "Bearer ${file:token}", "X-Key": "${env:KEY}"]
        var payload = fixture.payload
        payload.facts["type"] = "application/pdf"
        let progress = StageProgress()
        let result = try fixture.run(
            "http", options(server, "/in/{name}", [("headers", headers)]), on: payload, progress: progress,
            environment: ["KEY": "k3y"])
        #expect(result == payload)
        #expect(try server.body == "content")
        let head = try server.head
        #expect(head.hasPrefix("PUT /in/re%20port%3F.pdf\n"))
        for line in [
            "Authorization: Bearer s3cr3t", "X-Key: k3y", "Content-Type: application/pdf", "Content-Length: 7",
        ] {
            #expect(head.contains("\(line)\n"), "\(head)")
        }
    }

    @Test func aReportIsSent() async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = Failure.file("archive.damaged", "It is damaged.", remedy: "Send it again.")
        try fixture.run(
            "http", options(server, "/", [("method", "POST"), ("body", "report")]),
            failed: JobFailure(failure, stage: "unpack", attempts: 1))
        let body = try server.body
        #expect(body.hasPrefix(#"{"job":"\#(fixture.job.id)","pipeline":"test","name":"re port?.pdf","size":7,"#))
        #expect(body.contains(#""state":"failed","stage":"unpack","attempts":1,"code":"archive.damaged""#))
        #expect(try server.head.contains("Content-Type: application/json"))
    }

    @Test(arguments: [
        ("500", Failure.Class.transient), ("503", .transient), ("429", .transient), ("408", .transient),
        ("400", .file), ("403", .file), ("404", .file), ("302", .file),
    ])
    func refusals(status: String, class: Failure.Class) async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = try fixture.failure("http", options(server, "/status/\(status)"))
        #expect(failure.class == `class`)
        #expect(failure.summary.hasSuffix("answered with status \(status)."))
        #expect(failure.detail == "told: \(status)")
    }

    /// In seconds or as a date (RFC 9110, 10.2.3); what is no time, or is past, is not waited for.
    @Test(arguments: [
        ("503?after=7200", Int64(7200)...7200), ("429?after=7200", 7200...7200), ("503?until=7200", 7000...7200),
        ("503?after=9223372036854775807", 20_000...3_000_000_000),
        ("503?after=soon", nil), ("503?until=-7200", nil), ("503?after=-5", nil), ("404?after=7200", nil),
    ])
    func aServerSaysWhenToComeAgain(path: String, seconds: ClosedRange<Int64>?) async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = try fixture.failure("http", options(server, "/status/\(path)"))
        guard let seconds else {
            #expect(failure.retryAfter == nil)
            return
        }
        #expect(seconds.contains(try #require(failure.retryAfter).components.seconds))
        #expect(failure.summary.contains("asks to wait for "))
    }

    /// Whatever sends back no HTTP has not taken it, and may be a proxy that is being started.
    @Test(arguments: 0...4)
    func garbageForAnAnswer(number: Int) async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = try fixture.failure("http", options(server, "/garbage/\(number)"))
        #expect(failure.class == .transient, "\(failure)")
        #expect(failure.code == "http.connection", "\(failure)")
    }

    @Test(arguments: ["301", "302", "303", "307", "308"])
    func redirections(status: String) async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = #expect(throws: Failure.self) {
            try fixture.run(
                "http", options(server, "/status/\(status)?to=/else/${env:KEY}"), environment: ["KEY": "s3cr3t"])
        }
        #expect(failure?.class == .file)
        #expect(
            failure?.summary.hasSuffix(
                "answered with status \(status), a redirection to 'http://127.0.0.1:\(server.port)/else/•••', which "
                    + "Dropmill does not follow.") == true, "\(failure?.summary ?? "")")
        #expect(failure?.remedy.contains("'url'") == true)
    }

    /// Others may have the header as well (RFC 9110, 10.2.2), and lead nowhere.
    @Test(arguments: ["304", "404"])
    func placesThatAreNoRedirections(status: String) async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = try fixture.failure("http", options(server, "/status/\(status)?to=/else"))
        #expect(failure.summary.hasSuffix("answered with status \(status)."), "\(failure.summary)")
    }

    @Test func droppedAndSlowAnswers() async throws {
        let server = try await WebServer(fixture.scratch)
        #expect(try fixture.failure("http", options(server, "/drop")).class == .transient)
        let slow = try fixture.failure("http", options(server, "/slow", [("stall_timeout", "1s")]))
        #expect(slow.class == .transient)
        #expect(slow.code == "http.connection")
    }

    /// An answer that is too long is not read to its end, and one that never ends is not waited for.
    @Test func answersWithoutEnd() async throws {
        let server = try await WebServer(fixture.scratch)
        try fixture.run("http", options(server, "/endless"))
        let failure = try fixture.failure("http", options(server, "/drip", [("stall_timeout", "1s")]))
        #expect(failure.class == .transient)
        #expect(failure.summary.contains("took too long"))
    }

    /// A server that says yes before it has all of it has not taken it.
    @Test func anAnswerThatCameTooEarly() async throws {
        let fixture = try StageFixture(drop: "large", [UInt8](repeating: 1, count: 60 << 20))
        let server = try await WebServer(fixture.scratch)
        let failure = try fixture.failure("http", options(server, "/early"))
        #expect(failure.class == .transient)
    }

    @Test func aRequestCanBeKnownAgain() async throws {
        let server = try await WebServer(fixture.scratch)
        try fixture.run("http", options(server, "/"))
        let first = try server.head
        #expect(first.contains("Idempotency-Key: \(fixture.job.id)-1-http\n"), "\(first)")
        try fixture.run("http", options(server, "/", [("headers", ["idempotency-key": "mine"])]))
        #expect(try server.head.contains("idempotency-key: mine\n"))
        #expect(!(try server.head.contains("1-http")))
        for headers: Options in [["Content-Length": "3"], ["A": "1", "a": "2"]] {
            #expect(throws: OptionProblem.self) { try fixture.stage("http", ["url": "http://x/", "headers": headers]) }
        }
    }

    @Test func foldersInAnAddress() async throws {
        let server = try await WebServer(fixture.scratch)
        try fixture.run("http", options(server, "/in/{path}/{stem}.{ext}"))
        #expect(try server.head.hasPrefix("PUT /in//re%20port%3F.pdf\n"))
    }

    @Test func whatAServerRepeatsIsHidden() async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = #expect(throws: Failure.self) {
            try fixture.run(
                "http",
                options(server, "/echo/${env:HOOK}", [("headers", ["Authorization": "Bearer ${env:KEY}"])]),
                environment: ["HOOK": "h00k/h00k", "KEY": "k3y-k3y"])
        }
        #expect(failure?.detail == "nothing at /echo/••• for Bearer •••")
    }

    @Test func whatIsWrittenWhereSecretsMayBeIsHidden() async throws {
        let server = try await WebServer(fixture.scratch)
        let failure = try fixture.failure(
            "http",
            options(server, "/echo/wr1tten?key=wr1tten", [("headers", ["Authorization": "Bearer t0k3n-t0k3n"])]))
        #expect(failure.detail.contains("for •••") && !failure.detail.contains("t0k3n"), "\(failure.detail)")
        #expect(failure.summary.contains("/echo/wr1tten?key=•••'"), "\(failure.summary)")
        #expect(!failure.detail.contains("wr1tten"), "\(failure.detail)")
        let notes = StageNotes()
        try fixture.run(
            "run",
            [
                "command": ["sh", "-c", "echo \"$KEY and ${KEY#* } and $SHORT\""],
                "env": ["KEY": "Basic wr1tten", "SHORT": "brief"],
            ], notes: notes)
        #expect(notes.text == "standard output:\n••• and ••• and brief")
        for password in ["s3cr3t", "s3cr3t's"] {
            let signed = try fixture.failure("http", ["url": "http://anna:\(password)@127.0.0.1:1/{name}"])
            #expect(signed.summary.contains("'http://•••@127.0.0.1:1/{name}'"), "\(signed.summary)")
        }
        for options: Options in [["url": "http://x/", "headers": "A: s3cr3t"], ["url": "s3cr3t://a:s3cr3t@"]] {
            let problem = #expect(throws: OptionProblem.self) { try fixture.stage("http", options) }
            #expect(problem?.message.contains(":s3cr3t") == false && problem?.message.contains(" s3cr3t") == false)
        }
    }

    @Test func itIsCalledOff() async throws {
        let server = try await WebServer(fixture.scratch)
        let cancellation = Cancellation()
        let progress = StageProgress()
        DispatchQueue(label: "watcher").async { @Sendable in
            while progress.bytes == 0 { sched_yield() }
            cancellation.cancel()
        }
        #expect(throws: Failure.cancelled) {
            try fixture.run("http", options(server, "/slow"), cancellation: cancellation, progress: progress)
        }
    }

    @Test func aConnectionMustBeTrusted() async throws {
        let server = try await WebServer(fixture.scratch, secure: true)
        let url: Options = .text("https://localhost:\(server.port)/x")
        let failure = try fixture.failure("http", ["url": url])
        #expect(failure.class == .transient)
        // libcurl's own words, and not only that it is the certificate.
        #expect(failure.summary.contains("self-signed certificate"), "\(failure.summary)")
        let other = try fixture.failure(
            "http", ["url": .text("https://127.0.0.2:\(server.port)/x"), "ca": "web/cert.pem"])
        #expect(other.summary.contains("127.0.0.2"), "\(other.summary)")
        try fixture.run("http", ["url": url, "ca": "web/cert.pem"])
        #expect(try server.body == "content")
    }

    /// Our surroundings are at fault, and not the server.
    @Test func certificatesThatCannotBeUsed() async throws {
        let server = try await WebServer(fixture.scratch, secure: true)
        try fixture.scratch.write("no certificate", to: "words.pem")
        for file in ["none.pem", "words.pem"] {
            let failure = try fixture.failure(
                "http", ["url": .text("https://localhost:\(server.port)/x"), "ca": .text(file)])
            #expect(failure.class == .environment)
            #expect(failure.code == "http.setup")
            #expect(failure.summary.contains(file), "\(failure.summary)")
            #expect(failure.remedy.contains("'ca'"))
        }
    }

    @Test func aFolderIsNoBody() throws {
        let payload = try fixture.folderPayload([(Array("a".utf8), "x")])
        #expect(try fixture.failure("http", ["url": "http://127.0.0.1:1/"], on: payload).code == "http.folder")
    }

    // MARK: Secrets

    @Test(arguments: ["ftp://x/", "x", "http://x/{nome}", "http://x/${env:UNSET}", "http://x/${file:none}"])
    func wrongURLs(url: String) {
        #expect(throws: OptionProblem.self) { try fixture.stage("http", ["url": .text(url)]) }
    }

    // MARK: Where to

    /// A sender chooses the name of a drop, and must not choose the server that gets the secrets.
    @Test(arguments: [
        "http://{stem}:18080/in/{name}", "https://{name}", "https://example.org{name}", "https://example.org:80{stem}/",
        "https://user:{stem}@example.org/", "{name}", "https:{name}", "https:/{name}/x", "https:///{name}",
        "https:///x{name}/", "${env:BASE}{name}", "${env:SCHEME}{stem}/x",
    ])
    func placeholdersBeforeThePath(url: String) throws {
        let problem = #expect(throws: OptionProblem.self) {
            try fixture.stage(
                "http", ["url": .text(url)], environment: ["BASE": "https://example.org", "SCHEME": "https://"])
        }
        #expect(problem?.message.contains("before its path") == true, "\(problem?.message ?? "")")
    }

    @Test(arguments: [
        "https://example.org/{name}", "https://example.org?{stem}", "${env:BASE}/in/{name}", "https://[::1]:1/{name}",
        "https://user:${env:KEY}@example.org/{path}/{name}",
    ])
    func placeholdersInThePath(url: String) throws {
        _ = try fixture.stage(
            "http", ["url": .text(url)], environment: ["BASE": "https://example.org", "KEY": "s3cr3t"])
    }

    @Test(arguments: [
        ("http://example.org/", false), ("http://localhost.example.org/", false), ("http://128.0.0.1/", false),
        ("http://127.0.0.1.example.org/", false), ("http://127.0.0.1:x@example.org/", false), ("${env:PLAIN}", false),
        ("http://[::2]/", false), ("https://example.org/", true), ("http://localhost:1/", true),
        ("http://127.8.0.1/", true), ("http://[::1]:80/", true), ("HTTP://LOCALHOST/", true),
    ])
    func secretsGoNoWhereInTheClear(url: String, isTaken: Bool) throws {
        let environment = ["KEY": "s3cr3t", "PLAIN": "http://example.org/hook"]
        let inHeader: [(String, Options)] = [("url", .text(url)), ("headers", ["X-Key": "${env:KEY}"])]
        let inURL: [(String, Options)] = [("url", .text(url + "${env:KEY}"))]
        for options in [inHeader, inURL] {
            if isTaken {
                _ = try fixture.stage("http", .map(options), environment: environment)
                continue
            }
            let problem = #expect(throws: OptionProblem.self) {
                try fixture.stage("http", .map(options), environment: environment)
            }
            #expect(problem?.message.contains("insecure: true") == true)
            _ = try fixture.stage("http", .map(options + [("insecure", "true")]), environment: environment)
        }
        // Without a secret nothing is in the way.
        if !url.hasPrefix("$"), !url.contains("@") { _ = try fixture.stage("http", ["url": .text(url)]) }
        // Written out they are none the less secrets.
        if url.hasPrefix("$") || url.contains("@") { return }
        let others: [Options] = [
            ["url": .text(url), "headers": ["authorization": "Bearer s3cr3t"]],
            ["url": .text(url), "headers": ["X-Any": "Bearer s3cr3t"]],
            ["url": .text(url), "headers": ["X-Api-Key": "s3cr3t"]],
            ["url": .text(url), "headers": ["Cookie": "s3cr3t"]],
            ["url": .text(url.replacing("://", with: "://anna:s3cr3t@"))], ["url": .text("\(url)?api_key=s3cr3t")],
        ]
        for options in others {
            guard !isTaken else {
                _ = try fixture.stage("http", options)
                continue
            }
            let problem = #expect(throws: OptionProblem.self) { try fixture.stage("http", options) }
            #expect(problem?.message.contains("insecure: true") == true && problem?.message.contains("s3cr3t") == false)
        }
    }

    /// The file of a secret may be exchanged, and then lead elsewhere.
    @Test func aSecretThatComesToLeadElsewhere() throws {
        let secret = try fixture.scratch.write("https://localhost:1/", to: "hook")
        chmod(secret.string, 0o600)
        let stage = try fixture.stage("http", ["url": "${file:hook}in"])
        let context = StageContext(
            job: .init(of: fixture.job), disk: .init(scratch: fixture.job.scratch(stage: 0, kind: "http")))
        for (text, code) in [("http://192.0.2.1/", "http.insecure"), ("ftp://localhost/", "http.url")] {
            try fixture.scratch.write(text, to: "hook")
            let failure = #expect(throws: Failure.self) { try stage.run(fixture.payload, in: context) }
            #expect(failure?.code == code)
            #expect(failure?.class == .environment)
        }
    }

    @Test func aSecretThatOthersCanReadIsRefused() throws {
        let secret = try fixture.scratch.write("s3cr3t", to: "token")
        for mode: mode_t in [0o640, 0o604, 0o644] {
            chmod(secret.string, mode)
            let problem = #expect(throws: OptionProblem.self) {
                try fixture.stage("http", ["url": "https://x/${file:token}"])
            }
            #expect(problem?.message.contains("is readable by others; run 'chmod 600'") == true)
        }
        chmod(secret.string, 0o600)
        let stage = try fixture.stage("http", ["url": "http://127.0.0.1:1/${file:token}"])
        chmod(secret.string, 0o644)
        let context = StageContext(
            job: .init(of: fixture.job), disk: .init(scratch: fixture.job.scratch(stage: 0, kind: "http")))
        let failure = #expect(throws: Failure.self) { try stage.run(fixture.payload, in: context) }
        #expect(failure?.class == .environment)
    }

    @Test func secretsAreNotSeen() throws {
        let failure = #expect(throws: Failure.self) {
            try fixture.run("http", ["url": "http://127.0.0.1:1/${env:KEY}"], environment: ["KEY": "s3cr3t"])
        }
        #expect(failure?.summary.contains("http://127.0.0.1:1/${env:KEY}") == true)
        let stage = try fixture.stage("http", ["url": "https://x/${env:KEY}"], environment: ["KEY": "s3cr3t"])
        var dumped = ""
        dump(stage, to: &dumped)
        #expect(!dumped.contains("s3cr3t"))
        #expect(!"\(stage)".contains("s3cr3t"))
        for options: Options in [["command": ["echo", "${env:KEY}"]], ["command": ["echo", "${file:x}"]]] {
            let problem = #expect(throws: OptionProblem.self) { try fixture.stage("run", options) }
            #expect(problem?.message.contains("a secret could be seen here") == true)
        }
        let notes = StageNotes()
        try fixture.run(
            "run", ["command": ["sh", "-c", "echo \"got $KEY.\""], "env": ["KEY": "${env:KEY}"]], notes: notes,
            environment: ["KEY": "s3cr3t"])
        #expect(notes.text == "standard output:\ngot •••.")
    }
}

extension HTTPStage: ContractSubject {
    static var contract: StageContract {
        StageContract(
            options: ["body": "report"],
            server: StageContract.Server(
                isPossible: WebServer.isPossible,
                start: { fixture, isSilent in
                    let server = try await WebServer(fixture.scratch)
                    return (["url": .text("http://127.0.0.1:\(server.port)\(isSilent ? "/slow" : "/")")], server)
                }, absent: ["url": "http://127.0.0.1:1/"], failure: .transient),
            work: .plainFile)
    }
}
