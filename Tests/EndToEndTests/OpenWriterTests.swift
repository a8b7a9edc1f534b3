import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// How the daemon finds out who writes, and that nobody's lease can end it.
@Suite(.timeLimit(.minutes(5))) struct OpenWriterTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 200ms }
            stages: [checksum]

            """,
            to: "pipelines/main.yaml")
    }

    private func daemon(wrapper: [String] = []) async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"), wrapper: wrapper)
        try #require(await eventually { try daemon.hasLogged("started") })
        return daemon
    }

    @Test("It says once by which means writers are seen, and outlives the signal of a broken lease")
    func leases() async throws {
        var daemon = try await daemon()
        try scratch.write("1", to: "inbox/a")
        #expect(await eventually { scratch.exists("processed/a") })
        try daemon.send(SIGIO)
        try scratch.write("2", to: "inbox/b")
        #expect(await eventually { scratch.exists("processed/b") })
        #expect(try !daemon.hasEnded())
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try daemon.text().split(separator: "\n").count { $0.contains("\"means\":\"leases\"") } == 1)
    }

    /// Root without CAP_LEASE gets no lease on the files of others, but sees all processes.
    private static let isPossible =
        geteuid() == 0 && Tool.find("setpriv") != nil
        && Folder.kind(of: "/proc/1/fd", followingLinks: true) == .folder

    @Test(
        "Where leases are refused, the processes are looked at", .enabled(if: isPossible, "needs root, and setpriv"))
    func processes() async throws {
        let setpriv = try #require(Tool.find("setpriv")).path.string
        var daemon = try await daemon(wrapper: [setpriv, "--inh-caps=-lease", "--bounding-set=-lease"])
        let path = try scratch.write("1", to: "outside")
        #expect(path.withPlatformString { chown($0, 65534, 65534) } == 0)
        let writer = try OpenFile.open(path, O_WRONLY | O_APPEND)
        let target = scratch.path("inbox/held")
        #expect(path.withPlatformString { old in target.withPlatformString { rename(old, $0) } } == 0)
        let other = try scratch.write("1", to: "other")
        #expect(other.withPlatformString { chown($0, 65534, 65534) } == 0)
        let free = scratch.path("inbox/free")
        #expect(other.withPlatformString { old in free.withPlatformString { rename(old, $0) } } == 0)

        #expect(await eventually { scratch.exists("processed/free") })
        #expect(scratch.exists("inbox/held"))
        try writer.write(Array("2".utf8))
        try writer.close()
        #expect(await eventually { scratch.exists("processed/held") })
        #expect(try scratch.text("processed/held") == "12")
        #expect(try daemon.hasLogged("writers", "\"means\":\"processes\""))
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test(
        "Where /proc hides the processes of others, a look at the rest of them says nothing",
        .enabled(if: isPossible && TemporaryMount.isPossible, "needs root, setpriv and mounts"))
    func hidden() async throws {
        let script = """
            mount -t proc -o hidepid=2 proc /proc
            exec setpriv --regid 65534 --clear-groups \\
                --inh-caps=-lease,-sys_ptrace --bounding-set=-lease,-sys_ptrace "$@"
            """
        var daemon = try await daemon(
            wrapper: [try #require(Tool.find("unshare")).path.string, "-m", "/bin/sh", "-euc", script, "sh"])
        let path = try scratch.write("1", to: "outside")
        #expect(path.withPlatformString { chown($0, 65534, 65534) } == 0)
        let target = scratch.path("inbox/a")
        #expect(path.withPlatformString { old in target.withPlatformString { rename(old, $0) } } == 0)
        #expect(await eventually { scratch.exists("processed/a") })
        #expect(try await eventually { try daemon.hasLogged("writers", "\"means\":\"quiet\"") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}
