import Glibc
import SystemPackage
import TestSupport
import Testing

/// The daemon on a kernel without Landlock: no archive is unpacked, and it says what is missing; or, where that is not
/// required, all are, and it says so once. And on one without openat2, where nothing is amiss.
@Suite(.timeLimit(.minutes(5))) struct SandboxTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox")
    }

    private func daemon(_ options: String, kernel: String? = "landlock") throws -> DropmillProcess {
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 20ms }
            stages:
              - unpack: { \(options) }
              - move: { to: "../output/{stem}" }

            """,
            to: "pipelines/main.yaml")
        let wrapper = kernel.map { [DropmillProcess.built("oldkernel").string, $0] } ?? []
        return try DropmillProcess(
            ["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"), wrapper: wrapper)
    }

    private func drop(_ name: String) throws {
        var zip = ZipBuilder()
        zip.add("file", content: name)
        // Not there before it is whole.
        let outside = try scratch.write(zip.finished, to: scratch.path("outside"))
        let target = scratch.path("inbox/\(name).zip")
        try #require(outside.withPlatformString { old in target.withPlatformString { rename(old, $0) } } == 0)
    }

    private func count(_ text: String, in daemon: DropmillProcess) throws -> Int {
        try daemon.text().split(separator: "\n").count { $0.contains(text) }
    }

    @Test func itSaysSoOnceAndGoesOn() async throws {
        var daemon = try daemon("require_sandbox: false")
        for name in ["one", "two", "three"] {
            try drop(name)
            let isThere = await eventually { scratch.exists("output/\(name)/file") }
            try #require(isThere, "\(daemon.transcript)")
        }
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try count("confined by its list of system calls alone", in: daemon) == 1, "\(daemon.transcript)")
        #expect(try count("the daemon runs as root", in: daemon) == (geteuid() == 0 ? 1 : 0))
        #expect(try count("\"event\":\"paused\"", in: daemon) == 0)
    }

    @Test func whereItIsRequiredNothingIsUnpacked() async throws {
        var daemon = try daemon("require: true")
        try drop("one")
        let isPaused = try await eventually { try daemon.hasLogged("paused", "the kernel has no Landlock") }
        #expect(isPaused, "\(daemon.transcript)")
        #expect(try daemon.hasLogged("paused", "require_sandbox: false"), "it says what can be done")
        #expect(try daemon.hasLogged("paused", "unpack.no-sandbox"))
        #expect(!scratch.exists("output/one") && !scratch.exists("failed/one.zip"))
        try daemon.end()

        // The same folders on a kernel that has it: nothing was lost.
        daemon = try self.daemon("require_sandbox: true", kernel: nil)
        let isThere = await eventually { scratch.exists("output/one/file") && scratch.exists("processed/one.zip") }
        #expect(isThere, "\(daemon.transcript)")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try count("confined by its list of system calls alone", in: daemon) == 0)
    }

    /// As below systemd's RestrictSUIDSGID= and DynamicUser=.
    @Test func withoutOpenat2() async throws {
        var daemon = try daemon("require: true", kernel: "openat2")
        try drop("one")
        let isThere = await eventually { scratch.exists("output/one/file") && scratch.exists("processed/one.zip") }
        #expect(isThere, "\(daemon.transcript)")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}
