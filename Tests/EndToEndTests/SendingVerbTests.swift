import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// `retry` and `replay` of a daemon that runs.
@Suite(.timeLimit(.minutes(5))) struct SendingVerbTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("a", stages: "[run: { command: [test, -e, \(scratch.path.string)/mended] }]")
    }

    /// A daemon with failed jobs of these names.
    private func start(failed names: [String]) async throws -> DropmillProcess {
        let daemon = try await start()
        for name in names { try scratch.write(name, to: "pipelines/a-in/\(name)") }
        try #require(try await eventually { try count("failed") == names.count }, "\(daemon.transcript)")
        try scratch.write("", to: "mended")
        return daemon
    }

    private func count(_ state: String) throws -> Int {
        try run("jobs", "--state", state).text.split(separator: "\n").dropFirst().count
    }

    /// A client that is asked to send all in, at that pace, once it has told of the first.
    private func client(_ rate: String) async throws -> DropmillProcess {
        let client = try DropmillProcess(
            ["retry", "--failed", "--rate", rate], in: scratch.path, log: scratch.path("client"))
        try #require(try await eventually { try client.text().contains("→") }, "\(client.transcript)")
        return client
    }

    private func audit(_ text: String) throws -> Bool { try run("audit").text.contains(text) }

    @Test func theDaemonSendsInWhatWasAskedFor() async throws {
        var daemon = try await start(failed: ["one", "two", "three"])
        let dry = try run("retry", "--failed", "--limit", "2", "--dry-run")
        #expect(dry.status == 0 && dry.text.hasPrefix("2 jobs, "), "\(dry.text)")
        let told = try run("retry", "--failed", "--dry-run", "--json")
        let summary = #"{"jobs":3,"bytes":11,"names":["one","two","three"],"sent":[],"problems":[]}"#
        #expect(told.status == 0 && told.text.hasPrefix(summary), "\(told.text)")
        #expect(try !audit(" retry "), "nothing was changed")
        let all = try run("retry", "--failed")
        #expect(all.status == 0, "\(all.text)")
        #expect(all.text.split(separator: "\n").count == 3 && all.text.contains(" two → "), "\(all.text)")
        #expect(try await eventually { try count("processed") == 3 }, "\(daemon.transcript)")
        #expect(try audit("3 sent; "))
        let again = try run("retry", "nothing", "--json")
        #expect(again.status == 1 && again.text.contains(#""problems":[{"job":"nothing","#), "\(again.text)")
        let replayed = try run("replay", "two")
        #expect(replayed.status == 0 && replayed.text.contains(" two → "), "\(replayed.text)")
        #expect(try await eventually { try scratch.tree("pipelines/a-done").count == 4 })
        #expect(try run("show", "two").text.contains("replay of"))
        #expect(try audit(" replay "))
        let none = try run("retry", "--failed", "--name", "*.pdf")
        #expect(
            none.status == 1 && none.text == "no failed job that matches has its original in place\n", "\(none.text)")
        try stop(&daemon)
    }

    @Test func itGoesOnWithoutWhoAsked() async throws {
        var daemon = try await start(failed: ["1", "2", "3"])
        var client = try await client("12/m")
        try client.end()
        #expect(client.transcript.split(separator: "\n").count < 3, "it was not told of all")
        #expect(try await eventually { try audit("3 sent; ") }, "\(daemon.transcript)")
        #expect(try await eventually { try count("processed") == 3 })
        try stop(&daemon)
    }

    @Test func whoAskedCanEndIt() async throws {
        var daemon = try await start(failed: ["1", "2", "3"])
        var client = try await client("1/h")
        try client.send(SIGINT)
        #expect(try client.wait() == 1)
        #expect(client.transcript.contains("error: it was halted; 2 jobs are not sent in"), "\(client.transcript)")
        #expect(try audit("1 sent, 2 left; "))
        let late = try run("retry", "--failed", "--limit", "1")
        #expect(late.status == 0, "\(late.text)")
        try stop(&daemon)
    }

    @Test func whoeverMayCanEndIt() async throws {
        var daemon = try await start(failed: ["1", "2", "3"])
        var client = try await client("1/h")
        let status = try run("status").text
        let line = try #require(status.split(separator: "\n").first { $0.contains(" is under way, 2 jobs are left") })
        let id = String(line.split(separator: " ")[1])
        #expect(line == "retry \(id) is under way, 2 jobs are left; 'dropmill halt \(id)' ends it")
        #expect(try run("status", "--json").text.contains(#""runs":[{"run":"\#(id)","verb":"retry","left":2}]"#))
        let strange = try run("halt", "xyz")
        #expect(strange.status == 1 && strange.text.contains("no run 'xyz' is under way"), "\(strange.text)")
        let halted = try run("halt")
        #expect(halted.status == 0 && halted.text == "\(id): ends after the job at hand\n", "\(halted.text)")
        #expect(try client.wait() == 1)
        #expect(client.transcript.contains("error: it was halted; 2 jobs are not sent in"), "\(client.transcript)")
        #expect(try audit("--failed --rate 1/h → 1 sent, 2 left; ") && audit("halt"))
        #expect(try !run("status").text.contains("under way"))
        #expect(try run("halt").text.contains("no run is under way"))
        try stop(&daemon)
    }

    @Test func withoutADaemonASignalEndsItToo() async throws {
        var daemon = try await start(failed: ["1", "2", "3"])
        try stop(&daemon)
        var client = try await client("1/h")
        try client.send(SIGINT)
        #expect(try client.wait() == 1)
        #expect(
            client.transcript.contains("error: it was interrupted; 2 jobs are not sent in"), "\(client.transcript)")
        #expect(try audit("1 sent, 2 left; "))
    }

    @Test func aStopEndsIt() async throws {
        var daemon = try await start(failed: ["1", "2", "3"])
        var client = try await client("1/h")
        try stop(&daemon)
        #expect(try client.wait() == 1)
        #expect(
            client.transcript.contains("error: the daemon stops; 2 jobs are not sent in"), "\(client.transcript)")
        #expect(try audit("1 sent, 2 left; "))
        let rest = try run("retry", "--failed")
        #expect(rest.status == 0 && rest.text.split(separator: "\n").count == 2, "\(rest.text)")
    }
}
