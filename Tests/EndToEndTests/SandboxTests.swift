import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// The daemon on a kernel without Landlock: archives are unpacked all the same, and it says once what is missing; or,
/// where that is required, none is.
@Suite(.timeLimit(.minutes(5))) struct SandboxTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox")
    }

    private func daemon(requiring: Bool, hasLandlock: Bool = false) throws -> DropmillProcess {
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 20ms }
            stages:
              - unpack: { require_sandbox: \(requiring) }
              - move: { to: "../output/{stem}" }

            """,
            to: "pipelines/main.yaml")
        let wrapper = hasLandlock ? [] : [DropmillProcess.built("oldkernel").string, "landlock"]
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
        var daemon = try daemon(requiring: false)
        for name in ["one", "two", "three"] {
            try drop(name)
            let isThere = await eventually { scratch.exists("output/\(name)/file") }
            try #require(isThere, "\(daemon.transcript)")
        }
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try count("this kernel has no Landlock", in: daemon) == 1, "\(daemon.transcript)")
        #expect(try count("\"event\":\"paused\"", in: daemon) == 0)
    }

    @Test func whereItIsRequiredNothingIsUnpacked() async throws {
        var daemon = try daemon(requiring: true)
        try drop("one")
        let isPaused = try await eventually { try daemon.hasLogged("paused", "the kernel has no Landlock") }
        #expect(isPaused, "\(daemon.transcript)")
        #expect(try daemon.hasLogged("paused", "require_sandbox: false"), "it says what can be done")
        #expect(try daemon.hasLogged("paused", "unpack.no-sandbox"))
        #expect(!scratch.exists("output/one") && !scratch.exists("failed/one.zip"))
        try daemon.end()

        // The same folders on a kernel that has it: nothing was lost.
        daemon = try self.daemon(requiring: true, hasLandlock: true)
        let isThere = await eventually { scratch.exists("output/one/file") && scratch.exists("processed/one.zip") }
        #expect(isThere, "\(daemon.transcript)")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try count("this kernel has no Landlock", in: daemon) == 0)
    }
}
