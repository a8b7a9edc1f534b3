import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

/// What a sender can do to her own file is no trouble of any other.
@Suite("Trouble of one drop", .timeLimit(.minutes(5)), .serialized) struct SendersTroubleTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func isPaused(_ engine: EngineHarness) -> Bool {
        engine.events.contains { if case .paused = $0 { true } else { false } }
    }

    /// Another process with a write lease on a file: one of the same would be let open it.
    private func lease(_ path: FilePath) throws -> pid_t {
        let program = try #require(Tool.find("python3"))
        let script =
            "import fcntl,os,signal,sys;f=os.open(sys.argv[1],os.O_RDWR);signal.signal(signal.SIGIO,signal.SIG_IGN);"
            + "fcntl.fcntl(f,fcntl.F_SETLEASE,fcntl.F_WRLCK);open(sys.argv[1]+'.leased','w').close();signal.pause()"
        let null = try OpenFile.open("/dev/null", O_WRONLY)
        return try ChildProcess.spawn(
            program.path, [Array("-c".utf8), Array(script.utf8), path.bytes], output: null.descriptor,
            error: null.descriptor, folder: scratch.path)
    }

    private func end(_ process: pid_t) {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    @Test(
        "A write lease on a drop holds up that drop alone, tells who has it, and counts for `timeout`",
        .enabled(if: Tool.find("python3") != nil, "needs python3"))
    func lease() async throws {
        let outside = try scratch.write("leased", to: "leased.txt")
        let holder = try lease(outside)
        defer { end(holder) }
        #expect(await eventually { scratch.exists("leased.txt.leased") })
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.ready.timeout = .seconds(15) }
        try engine.start()
        let target = scratch.path("inbox/leased.txt")
        #expect(outside.withPlatformString { from in target.withPlatformString { rename(from, $0) } } == 0)
        for number in 1...5 { try engine.drop("honest-\(number)") }
        #expect(await eventually { engine.reports.count == 6 })
        #expect(engine.reports.last?.job.drop.name.text == "leased.txt", "it held the others up")
        #expect(!isPaused(engine))
        let report = try scratch.text("failed/leased.txt.error.json")
        #expect(report.contains("ready.timeout"), "\(report)")
        #expect(report.contains("(pid \(holder)) holds a lease that keeps others from opening it"), "\(report)")
        _ = await engine.stop()
    }

    @Test(
        "An immutable file stays where it is, told of; others are processed", .enabled(if: Tool.find("chattr") != nil))
    func immutable() async throws {
        let chattr = try #require(Tool.find("chattr"))
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.drop("fixed")
        let isSet = try chattr.run(["+i", scratch.path("inbox/fixed").string]).status == 0
        try #require(isSet || geteuid() != 0)
        defer { _ = Result { try chattr.run(["-i", scratch.path("inbox/fixed").string]) } }
        if !isSet { return }
        try engine.start()
        for number in 1...3 { try engine.drop("honest-\(number)") }
        #expect(await eventually { engine.reports.count == 3 })
        #expect(await eventually { await engine.waiting(for: "fixed")?.waiting.code == "refused" })
        #expect(!isPaused(engine))
        _ = await engine.stop()
    }

    @Test("A mount point among the drops is no trouble of the others", .enabled(if: TemporaryMount.isPossible))
    func mountPoint() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.ready.unit = .folder }
        try scratch.makeFolder("inbox/mounted")
        let mount = try TemporaryMount(tmpfs: "size=1m", at: scratch.path("inbox/mounted"))
        try scratch.write("1", to: "inbox/honest/file")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await eventually { await engine.waiting(for: "mounted")?.waiting.code == "refused" })
        #expect(!isPaused(engine))
        _ = await engine.stop()
        _ = mount
    }

    @Test("A drop that cannot be opened waits for the reason, and is overdue in its time")
    func gate() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1), timeout: .seconds(10)))
        var now = MonotonicTime(nanoseconds: 0)
        gate.touch(1, at: now)
        var decisions: [ReadyGate.Decision] = []
        while now < MonotonicTime(nanoseconds: 20_000_000_000), gate.contains(1) {
            for request in gate.due(at: now) {
                decisions.append(gate.record(.blocked(.resourceBusy, nil), of: request.key, at: now))
                if gate.contains(1) {
                    #expect(gate.waiting(for: 1, at: now) == .blocked("\(Errno.resourceBusy)"))
                }
            }
            now = gate.nextDue ?? now + .seconds(1)
        }
        guard case .overdue(_, .blocked)? = decisions.last else {
            Issue.record("\(decisions)")
            return
        }
        #expect(decisions.dropLast().allSatisfy { $0 == .waiting(.blocked) })
        #expect(decisions.count < 15)
    }

    @Test("Who has a lease is told by its line of /proc/locks")
    func locks() {
        let text = """
            1: POSIX  ADVISORY  WRITE 11 fe:01:4711 0 EOF
            2: LEASE  BREAKING  READ  4121 fe:01:4711 0 EOF
            3: LEASE  ACTIVE    WRITE 12 fe:02:4711 0 EOF
            4: LEASE  ACTIVE    WRITE 0 fe:01:4712 0 EOF
            5: LEASE  ACTIVE    WRITE
            """
        let device: UInt64 = 0xFE01
        func process(_ inode: UInt64) -> Int32? {
            LeaseHolders.process(with: FileIdentity(device: device, inode: inode), in: Array(text.utf8))
        }
        #expect(process(4711) == 4121)
        #expect(process(4712) == nil)
        #expect(process(4713) == nil)
    }
}
