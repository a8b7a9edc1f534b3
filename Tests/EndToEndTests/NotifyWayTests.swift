import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The ways by which messages leave a real daemon, and another side that means no good.
@Suite(
    .enabled(if: NotifyServer.isPossible, "needs python3"), .timeLimit(.minutes(5)), .serialized)
struct NotifyWayTests: DaemonTests {
    let scratch: ScratchFolder
    private let server: NotifyServer

    init() async throws {
        scratch = try ScratchFolder()
        server = try await NotifyServer()
        try write("press", stages: "[run: { command: [\"false\"] }]")
    }

    private func settings(_ text: String) throws { try scratch.write(text, to: "pipelines/dropmill.yaml") }

    private func script(_ name: String, _ text: String) throws {
        let path = try scratch.write("#!/bin/sh\n\(text)\n", to: "bin/\(name)")
        chmod(path.string, 0o755)
    }

    private func begin() async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run"], in: scratch.path, log: scratch.path("log"),
            wrapper: ["/usr/bin/env", "PATH=\(scratch.path("bin").string):/usr/local/bin:/usr/bin:/bin"])
        try #require(await eventually { try run("status").text.hasPrefix("running since") })
        return daemon
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try ScratchFolder.read(scratch.path(name)), as: UTF8.self)
    }

    private func isThere(_ name: String) -> Bool { FileStatus.of(scratch.path(name)) != nil }

    private func isLoaded(_ library: String, in daemon: DropmillProcess) throws -> Bool {
        String(decoding: try ScratchFolder.read(FilePath("/proc/\(daemon.id)/maps")), as: UTF8.self).contains(library)
    }

    @Test func mailAndProgramsGetThemAndLoadNothing() async throws {
        let enter = "cd \(scratch.path.string)"
        try script("sendmail", "\(enter) && cat > mail.new && mv mail.new mail")
        try script("page", "\(enter) && (cat; echo \"$2 $DROPMILL_EVENT\") > page.new && mv page.new page")
        try settings(
            """
            notify:
              - { on: failed, to: { mail: [ops@example.org, root], from: mill@example.org } }
              - { on: failed, to: { run: [page, --now, "a b"] } }
            """)
        var daemon = try await begin()
        try scratch.write("x", to: "pipelines/press-in/ä.zip")
        #expect(await eventually { isThere("mail") && isThere("page") })
        let mail = try text("mail")
        #expect(mail.hasPrefix("To: ops@example.org,\n root\nFrom: mill@example.org\nSubject: ["), "\(mail)")
        #expect(mail.contains("press: 1 failed\n") && mail.contains("\nX-Dropmill-Id: "), "\(mail)")
        let page = try text("page")
        #expect(page.contains(#""event":"failed""#) && page.contains(#""pipeline":"press""#), "\(page)")
        #expect(page.contains("ä.zip failed") && page.hasSuffix("a b failed\n"), "\(page)")
        #expect(try !isLoaded("libcurl", in: daemon))
        #expect(try await eventually { try Folder.names(in: scratch.path(".dropmill-state/notify")).isEmpty })
        try stop(&daemon)
    }

    @Test func webhooksAndAppriseGetWhatTheyWant() async throws {
        let secret = try scratch.write("t0pS3cr3t\n", to: "token")
        chmod(secret.string, 0o600)
        try settings(
            """
            notify:
              - on: failed
                to:
                  webhook: \(server.url("/hook"))
                  headers: { Authorization: "Bearer ${file:\(secret.string)}" }
                  body: '{"text": "*{title}* {message}", "n": {count}}'
              - { on: failed, to: { apprise: "\(server.url("/notify/key"))" } }
              - { on: failed, to: { webhook: "\(server.url("/all"))" } }
            """)
        var daemon = try await begin()
        try scratch.write("x", to: "pipelines/press-in/a\"b\n.zip")
        #expect(try await eventually { try server.requests.count == 3 })
        let requests = try server.requests
        let hook = try #require(requests.first { $0.path == "/hook" })
        #expect(hook.body.hasPrefix(#"{"text": "*press: 1 failed* a\"b"#) && hook.body.hasSuffix(#", "n": 1}"#))
        #expect(hook.headers["authorization"] == "Bearer t0pS3cr3t")
        #expect(requests.contains { $0.path == "/notify/key" && $0.body.contains(#""type":"failure""#) })
        #expect(requests.contains { $0.path == "/all" && $0.body.contains(#""state":"happened""#) })
        // The other side says the secret back.
        let tried = try run("notify", "--test")
        #expect(tried.status == 0 && tried.text.split(separator: "\n").count == 3, "\(tried.text)")
        let said = "sent: it answered with status 200: heard with Bearer •••"
        #expect(tried.text.contains("notify[1] (webhook \(server.url("/…"))): \(said)"), "\(tried.text)")
        try server.answer(.broken)
        let one = try run("notify", "--test", "1", "--json")
        #expect(
            one.status == 1 && one.text.contains(#""taken":false"#) && one.text.contains("status 500"), "\(one.text)")
        #expect(try run("notify", "--test", "9").text.contains("there is no notify[9]; there are 3"))
        let audit = try run("audit").text
        #expect(audit.contains("notify"), "\(audit)")
        for shown in [tried.text, one.text, audit, try text("log")] { #expect(!shown.contains("t0pS3cr3t")) }
        try stop(&daemon)
    }

    /// More than there are processors: each waits until all have begun.
    @Test func allAreTriedAtOnce() async throws {
        let count = 12
        try script(
            "wait-for-all",
            """
            touch \(scratch.path.string)/begun.$1
            for try in $(seq 200); do
              [ $(ls \(scratch.path.string)/begun.* | wc -l) -ge \(count) ] && exit 0
              sleep 0.1
            done
            exit 1
            """)
        let rules = (1...count).map { "  - { on: failed, to: { run: [wait-for-all, \"\($0)\"] } }" }
        try settings("notify:\n" + rules.joined(separator: "\n"))
        var daemon = try await begin()
        let tried = try run("notify", "--test")
        #expect(tried.status == 0, "\(tried.text)")
        try stop(&daemon)
    }

    @Test(arguments: [
        (NotifyServer.Manner.broken, "it answered with status 500"),
        (.redirecting, "status 302, a redirection to 'http://127.0.0.1"), (.hanging, ""), (.endless, ""),
    ])
    func whatever(theOtherSide manner: NotifyServer.Manner, words: String) async throws {
        try settings("notify: [{ on: failed, to: { ntfy: '\(server.url("/press"))' } }]")
        try server.answer(manner)
        var daemon = try await begin()
        try scratch.write("x", to: "pipelines/press-in/a")
        #expect(try await eventually { try !server.requests.isEmpty })
        for number in 0..<20 { try scratch.write("x", to: "pipelines/press-in/b\(number)") }
        #expect(try await eventually { try run("jobs", "--state", "failed").text.contains("b19") }, "jobs go on")
        if !words.isEmpty {
            #expect(try await eventually { try text("log").contains(words) })
            #expect(try text("log").split(separator: "\n").count { $0.contains("cannot be sent") } == 1)
        }
        // It waits for nobody when it stops.
        try stop(&daemon)
    }

    @Test func whatIsWrongIsRefusedAndWhatIsOddIsAWarning() throws {
        try settings("notify: [{ on: failed, pipelines: [pres], to: { mail: root } }]")
        let check = try run("check")
        #expect(check.status == 0 && check.text.contains("warning: notify[1].pipelines: no pipeline matches 'pres'"))
        try settings("notify: [{ on: failed }]")
        let wrong = try run("check")
        #expect(
            wrong.status == 78 && wrong.text.contains("dropmill.yaml:1:10: error: 'notify[1]' needs 'to'"),
            "\(wrong.text)")
    }
}
