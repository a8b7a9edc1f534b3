import Dropmill
import DropmillStages
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite struct MillTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// A mill of one pipeline, whose drops must hold what it says.
    private func mill(
        _ name: String = "notes", stages: String = "[picky]", ready: String = "quiet: 20ms",
        registry: StageRegistry = StageRegistry([PickyStage.self]), state: String = "state",
        log: (@Sendable (MillEvent) -> Void)? = nil
    ) -> Mill {
        let text = """
            inbox: \(name)/inbox
            processed: \(name)/processed
            failed: \(name)/failed
            ready: { \(ready) }
            stages: \(stages)
            """
        return Mill(
            pipelines: [PipelineDescription(name: name, base: scratch.path, text: text)], registry: registry,
            state: scratch.path(state), log: log)
    }

    private func drop(_ text: String, _ path: String) throws { try scratch.write(text, to: path) }

    @Test func startsAndStopsTwiceAndAgain() async throws {
        let mill = mill()
        await mill.stop()
        for name in ["a", "b"] {
            try await mill.start()
            try await mill.start()
            try drop("x", "notes/inbox/\(name)")
            #expect(await eventually { await mill.status().first?.processed == 1 })
            await mill.stop()
            await mill.stop()
            #expect(await mill.status().isEmpty)
            #expect(try ScratchFolder.read(scratch.path("notes/processed/\(name)")) == Array("x".utf8))
        }
    }

    @Test func stopsWhileItStopsAndStartsAfterwards() async throws {
        let mill = mill()
        try await mill.start()
        async let first: Void = mill.stop()
        async let second: Void = mill.stop()
        _ = await (first, second)
        try await mill.start()
        #expect(await mill.status().map(\.pipeline) == ["notes"])
        await mill.stop()
    }

    @Test func runsOnce() async throws {
        try drop("good", "notes/inbox/a")
        try drop("bad", "notes/inbox/b")
        let summary = try await mill(stages: "[picky]").runOnce()
        #expect((summary.processed, summary.failed, summary.unfinished) == (1, 1, 0))
        #expect(summary.remaining.isEmpty && summary.paused.isEmpty)
    }

    @Test func saysWhatIsWrongWithPipelines() async throws {
        try drop("inbox: in\nstages: [unknown]\n", "a.yaml")
        let mill = Mill(pipelines: [scratch.path("a.yaml")], registry: StageRegistry([]), state: scratch.path("state"))
        let error = await #expect(throws: MillError.self) { try await mill.start() }
        #expect(error?.kind == .pipelines && error?.description.contains("a.yaml:2:10: error: unknown stage") == true)
        #expect(error.map { $0.problems.count > 1 } == true, "\(String(describing: error))")
    }

    @Test func refusesAStateFolderInUse() async throws {
        let (one, other) = (mill(), mill("others"))
        try await one.start()
        let error = await #expect(throws: MillError.self) { try await other.start() }
        #expect(error?.kind == .busy && error?.description.contains("in use by another") == true)
        let busy = await #expect(throws: MillError.self) { try await one.runOnce() }
        #expect(busy?.kind == .busy)
        await one.stop()
    }

    /// Each has its own folders, and one goes on without the other.
    @Test func twoRunInOneProcess() async throws {
        let (one, other) = (mill("one", state: "state1"), mill("other", state: "state2"))
        try await one.start()
        try await other.start()
        try drop("1", "one/inbox/a")
        try drop("2", "other/inbox/a")
        #expect(await eventually { await one.status().first?.processed == 1 })
        await one.stop()
        try drop("3", "other/inbox/b")
        #expect(await eventually { await other.status().first?.processed == 2 })
        await other.stop()
    }

    @Test func sendsFailedOriginalsBack() async throws {
        let failed = Mutex<JobID?>(nil)
        let mill = mill(stages: "[picky]") { event in
            if event.kind == .failed { failed.withLock { $0 = event.job } }
        }
        try drop("bad", "notes/inbox/a")
        _ = try await mill.runOnce()
        let first = try #require(failed.withLock { $0 })
        // Without an engine.
        #expect(try await mill.retry(first) == scratch.path("notes/inbox/a"))
        let again = await #expect(throws: MillError.self) { try await mill.retry(first) }
        #expect(again?.kind == .job, "\(String(describing: again))")
        // Beside one.
        try await mill.start()
        #expect(await eventually { failed.withLock { $0 } != first })
        let second = try #require(failed.withLock { $0 })
        try await mill.retry(second)
        #expect(await eventually { await mill.status().first?.failed == 2 })
        await mill.stop()
    }

    /// What needs a helper program that nobody has set cannot start; no archive has to come for that.
    @Test(arguments: [
        ("[unpack, move: { to: out }]", "quiet: 20ms", "stage 'unpack': No program that unpacks archives is set."),
        ("[detect]", "quiet: 20ms", "stage 'detect': No program that detects file types is set."),
        (
            "[select: { type: text/* }, move: { to: out }]", "quiet: 20ms",
            "stage 'select': No program that detects file types is set."
        ),
        ("[checksum]", "complete: format", "'complete: format': No program that reads formats is set."),
    ])
    func lacksHelpers(_ stages: String, _ ready: String, _ message: String) async throws {
        let mill = mill(stages: stages, ready: ready, registry: .builtin)
        let error = await #expect(throws: MillError.self) { try await mill.start() }
        let text = error?.description ?? ""
        #expect(error?.kind == .pipelines && text.contains(message) && text.contains("Call `helperMain`"), "\(text)")
    }

    @Test func takesAnotherProgramForItsHelper() async throws {
        var registry = StageRegistry.builtin.adding([PickyStage.self])
        registry.services.add(UnpackProgram.named(DropmillProcess.binary))
        var zip = ZipBuilder()
        zip.add("a/b", content: "hello")
        try scratch.write(zip.finished(), to: scratch.path("notes/inbox/a.zip"))
        let summary = try await mill(stages: "[unpack, picky, move: { to: out }]", registry: registry).runOnce()
        #expect(summary.processed == 1)
        #expect(try ScratchFolder.read(scratch.path("out/a/b")) == Array("hello".utf8))
    }

    @Test func cancellingRunOnceStopsIt() async throws {
        try drop("x", "notes/inbox/a")
        let mill = mill(ready: "quiet: 1h")
        let events = mill.events
        let run = Task { try await mill.runOnce() }
        for await event in events where event.kind == .started { break }
        run.cancel()
        #expect(try await run.value.processed == 0)
        #expect(await mill.status().isEmpty)
    }
}

/// Takes all but what is bad.
private struct PickyStage: Stage {
    static let descriptor = StageDescriptor(kind: "picky", summary: "Refuses what is bad.", example: "picky")

    init(options: StageOptions) throws(OptionProblem) {}

    func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        guard case .file = payload.shape else { return payload }
        do throws(IOError) {
            for file in try context.files(of: payload) {
                let opened = try context.open(file, of: payload)
                var bytes: (UInt8, UInt8, UInt8) = (0, 0, 0)
                let count = try withUnsafeMutableBytes(of: &bytes) { (buffer) throws(IOError) in
                    try opened.read(into: buffer)
                }
                if count == 3, bytes == (0x62, 0x61, 0x64) { throw IOError("take", payload.path, .invalidArgument) }
            }
        } catch {
            throw .file("picky.bad", "'\(context.job.drop.name)' is bad.", remedy: "Send a good one.")
        }
        return payload
    }
}
