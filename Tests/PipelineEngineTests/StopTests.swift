import Dispatch
import PipelineKit
import SQLiteJournal
import Synchronization
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

@Suite("Stopping", .timeLimit(.minutes(5))) struct StopTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("Once it stops it claims nothing more, however long running stages may take")
    func stopsClaiming() async throws {
        let gate = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    while !gate.withLock({ $0 }) { try context.checkCancelled() }
                    return payload
                }
            ])
        try engine.start()
        try engine.drop("first")
        #expect(await eventually { engine.events.contains { if case .stageStarted = $0 { true } else { false } } })
        async let summary = engine.stop(grace: .seconds(600))
        #expect(await eventually { engine.events.contains { if case .stopping = $0 { true } else { false } } })
        try engine.drop("second")
        #expect(await eventually { await engine.waiting(for: "second")?.waiting == .paused("Dropmill is stopping") })
        gate.withLock { $0 = true }
        #expect(await summary?.processed == 1)
        #expect(try scratch.tree("inbox") == ["second"])
    }

    @Test("With nothing to do it does not end before all that belongs to its start is done")
    func waitsForItsStart() async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [])
        let engine = Engine(
            pipelines: [harness.pipeline],
            configuration: EngineConfiguration(
                state: scratch.path("state"), journal: SQLiteStore(in: scratch.path("state")), once: true)
        ) { @Sendable _ in }
        let ended = Mutex(false)
        let gate = DispatchSemaphore(value: 0)
        engine.beforeClosing { @Sendable done in
            ended.withLock { $0 = true }
            done()
        }
        DispatchQueue.global().async {
            do throws(EngineError) {
                try engine.start {
                    gate.wait()
                } finished: { @Sendable _ in
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(await eventually { engine.sync { !$0.runners.isEmpty && $0.runners.allSatisfy(\.isDone) } })
        #expect(!ended.withLock { $0 } && engine.originals != nil)
        gate.signal()
        #expect(await eventually { ended.withLock { $0 } })
    }
}
