import Dispatch
import Files
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
        // The second is the file that shows whether it looks at all.
        #expect(try clamd.commands == ["FILDES", "FILDES"])
        let bad = try fixture.folderPayload([(Array("bad".utf8), Self.eicar)])
        #expect(throws: Failure.self) { try scan(clamd, on: bad) }
        #expect(try clamd.commands == ["FILDES", "FILDES", "FILDES"])
    }

    /// Why a stage, which remembers what it was told before, does not take a payload; nil where it does.
    private func outcome(of stage: any Stage, on payload: Payload) throws -> Failure? {
        let context = StageContext(
            job: .init(of: fixture.job), disk: .init(scratch: fixture.job.scratch(stage: 0, kind: "scan")))
        do throws(Failure) {
            _ = try stage.run(payload, in: context)
            return nil
        } catch {
            return error
        }
    }

    /// What exceeds its limits clamd reports larger ones as clean unscanned, and nothing tells what they are.
    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"), arguments: [FakeClamd.Manner.shortSighted, .frank])
    func whatClamdDoesNotLookAtIsNotClean(manner: FakeClamd.Manner) async throws {
        let clamd = try await FakeClamd(fixture.scratch, manner)
        let payload = try fixture.folderPayload([(Array("file".utf8), "")])
        let stage = try fixture.stage("scan", ["socket": .text(clamd.socket)])
        // It looks at 3 MB, and at nothing larger.
        for (size, isTaken) in [(10, true), (2_900_000, true), (2_900_001, true), (3_000_001, false), (4 << 20, false)]
        {
            truncate(payload.root.appending("file").string, size)
            let failure = try outcome(of: stage, on: payload)
            #expect(failure?.code == (isTaken ? nil : "scan.too-large"), "\(size)")
        }
        // Known by then: no file is looked for again.
        let asked = try clamd.commands.count
        truncate(payload.root.appending("file").string, 5 << 20)
        #expect(try outcome(of: stage, on: payload)?.code == "scan.too-large")
        #expect(try clamd.commands.count == asked + 1)
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func aClamdThatFindsNothingIsNotBelieved() async throws {
        let clamd = try await FakeClamd(fixture.scratch, .blind)
        let failure = #expect(throws: Failure.self) { try scan(clamd) }
        #expect(failure?.class == .environment)
        #expect(failure?.detail.contains("EICAR") == true)
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func doctorTriesWhatClamdLooksAt() async throws {
        func findings(_ manner: FakeClamd.Manner) async throws -> [Finding] {
            let scratch = try ScratchFolder()
            let clamd = try await FakeClamd(scratch, manner)
            let stage = try fixture.stage("scan", ["socket": .text(clamd.socket)])
            return stage.examine(in: try scratch.makeFolder("bench"))
        }
        let short = try await findings(.shortSighted)
        #expect(short.map(\.grade) == [.good, .note])
        #expect(short.last?.fact.contains("reports larger ones as clean unscanned") == true)
        #expect(try await findings(.frank).map(\.grade) == [.good, .good])
        let blind = try await findings(.blind)
        #expect(blind.last?.grade == .problem)
        let stage = try fixture.stage("scan", ["socket": "nothing/there"])
        #expect(stage.examine(in: nil).map(\.grade) == [.problem])
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func filesAreSentToAClamdThatCannotTakeThem() async throws {
        let clamd = try await FakeClamd(fixture.scratch, .streamsOnly)
        try scan(clamd)
        #expect(try clamd.commands == ["FILDES", "INSTREAM", "INSTREAM"])
    }

    @Test(.enabled(if: FakeClamd.isPossible, "needs python3"))
    func filesAreSentToAnotherHost() async throws {
        let clamd = try await FakeClamd(fixture.scratch)
        try scan(clamd, at: clamd.port)
        #expect(try clamd.commands == ["INSTREAM", "INSTREAM"])
        let bad = try fixture.folderPayload([(Array("bad".utf8), Self.eicar)])
        let failure = #expect(throws: Failure.self) { try scan(clamd, at: clamd.port, on: bad) }
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
        #expect(try clamd.commands.count <= sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1)
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
        #expect(throws: Failure.cancelled) {
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

    @Test(.enabled(if: Tool.find("/usr/sbin/clamd") != nil, Comment(rawValue: Tool.skip("clamd"))))
    func aRealClamd() async throws {
        let clamd = try Clamd(fixture.scratch)
        defer { clamd.stop() }
        try #require(await eventually(within: .seconds(60)) { try clamd.isUp })
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
        // Longer than MaxFileSize.
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
                "Foreground yes", "MaxFileSize 26M", "User root",
            ]
            try scratch.write(lines.joined(separator: "\n") + "\n", to: "clamd.conf")
            let null = open("/dev/null", O_WRONLY)
            defer { close(null) }
            process = try ChildProcess.spawn(
                "/usr/sbin/clamd", [Array("-c".utf8), scratch.path("clamd.conf").bytes], output: null, error: null)
        }

        /// Whether it listens (__SO_ACCEPTCON): the socket has its name a moment before.
        var isUp: Bool {
            get throws {
                let sockets = String(decoding: try ScratchFolder.read("/proc/net/unix"), as: UTF8.self)
                return sockets.split(separator: "\n").contains {
                    $0.contains(" 00010000 ") && $0.hasSuffix(socket.string)
                }
            }
        }

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
