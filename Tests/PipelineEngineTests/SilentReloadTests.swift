import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Reloads while a file system does not answer.
@Suite(
    "Reload beside silence", .timeLimit(.minutes(5)),
    .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
struct SilentReloadTests {
    private let scratch: ScratchFolder
    private let gate = Gate()

    init() throws { scratch = try ScratchFolder() }

    private func harness() throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.inbox = scratch.path("mount/inbox") }
    }

    /// The same pipeline with other folders, under another name.
    private func other(_ pipeline: Pipeline, _ name: String? = nil, inbox: String) -> Pipeline {
        var new = pipeline
        new.name = name ?? new.name
        new.inbox = scratch.path(inbox)
        new.declaration.keys = ["inbox": new.inbox.text]
        return new
    }

    private func drop(_ name: String, into folder: String) throws {
        try scratch.write("x", to: "drops/\(name)")
        try NoReplace.rename(scratch.path("drops/\(name)"), to: scratch.path("\(folder)/\(name)"))
    }

    /// What came of a reload, which may never end.
    private final class Reload: Sendable {
        private let state = Mutex<Result<[String], any Error>?>(nil)
        var changes: [String]? { state.withLock { $0.flatMap { try? $0.get() } } }
        var message: String? {
            state.withLock { result in
                if case .failure(let error) = result { (error as? EngineError)?.message } else { nil }
            }
        }

        init(_ harness: EngineHarness, _ pipelines: [Pipeline], patience: Double = 60) {
            DispatchQueue(label: "reload").async { @Sendable [self] in
                let result = Result { try harness.reload(pipelines, patience: patience).map(\.text) }
                state.withLock { $0 = result }
            }
        }
    }

    @Test("An inbox is moved off it, and nothing else waits; what was claimed there goes on when it answers")
    func moved() async throws {
        let harness = try harness()
        var beside = other(harness.pipeline, "beside", inbox: "beside")
        beside.stages = [.passing]
        try harness.start()
        _ = try harness.reload([harness.pipeline, beside])
        try harness.drop("a")
        #expect(await eventually { harness.started.count == 1 })

        var mount: SilentMount? = try SilentMount(at: scratch.path("mount"))
        let reload = Reload(harness, [other(harness.pipeline, inbox: "there/inbox"), beside])
        #expect(await eventually { reload.changes == ["changed (inbox)", "unchanged"] })
        #expect(harness.tails == 1)
        gate.open()
        try drop("b", into: "there/inbox")
        try drop("c", into: "beside")
        #expect(await eventually { harness.reports.count == 2 })
        #expect(Set(harness.reports.map(\.job.drop.name.text)) == ["b", "c"])

        mount?.giveUp()
        mount = nil
        #expect(await eventually { harness.reports.count == 3 })
        #expect(await eventually { harness.tails == 0 && harness.retired == 0 })
        #expect(await harness.stop()?.processed == 3)
    }

    @Test("One that needs it is refused, the rest works on, and the next is as if there had been none")
    func refused() async throws {
        let harness = try harness()
        try harness.start()
        gate.open()
        var mount: SilentMount? = try SilentMount(at: scratch.path("silent"))
        let new = [
            harness.pipeline, other(harness.pipeline, "new", inbox: "new"),
            other(harness.pipeline, "silent", inbox: "silent/inbox"),
        ]
        let reload = Reload(harness, new, patience: 0.3)
        #expect(await eventually { reload.message?.contains("were not opened within 0.3 s") == true })
        try harness.drop("a")
        #expect(await eventually { harness.reports.count == 1 })

        mount?.giveUp()
        mount = nil
        #expect(try harness.reload(new).map(\.text) == ["unchanged", "added", "added"])
        try drop("b", into: "new")
        #expect(await eventually { harness.reports.count == 2 })
        #expect(harness.warnings == [])
        #expect(await harness.stop()?.processed == 2)
    }
}
