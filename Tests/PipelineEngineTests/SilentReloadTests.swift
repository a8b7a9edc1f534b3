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

    @Test("A job that a removed pipeline has left there is not released, and what comes after that is not held up")
    func leftThere() async throws {
        let harness = try harness()
        let beside = other(harness.pipeline, "beside", inbox: "beside")
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.started.count == 1 })
        try harness.drop("b")
        let left = try await harness.job("b")
        _ = try harness.reload([beside])
        gate.open()
        #expect(await eventually { harness.tails == 0 && harness.retired == 0 })
        var mount: SilentMount? = try SilentMount(at: scratch.path("mount"))
        let refused = try harness.release([left]).first?.text
        #expect(refused?.contains("' does not answer; mount its file system again") == true)
        #expect(
            try harness.reload([other(harness.pipeline, "third", inbox: "third"), beside]).map(\.text) == [
                "added", "unchanged",
            ])
        mount?.giveUp()
        mount = nil
        #expect(await eventually { (try? harness.release([left]).first) == .went(scratch.path("mount/inbox/b")) })
        _ = await harness.stop()
    }

    @Test("One that needs it is refused and says so, the rest works on, and the next is as if there had been none")
    func refused() async throws {
        let harness = try harness()
        try harness.start()
        gate.open()
        var mount: SilentMount? = try SilentMount(at: scratch.path("silent"))
        let new = [
            harness.pipeline, other(harness.pipeline, "new", inbox: "new"),
            other(harness.pipeline, "silent", inbox: "silent/inbox"),
        ]
        for _ in 1...2 {
            let reload = Reload(harness, new, patience: 2)
            #expect(await eventually { reload.message != nil })
            #expect(
                reload.message == "test.yaml: its folders were not opened within 2.0 s: "
                    + "'\(scratch.path("silent/inbox").text)' does not answer; mount its file system again, or leave "
                    + "that pipeline as it was")
        }
        try harness.drop("a")
        #expect(await eventually { harness.reports.count == 1 })
        // The first one has not come back.
        let without = Reload(harness, Array(new[..<2]))
        #expect(await eventually { without.changes == ["unchanged", "added"] })

        mount?.giveUp()
        mount = nil
        // Until the look that was given up has come back, the folder is still one that does not answer.
        var again = Reload(harness, new)
        #expect(
            await eventually {
                if again.message != nil { again = Reload(harness, new) }
                return again.changes == ["unchanged", "unchanged", "added"]
            })
        try drop("b", into: "new")
        #expect(await eventually { harness.reports.count == 2 })
        #expect(harness.warnings == [])
        #expect(await harness.stop()?.processed == 2)
    }

    @Test("What is opened is put in force without another look at it") func swapped() async throws {
        let harness = try harness()
        try harness.start()
        gate.open()
        let orders = DispatchSemaphore(value: 0)
        try harness.holdUpOrders(until: orders)
        let reload = Reload(harness, [harness.pipeline, other(harness.pipeline, "new", inbox: "new/inbox")])
        // The last that is done before.
        let journal = try #require(harness.journal)
        #expect(try await eventually { try journal.pipelines().contains { $0.name == "new" } })

        let mount = try SilentMount(at: scratch.path("new"))
        orders.signal()
        #expect(await eventually { reload.changes == ["unchanged", "added"] })
        try harness.drop("a")
        #expect(await eventually { harness.reports.count == 1 })
        mount.giveUp()
        #expect(await harness.stop()?.processed == 1)
    }

    @Test("A stop leaves it behind", arguments: [false, true]) func stopped(isRemoved: Bool) async throws {
        let harness = try harness()
        try harness.start()
        try harness.limitEnd(to: .milliseconds(500))
        let beside = other(harness.pipeline, "beside", inbox: "beside")
        _ = try harness.reload([harness.pipeline, beside])
        let mount = try SilentMount(at: scratch.path("mount"))
        if isRemoved { #expect(try harness.reload([beside]).map(\.text) == ["unchanged", "removed"]) }
        #expect(await harness.stop() != nil)
        mount.giveUp()
    }
}
