import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a daemon that runs bears, and what is told of it.
@Suite(.timeLimit(.minutes(5)), .serialized) struct StandingDaemonTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("a", stages: "[checksum]")
    }

    private func process(_ name: String) async throws {
        try scratch.write("x", to: "pipelines/a-in/\(name)")
        #expect(try await eventually { try run("jobs", "--state", "processed").text.contains(name) })
    }

    // MARK: Signals

    @Test(arguments: [SIGHUP, SIGUSR1, SIGUSR2]) func signalsOfOthersDoNotEndIt(signal: Int32) async throws {
        var daemon = try await start()
        for _ in 0..<3 { try daemon.send(signal) }
        try await process("after")
        func hasReloaded() throws -> Bool { try daemon.hasLogged("reloaded", "nothing was changed") }
        if signal == SIGHUP {
            #expect(try await eventually { try hasReloaded() })
        } else {
            #expect(try !hasReloaded())
        }
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func whatStandsStillIsSaidToStandStill() async throws {
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/.hidden")
        // It watches a moment before it answers.
        #expect(try await eventually { try !run("explain", "pipelines/a-in/file").text.contains("does not answer") })
        try daemon.send(SIGSTOP)
        let words = "the daemon is not responding: process \(daemon.id) is stopped"
        #expect(try run("status").text.contains(words))
        let explain = try run("explain", "pipelines/a-in/file")
        #expect(explain.text.contains(words))
        let doctor = try run("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.text.contains(words))
        #expect(try run("health").text.contains(words))
        let pause = try run("pause", "a")
        #expect(pause.status == 1)
        #expect(pause.text.contains(words) && pause.text.contains("it may still make the change"))
        try daemon.send(SIGCONT)
        #expect(try await eventually { try run("status").text.contains("paused by") }, "what is sent stays sent")
        #expect(try await eventually { try !run("status").text.contains("stands still") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func oneThatStopsSaysSo() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        try daemon.send(SIGTERM)
        #expect(try await eventually { try run("health").text.contains("well: stopping; ") })
        #expect(try run("health").status == 0)
        #expect(try run("status").text.hasPrefix("stopping, running since "))
        let reload = try run("reload")
        #expect(reload.status == 75 && reload.text.contains("the daemon is stopping"), "\(reload.text)")
        try daemon.end()
    }

    // MARK: The state folder

    @Test(.enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func aJournalThatFindsNoRoomIsAProblem() async throws {
        let mount = try TemporaryMount(tmpfs: "size=4m,mode=700", at: scratch.path(".dropmill-state"))
        var daemon = try await start()
        try await process("before")
        let ballast = mount.path.appending("ballast")
        let file = try OpenFile.open(ballast, O_WRONLY | O_CREAT, mode: 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while Glibc.write(file.descriptor, block, block.count) > 0 {}
        try file.close()
        for number in 0..<200 { try scratch.write("x", to: "pipelines/a-in/f\(number)") }
        #expect(try await eventually { try run("doctor").text.contains("the pipeline 'a' is paused") })
        #expect(try run("doctor").status == 1)
        #expect(try run("status").text.contains("paused"))
        let isToldOnce = try await eventually {
            let health = try run("health").text
            return health.contains("the journal cannot be written: ") && !health.contains("a is paused")
        }
        #expect(isToldOnce)
        try Folder.remove(ballast)
        #expect(try await eventually { try scratch.tree("pipelines/a-done").contains("f199") })
        #expect(try await eventually { try !run("status").text.contains("paused") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    /// Where nothing happens, nobody else notices.
    @Test(.enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func anIdleDaemonTriesWhetherItsJournalCanBeWritten() async throws {
        let mount = try TemporaryMount(tmpfs: "size=2m,mode=700", at: scratch.path(".dropmill-state"))
        var daemon = try await start()
        #expect(try run("health").status == 0)
        let ballast = mount.path.appending("ballast")
        let file = try OpenFile.open(ballast, O_WRONLY | O_CREAT, mode: 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while Glibc.write(file.descriptor, block, block.count) > 0 {}
        try file.close()
        #expect(try await eventually { try run("health").text.contains("not well: the journal cannot be written: ") })
        try Folder.remove(ballast)
        #expect(try await eventually { try run("health").status == 0 })
        // It is put back after a while, and goes again.
        let isSaid = try await eventually {
            for name in try Folder.names(in: mount.path) where name.text.hasPrefix("journal") {
                unlink(mount.path.appending(name).string)
            }
            let health = try run("health")
            return health.status == 1 && health.text.contains("was removed or replaced while it is in use")
        }
        #expect(isSaid)
        #expect(try await eventually(within: .seconds(60)) { try run("health").status == 0 })
        try daemon.end()
    }

    @Test(arguments: ["journal", "folder"]) func aJournalThatIsTakenAwayIsPutBack(what: String) async throws {
        var daemon = try await start()
        try await process("before")
        let state = scratch.path(".dropmill-state")
        if what == "folder" {
            try Folder.remove(state)
        } else {
            for name in try Folder.names(in: state) where name.text.hasPrefix("journal") {
                unlink(state.appending(name).string)
            }
        }
        #expect(try run("jobs").status == 1)
        #expect(
            try await eventually(within: .seconds(60)) {
                try daemon.hasLogged("trouble", "the journal was removed or replaced")
            })
        #expect(try run("jobs", "--state", "processed").text.contains("before"), "its history is there")
        #expect(try await eventually { try run("status").text.hasPrefix("running since") })
        try await process("after")
        #expect(try await eventually { try !run("status").text.contains("what waits is not known") })
        // Nobody else may run with it.
        #expect(try run("run", "--once").status == 75)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try run("status").text.contains("the last one stopped"))
    }

    // MARK: Doctor

    @Test func doctorAsksTheDaemonAndTheJournal() async throws {
        try write("b", stages: "[{ run: { command: [sleep, '600'] } }]")
        var daemon = try await start()
        let well = try run("doctor")
        #expect(well.status == 0, "\(well.text)")
        #expect(well.text.contains("running and responding"))
        try scratch.write("x", to: "pipelines/b-in/stranded")
        #expect(try await eventually { try run("jobs", "--state", "running").status == 0 })
        // An inbox that goes is not made again by a daemon that runs.
        try Folder.remove(scratch.path("pipelines/a-in"))
        #expect(try await eventually { try run("status").text.contains("paused since") })
        let gone = try run("doctor")
        #expect(gone.status == 1)
        #expect(gone.text.contains("is missing; the running daemon waits for it"))
        #expect(gone.text.contains("the pipeline 'a' is paused since"))
        try daemon.end()
        // What a daemon was at is of a pipeline that nobody runs any more.
        unlink(scratch.path("pipelines/b.yaml").string)
        let stranded = try run("doctor")
        #expect(stranded.status == 1)
        #expect(stranded.text.contains("1 stranded job of the pipeline 'b'"))
        #expect(!stranded.text.contains("paused since"), "no daemon runs")
        // Its folder is gone.
        try write("b", stages: "[{ run: { command: [sleep, '600'] } }]")
        #expect(try run("doctor").status == 0)
        try Folder.remove(scratch.path("pipelines/.dropmill/b/active"))
        let lost = try run("doctor")
        #expect(lost.status == 1)
        #expect(lost.text.contains("1 stranded job of the pipeline 'b', without a folder"))
    }

    @Test func foldersBehindLinksAreNoProblem() async throws {
        try scratch.makeFolder("real/state")
        try scratch.makeFolder("real/in")
        try scratch.link(".dropmill-state", to: "real/state")
        try scratch.makeFolder("pipelines")
        try scratch.link("pipelines/a-in", to: "../real/in")
        let output = try run("doctor")
        #expect(output.status == 0, "\(output.text)")
        #expect(!output.text.contains("problem"))
    }

    @Test func doctorHasAHelperUnpack() throws {
        try write("a", stages: "[unpack, { move: { to: out } }]")
        let well = try run("doctor")
        #expect(well.status == 0, "\(well.text)")
        #expect(well.text.contains("a confined process unpacks (Landlock"))
        #expect(try scratch.tree().filter { $0.contains("canary") } == [])
        let refused = try Tool(DropmillProcess.built("oldkernel")).run(
            ["capset", DropmillProcess.binary.string, "doctor"], in: scratch.path)
        #expect(refused.status == 1)
        #expect(refused.text.contains("capset is denied: Operation not permitted"))
    }
}
