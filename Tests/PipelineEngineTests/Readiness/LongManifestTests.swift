import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

/// Lists of strangers: however long they are, they cost little memory, and nobody waits for them.
@Suite struct LongManifestTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox/a")
    }

    /// So many of these lines in the drop's manifest.
    private static func write(_ line: String, times count: Int, in scratch: ScratchFolder) throws {
        let file = try OpenFile.open(scratch.path("inbox/a/SHA256SUMS"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        let share = 10_000
        let text = Array(String(repeating: line, count: share).utf8)
        for _ in 0..<(count / share) { try file.write(text) }
    }

    private static func fault(
        in scratch: ScratchFolder, mostLines: Int = 10_000_000, _ cancellation: Cancellation = Cancellation()
    ) throws -> Waiting.ManifestFault? {
        let inbox = try OpenInbox(scratch.path("inbox")).top
        let pattern = try #require(Glob("SHA256SUMS"))
        return try ManifestReading.fault(
            of: "a".fileName, in: inbox.file, matching: pattern, mostLines: mostLines, cancellation)
    }

    @Test("A list of two million lines costs at most 16 bytes of each, and what it lists twice counts once")
    func memory() async {
        // In a process of its own, where nobody else asks for memory.
        await #expect(processExitsWith: .success) {
            let count = 2_000_000
            let scratch = try ScratchFolder()
            try scratch.write("", to: "inbox/a/x")
            try LongManifestTests.write("0 x\n", times: count, in: scratch)
            let before = try ResidentMemory.peak()
            try LongManifestTests.write("0 y\n", times: 10_000, in: scratch)
            let fault = try LongManifestTests.fault(in: scratch)
            try #require(fault == .lacks(1, first: "y"))
            let each = (try ResidentMemory.peak() - before) / count
            try #require(each <= 16, "\(each) bytes of a line")
        }
    }

    @Test("More lines than any drop has files are refused")
    func tooMany() throws {
        try scratch.write("", to: "inbox/a/x")
        try Self.write("0 x\n", times: 30_000, in: scratch)
        let fault = try Self.fault(in: scratch, mostLines: 20_000)
        guard case .unusable(_, let reason) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(reason.contains("more than 20000 lines"))
    }

    @Test("Lines that contradict each other have a file read once for each algorithm, and once more")
    func contradictions() throws {
        try scratch.write("x", to: "inbox/a/x")
        let right = "9dd4e461268c8034f5c8564e155c67a6  x\n"
        let wrong = (0..<100).map { String(repeating: "0", count: 30) + "\(10 + $0 % 90)  x\n" }.joined()
        try scratch.write(right + wrong, to: "inbox/a/list.md5")
        let inbox = try OpenInbox(scratch.path("inbox")).top
        let pattern = try #require(Glob("*.md5"))
        let fault = try ManifestReading.fault(of: "a".fileName, in: inbox.file, matching: pattern, Cancellation())
        #expect(fault == .differs(1, first: "x"))
    }

    @Test("Reading is called off between two lines")
    func calledOff() throws {
        try scratch.write("", to: "inbox/a/x")
        try Self.write("0 x\n", times: 20_000, in: scratch)
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: DigestError.stopped) { try Self.fault(in: scratch, cancellation) }
    }

    @Test("While a long list is read the intake answers, and the daemon stops", .timeLimit(.minutes(5)))
    func stops() async throws {
        let glob = try #require(Glob("SHA256SUMS"))
        try scratch.write("", to: "inbox/a/x")
        try Self.write("0 x\n", times: 3_500_000, in: scratch)
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.ready.unit = .folder
            $0.ready.manifest = glob
        }
        try engine.start()
        #expect(
            try await eventually {
                let waiting = await engine.waiting(for: "a")?.waiting
                // Where nobody asked while it was read, it is read once more.
                if case .manifest = waiting { try scratch.write("", to: "inbox/a/again") }
                return waiting == .verifying
            })
        _ = await engine.stop()
        #expect(try #require(engine.stopTook) < .seconds(10))
        #expect(scratch.exists("inbox/a/x"))
    }
}
