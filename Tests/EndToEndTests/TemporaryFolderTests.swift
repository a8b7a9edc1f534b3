import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// libarchive keeps the content of a 7z in `$TMPDIR` while it is made.
@Suite(.timeLimit(.minutes(5))) struct TemporaryFolderTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 200ms }
            retry: { attempts: 2, backoff: 100ms }
            stages:
              - compress: { format: 7z }
              - move: { to: ../output }
            """, to: "pipelines/main.yaml")
        var generator = SeededGenerator(seed: 7)
        let noise = (0..<(1 << 20)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try scratch.write(noise, to: scratch.path("inbox/drop"))
    }

    private func start(_ arguments: [String], temporary folder: String) throws -> DropmillProcess {
        let variable = "TMPDIR=" + scratch.path(folder).string
        return try DropmillProcess(
            arguments, in: scratch.path, log: scratch.path("log"), wrapper: ["/usr/bin/env", variable])
    }

    @Test("Nothing of it stays there")
    func staysClean() throws {
        try scratch.makeFolder("temporary")
        var once = try start(["run", "--once"], temporary: "temporary")
        #expect(try once.wait() == 0, "\(once.transcript)")
        #expect(try scratch.tree("output") == ["drop.7z"])
        #expect(try scratch.tree("temporary") == [])
    }

    @Test("A folder that cannot be written to is nobody's fault but its own, and is waited for")
    func missing() async throws {
        var daemon = try start(["run", "--log-format", "json"], temporary: "temporary")
        #expect(try await eventually { try daemon.hasLogged("paused", scratch.path("temporary").string) })
        #expect(try scratch.tree("failed") == [])
        try scratch.makeFolder("temporary")
        #expect(await eventually { scratch.exists("output/drop.7z") }, "\(daemon.transcript)")
        try daemon.end()
    }

    @Test(
        "Where others filled it, everything waits until there is room again, and the message says which folder it is",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func full() async throws {
        let mount = try TemporaryMount(tmpfs: "size=2m", at: scratch.path("temporary"))
        defer { withExtendedLifetime(mount) {} }
        let ballast = try scratch.write([UInt8](repeating: 1, count: 3 << 19), to: scratch.path("temporary/ballast"))
        var daemon = try start(["run", "--log-format", "json"], temporary: "temporary")
        #expect(try await eventually { try daemon.hasLogged("paused", "No space left on device") })
        #expect(try daemon.hasLogged("paused", scratch.path("temporary").string))
        #expect(try scratch.tree("failed") == [])
        #expect(try scratch.tree("temporary") == ["ballast"])
        try Folder.remove(ballast)
        #expect(await eventually { scratch.exists("output/drop.7z") }, "\(daemon.transcript)")
        #expect(try scratch.tree("temporary") == [])
        try daemon.end()
    }
}
