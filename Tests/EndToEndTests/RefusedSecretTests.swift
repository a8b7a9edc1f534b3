import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What is told of files with secrets that are refused, and of tokens; and of a run that waits for its limit.
@Suite(.timeLimit(.minutes(5))) struct RefusedSecretTests {
    private static let marker = "Zq7Xw9Kj2v"
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func write(_ stage: String, more: String = "") throws {
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 50ms }\n\(more)stages: [\(stage)]\n",
            to: "pipelines/press.yaml")
    }

    private func run(_ arguments: String...) throws -> (status: Int32, text: String) {
        let run = try Tool(DropmillProcess.binary).run(arguments, in: scratch.path)
        return (run.status, run.text)
    }

    @Test func aRefusedReloadTellsNoSecretAnywhere() async throws {
        try write("checksum")
        try scratch.write(
            "notify:\n  - { on: [reload-refused], to: { run: [tee, \(scratch.path("told").string)] } }\n",
            to: "pipelines/dropmill.yaml")
        var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
        try #require(await eventually { scratch.exists(".dropmill-state/control.sock") }, "\(daemon.transcript)")
        let secret = Self.marker
        for stage in [
            #"http: { url: "https://h.example/", headers: { "Authorization: Bearer \#(secret)" } }"#,
            #"http: "https://u:\#(secret)@h.example/x""#, #"http: { url: "https://u:a \#(secret)@h.example/x" }"#,
            #"run: { command: x, env: { "TOKEN=\#(secret)" } }"#,
        ] {
            try write(stage)
            let (check, reload) = (try run("check", "pipelines"), try run("reload"))
            #expect(check.status != 0 && check.text.contains("press.yaml:") && !check.text.contains(secret), "\(check)")
            #expect(reload.status != 0 && reload.text.contains("press.yaml:"), "\(reload)")
            #expect(!reload.text.contains(secret), "\(reload)")
        }
        #expect(await eventually { scratch.exists("told") })
        let audit = try run("audit", "--json").text
        #expect(audit.contains("reload") && !audit.contains(secret), "\(audit)")
        #expect(try !scratch.text("told").contains(secret))
        try write("chekcsum")
        #expect(try run("reload").text.contains("unknown stage 'chekcsum'; did you mean 'checksum'?"))
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(!daemon.transcript.contains(secret), "\(daemon.transcript)")
    }

    @Test func tokensThatCannotBeReadAreNotTakenForNone() throws {
        let none = try run("token", "list", "--token-dir", "nowhere")
        #expect(none.status == 0 && none.text.contains("nowhere', which is not there"), "\(none)")
        try scratch.makeFolder("tokens")
        let empty = try run("token", "list", "--token-dir", "tokens")
        #expect(empty.status == 0 && empty.text.contains("no token was given out in '"), "\(empty)")
        guard geteuid() != 0 else { return }
        chmod(scratch.path("tokens").string, 0)
        defer { chmod(scratch.path("tokens").string, 0o700) }
        let closed = try run("token", "list", "--token-dir", "tokens")
        #expect(closed.status == 78 && closed.text.contains("cannot be read: Permission denied; be root"), "\(closed)")
    }

    @Test func aRunThatWaitsForItsLimitSaysSo() async throws {
        try write("checksum", more: "limit: { jobs: 1/d }\n")
        for name in ["a", "b", "c"] { try scratch.write(name, to: "pipelines/in/\(name)") }
        var daemon = try DropmillProcess(["run", "--once"], in: scratch.path, log: scratch.path("log"))
        #expect(
            try await eventually {
                try daemon.text().contains("2 complete drops wait for 'limit.jobs: 1/d', the next one for ")
            }, "\(daemon.transcript)")
        try daemon.send(SIGTERM)
        _ = try daemon.wait()
    }
}
