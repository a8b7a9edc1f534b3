import Glibc
import SystemPackage
import TestSupport
import Testing

/// Folders of the senders that the daemon may read but not change.
@Suite(.timeLimit(.minutes(5))) struct RightsTests {
    /// Root without the capabilities that make it root for files is a user like any other.
    private static let isPossible = geteuid() == 0 && Tool.find("setpriv") != nil

    @Test(
        "A folder in the inbox that is not to be changed holds up nobody else, and is tried again when it is",
        .enabled(if: isPossible, "needs root, and setpriv"))
    func closedFolder() async throws {
        let scratch = try ScratchFolder()
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            match: { depth: all }
            ready: { quiet: 200ms }
            stages: [checksum]

            """,
            to: "pipelines/main.yaml")
        try scratch.write("1", to: "inbox/theirs/a")
        let theirs = scratch.path("inbox/theirs")
        #expect(theirs.withPlatformString { chown($0, 65534, 65534) } == 0)
        let capabilities = "-dac_override,-dac_read_search"
        var daemon = try DropmillProcess(
            ["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"),
            wrapper: [
                try #require(Tool.find("setpriv")).path.string, "--inh-caps=\(capabilities)",
                "--bounding-set=\(capabilities)",
            ])
        #expect(try await eventually { try daemon.hasLogged("refused", "is not allowed to move it out of its folder") })
        try scratch.write("1", to: "inbox/b")
        #expect(await eventually { scratch.exists("processed/b") })
        #expect(scratch.exists("inbox/theirs/a"))
        #expect(theirs.withPlatformString { chmod($0, 0o777) } == 0)
        #expect(await eventually { scratch.exists("processed/theirs/a") })
        #expect(try !daemon.hasLogged("paused"))
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}
