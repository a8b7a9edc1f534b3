import Dispatch
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import BuiltinStages

@Suite(.serialized) struct ScanStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "letter.doc", Array("harmless".utf8)) }

    /// The test file of all virus scanners, in two parts so that none of them takes this file for it.
    private static let eicar = #"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-"# + "ANTIVIRUS-TEST-FILE!$H+H*"

    @Test(arguments: [
        ("stream: OK", ClamdClient.Verdict.clean), ("stream: Eicar FOUND", .infected("Eicar")),
        ("INSTREAM size limit exceeded. ERROR", .tooLarge), ("stream: x ERROR", .trouble("x ERROR")),
        ("", .trouble("")),
    ])
    func answers(text: String, verdict: ClamdClient.Verdict) {
        #expect(ClamdClient.verdict(text) == verdict)
    }

    @Test(
        .enabled(
            if: access("/usr/sbin/clamd", X_OK) == 0, "needs clamd; install clamav-daemon for it"))
    func aRealClamd() async throws {
        let clamd = try Clamd(fixture.scratch)
        defer { clamd.stop() }
        try #require(await eventually(within: .seconds(60)) { clamd.isUp })
        let options: Options = ["socket": "clamd.ctl"]
        #expect(try fixture.run("scan", options) == fixture.payload)
        let payload = try fixture.folderPayload([
            (Array("good".utf8), "x"), (Array("sub/bad".utf8), Self.eicar),
        ])
        let failure = try fixture.failure("scan", options, on: payload)
        #expect(failure.class == .file)
        #expect(failure.summary == "'sub/bad' of 'letter.doc' is infected: Test.EICAR.UNOFFICIAL.")
        // Longer than StreamMaxLength.
        let large = try fixture.folderPayload([(Array("large".utf8), String(repeating: "x", count: 2 << 20))])
        try Folder.remove(large.root.pushing("sub/bad"))
        #expect(try fixture.failure("scan", options, on: large).code == "scan.too-large")
        try fixture.run("scan", ["socket": "clamd.ctl", "too_large": "pass"], on: large)
    }

    /// A clamd that knows nothing but the test file.
    private final class Clamd {
        private let process: pid_t
        private let socket: FilePath

        init(_ scratch: ScratchFolder) throws {
            socket = scratch.path("clamd.ctl")
            try scratch.write("44d88612fea8a8f36de82e1278abb02f:68:Test.EICAR\n", to: "signatures/test.hdb")
            let lines = [
                "LocalSocket \(socket.string)", "DatabaseDirectory \(scratch.path("signatures").string)",
                "Foreground yes", "StreamMaxLength 1M", "User root",
            ]
            try scratch.write(lines.joined(separator: "\n") + "\n", to: "clamd.conf")
            let null = open("/dev/null", O_WRONLY)
            defer { close(null) }
            process = try ChildProcess.spawn(
                "/usr/sbin/clamd", [Array("-c".utf8), scratch.path("clamd.conf").bytes], output: null, error: null)
        }

        var isUp: Bool { Folder.kind(of: socket) == .special }

        func stop() {
            kill(process, SIGKILL)
            do throws(IOError) { _ = try ChildProcess.wait(for: process, of: "clamd") } catch {
                // It is gone either way.
            }
        }
    }
}
