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
        ("fd[12]: OK", .clean), ("fd[12]: Eicar FOUND", .infected("Eicar")),
        ("fd[12]: Heuristics.Limits.Exceeded.MaxFileSize FOUND", .tooLarge),
        ("INSTREAM size limit exceeded. ERROR", .tooLarge), ("stream: x ERROR", .trouble("x ERROR")),
        ("", .trouble("")),
    ])
    func answers(text: String, verdict: ClamdClient.Verdict) {
        #expect(ClamdClient.verdict(text) == verdict)
    }

    // MARK: A clamd that tells what it was asked

    private func scan(_ clamd: FakeClamd, at socket: String? = nil, on payload: Payload? = nil) throws {
        try fixture.run("scan", ["socket": .text(socket ?? clamd.socket)], on: payload)
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func filesAreHandedToAClamdOfThisHost() async throws {
        let clamd = try await FakeClamd(fixture.scratch)
        try scan(clamd)
        #expect(try clamd.commands == ["FILDES"])
        let bad = try fixture.folderPayload([(Array("bad".utf8), Self.eicar)])
        #expect(throws: StageFailure.self) { try scan(clamd, on: bad) }
        #expect(try clamd.commands == ["FILDES", "FILDES"])
    }

    /// What clamd might pass without a look is sent, so that it says where it is too large for it.
    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func largeFilesAreSent() async throws {
        let clamd = try await FakeClamd(fixture.scratch)
        let payload = try fixture.folderPayload([(Array("large".utf8), "")])
        truncate(payload.root.appending("large").string, 25 << 20 + 1)
        let failure = #expect(throws: StageFailure.self) { try scan(clamd, on: payload) }
        #expect(failure?.code == "scan.too-large")
        #expect(try clamd.commands == ["INSTREAM"])
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func filesAreSentToAClamdThatCannotTakeThem() async throws {
        let clamd = try await FakeClamd(fixture.scratch, .streamsOnly)
        try scan(clamd)
        #expect(try clamd.commands == ["FILDES", "INSTREAM"])
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func filesAreSentToAnotherHost() async throws {
        let clamd = try await FakeClamd(fixture.scratch)
        try scan(clamd, at: clamd.port)
        #expect(try clamd.commands == ["INSTREAM"])
        let bad = try fixture.folderPayload([(Array("bad".utf8), Self.eicar)])
        let failure = #expect(throws: StageFailure.self) { try scan(clamd, at: clamd.port, on: bad) }
        #expect(failure?.code == "scan.infected")
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func aFileOfManyNamesIsLookedAtOnce() async throws {
        let clamd = try await FakeClamd(fixture.scratch)
        let payload = try fixture.folderPayload([(Array("0".utf8), "harmless")])
        for number in 1..<500 {
            #expect(link(payload.root.appending("0").string, payload.root.appending("\(number)").string) == 0)
        }
        try scan(clamd, on: payload)
        // Several threads may meet it at the same time.
        #expect(try clamd.commands.count <= sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func aClamdThatNeverAnswersIsLeft() async throws {
        let clamd = try await FakeClamd(fixture.scratch, .silent)
        let cancellation = Cancellation()
        let commands = fixture.scratch.path("clamd/commands")
        DispatchQueue(label: "watcher").async { @Sendable in
            while Self.isEmpty(commands) { sched_yield() }
            cancellation.cancel()
        }
        #expect(throws: StageFailure.cancelled) {
            try fixture.run("scan", ["socket": .text(clamd.socket)], cancellation: cancellation)
        }
    }

    private static func isEmpty(_ path: FilePath) -> Bool {
        var status = stat()
        return stat(path.string, &status) != 0 || status.st_size == 0
    }

    @Test(arguments: ["", "host:", ":3310", "host:99999", "host:port"])
    func wrongAddresses(text: String) {
        #expect(throws: OptionProblem.self) { try fixture.stage("scan", ["socket": .text(text)]) }
    }

    // MARK: The real one

    @Test(
        .enabled(
            if: access("/usr/sbin/clamd", X_OK) == 0, "needs clamd; install clamav-daemon for it"))
    func aRealClamd() async throws {
        let clamd = try Clamd(fixture.scratch)
        defer { clamd.stop() }
        try #require(await eventually(within: .seconds(60)) { clamd.isUp })
        let options: Options = ["socket": "clamd.ctl"]
        #expect(try fixture.run("scan", options) == fixture.payload)
        // A file that nobody else may open is looked at, too.
        chmod(fixture.job.original.string, 0o600)
        let payload = try fixture.folderPayload([
            (Array("good".utf8), "x"), (Array("sub/bad".utf8), Self.eicar),
        ])
        let failure = try fixture.failure("scan", options, on: payload)
        #expect(failure.class == .file)
        #expect(failure.summary == "'sub/bad' of 'letter.doc' is infected: Test.EICAR.UNOFFICIAL.")
        // Longer than StreamMaxLength.
        let large = try fixture.folderPayload([(Array("large".utf8), "")])
        truncate(large.root.appending("large").string, 27 << 20)
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
                "Foreground yes", "StreamMaxLength 26M", "User root",
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

extension ScanStage: ContractSubject {
    static var contract: StageContract {
        StageContract(
            server: StageContract.Server(
                start: { fixture, isSilent in
                    let clamd = try await FakeClamd(fixture.scratch, isSilent ? .silent : .usual)
                    return (["socket": .text(clamd.socket)], clamd)
                }, absent: ["socket": "no/such/socket"], failure: .environment),
            work: .plainFile, sign: StageContract.Sign(path: "clamd/commands"))
    }
}
