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
        #expect(none.status == 1 && none.text == "no failed job has its original in place\n", "\(none.text)")
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
