import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// `release` with a daemon that runs, and without one.
@Suite(.timeLimit(.minutes(5))) struct ReleaseVerbTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("b", stages: "[checksum]")
    }

    /// A daemon with one job that runs as long as there is no file 'go', and others that wait.
    private func start(_ names: [String]) async throws -> DropmillProcess {
        try write(
            "a", stages: "[run: { command: [sh, -c, 'until [ -e \(scratch.path.string)/go ]; do sleep 0.05; done'] }]")
        let daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/busy")
        try #require(try await eventually { try run("jobs", "--state", "running").text.contains("busy") })
        for name in names {
            try scratch.write(name, to: "pipelines/a-in/\(name)")
            try #require(try await eventually { try run("jobs", "--state", "queued").text.contains(name) })
        }
        return daemon
    }

    @Test func aPausedPipelineGivesItsJobsBackAndARemovedOneToo() async throws {
        var daemon = try await start(["one", "two"])
        let early = try run("release", "one")
        #expect(early.status == 1 && early.text.contains("pause it first: dropmill pause a"), "\(early.text)")
        let refused = try run("release", "--pipeline", "a", "--dry-run")
        #expect(
            refused.status == 1 && refused.text.contains("3 jobs, 7 B: busy, one, two: 'a' would claim"),
            "\(refused.text)")
        let cancelled = try run("cancel", "--pipeline", "a", "--dry-run")
        #expect(cancelled.status == 0 && cancelled.text.hasPrefix("3 jobs, 7 B: busy, one, two"), "\(cancelled.text)")
        #expect(try run("pause", "a").status == 0)
        let busy = try run("release", "busy")
        #expect(busy.status == 1 && busy.text.contains("a stage of it is running"), "\(busy.text)")
        #expect(try run("release", "--pipeline", "a", "--name", "o*", "--dry-run").text.contains("1 job, 3 B: one"))
        let one = try run("release", "one")
        #expect(one.status == 0 && one.text.contains("its drop goes back into '"), "\(one.text)")
        #expect(await eventually { scratch.exists("pipelines/a-in/one") })
        #expect(try await eventually { try run("jobs", "--code", "operator.released").text.contains("one") })
        #expect(try run("show", "one").text.contains("released: by "))
        #expect(try run("health", "--max-failed", "0").status == 0, "it has not failed")
        #expect(try !run("show", "one").text.contains("dropmill retry"))
        #expect(try run("status", "--json").text.contains(#""failed":0"#))
        #expect(daemon.transcript.contains(#""event":"released""#))
        let retried = try run("retry", "one")
        #expect(retried.status == 1 && retried.text.contains("it was released: its drop went back to '"))

        try Folder.remove(scratch.path("pipelines/a.yaml"))
        #expect(try run("reload").text.contains("a: removed"))
        try scratch.write("", to: "go")
        #expect(try await eventually { try run("release", "two").status == 0 }, "\(daemon.transcript)")
        #expect(try scratch.text("pipelines/a-in/two") == "two")
        // Its stage has ended, and nothing of it is published any more.
        #expect(try run("release", "busy").text.contains("a-in/busy'"))
        let again = try run("release", "--pipeline", "a")
        #expect(again.status == 1 && again.text.contains("no unfinished job matches"), "\(again.text)")
        let audit = try run("audit").text
        #expect(audit.contains(" release ") && audit.contains("released: its drop is '"), "\(audit)")
        #expect(try scratch.tree("pipelines/a-failed") == [])
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func withoutADaemonItIsDoneAtOnce() async throws {
        var daemon = try await start(["one", "two"])
        try daemon.end()
        #expect(try run("cancel", "two").status == 0)
        for dry in [["--dry-run"], []] {
            let cancelled = try Tool(DropmillProcess.binary).run(["release", "two"] + dry, in: scratch.path)
            #expect(cancelled.status == 1 && cancelled.text.contains("it is cancelled"), "\(cancelled.text)")
        }
        try scratch.write("another", to: "pipelines/a-in/one")
        #expect(try run("release", "--state", "queued,running", "--dry-run").text.contains("2 jobs, 4 B: busy, one"))
        let released = try run("release", "--state", "queued,running")
        #expect(released.status == 0 && released.text.contains("a-in/one.2'"), "\(released.text)")
        #expect(try scratch.tree("pipelines/a-in") == ["busy", "one", "one.2"])
        #expect(try scratch.text("pipelines/a-in/one.2") == "one")
        #expect(try run("audit").text.contains("released: its drop is '"))
        #expect(try run("release", "one").text.contains("is over: failed"))
        try scratch.write("", to: "go")
        #expect(try run("run", "--once").status == 1, "one was cancelled")
        #expect(try scratch.tree("pipelines/a-done") == ["busy", "one", "one.2"])
        #expect(try scratch.tree("pipelines/a-failed") == ["two", "two.error.json"])
    }
}
