import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// SIGHUP, whenever it comes, and whatever the files have become.
@Suite(.timeLimit(.minutes(5))) struct ReloadSignalTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("a")
    }

    private func write(_ name: String, stages: String = "[checksum]", to file: String? = nil) throws {
        let folders = "inbox: \(name)-in\nprocessed: \(name)-done\nfailed: \(name)-failed\n"
        try scratch.write(
            folders + "ready: { quiet: 50ms }\nstages: \(stages)\n", to: "pipelines/\(file ?? name).yaml")
    }

    private func start(as user: DaemonUser = .caller) async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run"], in: scratch.path, log: scratch.path("log"), wrapper: user.wrapper)
        try #require(await eventually { try daemon.hasLogged("started") })
        return daemon
    }

    private func settles(_ name: String, in inbox: String, as path: String) async throws {
        try scratch.write("x", to: "pipelines/\(inbox)/\(name)")
        #expect(await eventually { scratch.exists(path) })
    }

    @Test func takesWhatTheFilesSayNow() async throws {
        var daemon = try await start()
        try write("a", stages: "[move: { to: a-out }]")
        try write("b")
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("reloaded", "a: changed (stage 1)") })
        #expect(try daemon.hasLogged("reloaded", "b: added"))
        try await settles("one", in: "a-in", as: "pipelines/a-out/one")
        try await settles("two", in: "b-in", as: "pipelines/b-done/two")
        #expect(
            try await eventually { try daemon.hasLogged("processed", "b: two") },
            "a line about a job names its pipeline")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    /// From the beginning of `main` on, many times over, and while it stops.
    @Test func neverEndsIt() async throws {
        for milliseconds in [0, 40, 120] {
            var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log-\(milliseconds)"))
            #expect(try await eventually { try daemon.holdsBack(SIGHUP) })
            // The moment is what is tested; whatever it meets, the outcome is the same.
            poll(nil, 0, Int32(milliseconds))
            for _ in 0..<10 { try daemon.send(SIGHUP) }
            #expect(
                try await eventually { try daemon.hasLogged("reloaded") },
                "after \(milliseconds) ms: \(daemon.transcript)")
            try daemon.send(SIGTERM)
            for _ in 0..<10 { try daemon.send(SIGHUP) }
            #expect(try daemon.wait() == 0, "after \(milliseconds) ms: \(daemon.transcript)")
        }
    }

    /// What a pipeline file can be, and what is said of it.
    enum Bad: String, CaseIterable {
        case halfWritten = "'failed' is missing"
        case empty = "the file is empty"
        case folder = "is a folder"
        case unreadable = "cannot read"
        case gone = "No such file"
        case mountGone = "Transport endpoint is not connected"
        case nameTwice = "the name 'a' is already used by"
    }

    @Test(arguments: Bad.allCases.filter { $0 != .mountGone || SilentMount.isPossible })
    func refusesBadFiles(_ bad: Bad) async throws {
        try write("b")
        var daemon = try await start()
        try write("a", stages: "[move: { to: elsewhere }]")
        let file = scratch.path("pipelines/b.yaml")
        var mount: SilentMount?
        switch bad {
        case .halfWritten: try scratch.write("inbox: b-in\nprocessed: b-do", to: "pipelines/b.yaml")
        case .empty: try scratch.write("", to: "pipelines/b.yaml")
        case .folder:
            try Folder.remove(file)
            try Folder.make(file)
        case .unreadable:
            // Not even root can read this.
            try Folder.remove(file)
            try #require(symlink("/proc/self/mem", file.string) == 0)
        case .gone:
            try Folder.remove(file)
            try #require(symlink("/nowhere/b.yaml", file.string) == 0)
        case .mountGone:
            try Folder.remove(file)
            mount = try SilentMount(at: scratch.path("mount"))
            mount?.giveUp()
            try #require(symlink(scratch.path("mount/b.yaml").string, file.string) == 0)
        case .nameTwice:
            try scratch.write("name: a\n", to: "pipelines/c.yaml")
        }
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("warning", "the reload is refused") })
        #expect(try daemon.hasLogged("warning", bad.rawValue), "\(daemon.transcript)")
        try await settles("one", in: "a-in", as: "pipelines/a-done/one")
        try Folder.remove(file)
        try Folder.remove(scratch.path("pipelines/c.yaml"))
        try write("b")
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("reloaded", "a: changed (stage 1)") })
        try await settles("two", in: "a-in", as: "pipelines/elsewhere/two")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test(.enabled(if: DaemonUser.possible.contains(.ordinary), "needs root and setpriv"))
    func refusesWhatItsUserMayNotRead() async throws {
        let chown = try #require(Tool.find("chown"))
        #expect(try chown.run(["-R", "65534:65534", scratch.path.string]).status == 0)
        var daemon = try await start(as: .ordinary)
        try write("b")
        let file = scratch.path("pipelines/b.yaml")
        #expect(file.withPlatformString { chmod($0, 0o600) } == 0)
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("warning", "the reload is refused") })
        #expect(try daemon.hasLogged("warning", "b.yaml': Permission denied"), "\(daemon.transcript)")
        #expect(file.withPlatformString { chmod($0, 0o644) } == 0)
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("reloaded", "b: added") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    /// The first list is in the folder that was unpacked, which the second one must not find.
    @Test func whatAChangedStageHasAddedIsNotPublished() async throws {
        let gate = try scratch.write("", to: "gate").string
        func write(_ algorithm: String) throws {
            try self.write(
                "a",
                stages: "[unpack, checksum: { algorithm: \(algorithm), manifest: DIGESTS }, "
                    + "run: { command: [sh, -c, 'while [ -e \(gate) ]; do sleep 0.02; done'] }, "
                    + "move: { to: 'out/{stem}' }]")
        }
        try write("sha256")
        var daemon = try await start()
        var zip = ZipBuilder()
        zip.add(Array("file".utf8), content: Array("text".utf8))
        try scratch.write(zip.finished, to: scratch.path("pipelines/a-in/one.zip"))
        let jobs = Tool(DropmillProcess.binary)
        #expect(
            try await eventually { try jobs.run(["show", "one.zip"], in: scratch.path).text.contains("running run") },
            "\(daemon.transcript)")
        try write("sha512")
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("reloaded", "a: changed (stage 2)") })
        try Folder.remove(scratch.path("gate"))
        #expect(await eventually { scratch.exists("pipelines/out/one") })
        #expect(try scratch.tree("pipelines/out/one") == ["DIGESTS", "file"])
        #expect(try scratch.text("pipelines/out/one/DIGESTS").split(separator: " ").first?.count == 128)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}
