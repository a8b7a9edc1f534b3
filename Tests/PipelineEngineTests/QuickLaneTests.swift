import Dispatch
import Files
import Glibc
import Journal
import PipelineKit
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Small drops pass their stages together by their content alone; whatever is out of the ordinary goes the usual way.
@Suite("Quick lane", .timeLimit(.minutes(5))) struct QuickLaneTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Puts the way that a drop went beside it. Content that begins with "!" is not for the lane.
    private static let telling = StageEntry.quick(
        { (payload, _) throws(Failure) in told(payload, "run") },
        { (payload, content) in content.first == UInt8(ascii: "!") ? nil : told(payload, "passed") })

    private static func told(_ payload: Payload, _ way: String) -> Payload {
        var payload = payload
        payload.sidecars.append(Sidecar(suffix: ".way", parts: [.text(way)]))
        return payload
    }

    private func engine(
        _ stages: [StageEntry] = [telling], adjust: (inout Pipeline) -> Void = { _ in }
    ) throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: stages, adjust: adjust)
    }

    /// The way that each drop in processed went.
    private func ways() throws -> [String: String] {
        var ways: [String: String] = [:]
        for name in try scratch.tree("processed") where name.hasSuffix(".way") {
            ways[String(name.dropLast(4))] = try scratch.text("processed/\(name)")
        }
        return ways
    }

    private func records() throws -> [JobRecord] {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return try journal.jobs(JobQuery())
    }

    @Test("Drops of all kinds side by side: each goes its way, and all arrive", arguments: [Durability.full, .fast])
    func mixed(durability: Durability) async throws {
        let engine = try engine { $0.durability = durability }
        for number in 0..<40 { try engine.drop("small-\(number)", "content \(number)") }
        try engine.drop("odd", "! not for the lane")
        try engine.drop("large", String(repeating: "x", count: (1 << 20) + 1))
        try engine.drop("linked", "two names")
        try Folder.make(scratch.path("processed"))
        let (drop, other) = (scratch.path("inbox/linked"), scratch.path("other"))
        try #require(drop.withPlatformString { from in other.withPlatformString { link(from, $0) } } == 0)
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 43)
        let slow = ["odd", "large", "linked"]
        #expect(try ways().filter { $0.value == "run" }.keys.sorted() == slow.sorted())
        #expect(try ways().count == 43)
        for number in 0..<40 { #expect(try scratch.text("processed/small-\(number)") == "content \(number)") }
        #expect(try scratch.tree(".dropmill/test/active") == [])
        let records = try records()
        #expect(records.allSatisfy { $0.state == .processed && $0.slot == nil && $0.intents.isEmpty })
        let small = try #require(records.first { $0.drop.name.text == "small-7" })
        #expect(small.history.map(\.event) == ["claimed", "done", "settling", "processed"])
        #expect(try #require(small.history.first?.duration) >= .milliseconds(100), "since it was seen")
        #expect(small.original == scratch.path("processed/small-7"))
        #expect(small.outputs == [scratch.path("processed/small-7.way")])
        #expect(engine.reports.count == 43)
        #expect(engine.reports.allSatisfy { $0.stages.map(\.kind) == ["fake"] })
    }

    @Test("A taken name of one costs the others nothing: it gets the next, and so does what lies beside it")
    func takenNames() async throws {
        let engine = try engine()
        try Folder.make(scratch.path("processed"))
        for name in ["a", "b.way"] { try scratch.write(Array("theirs".utf8), to: scratch.path("processed/\(name)")) }
        for name in ["a", "b", "c"] { try engine.drop(name, "content of \(name)") }
        try engine.start(once: true)
        #expect(await eventually { engine.summary?.processed == 3 })
        #expect(try scratch.tree("processed") == ["a", "a.2", "a.2.way", "b.2", "b.2.way", "b.way", "c", "c.way"])
        #expect(try scratch.text("processed/a") == "theirs")
        #expect(try scratch.text("processed/b.way") == "theirs")
        #expect(try scratch.text("processed/a.2.way") == "passed")
        let record = try #require(try records().first { $0.drop.name.text == "b" })
        #expect(record.history.contains { $0.event == "renamed" })
        #expect(record.original == scratch.path("processed/b.2"))
    }

    @Test("What another process writes to when it is claimed does not pass")
    func writers() async throws {
        let engine = try engine { $0.ready.writers = .wait }
        try engine.drop("held", "content")
        let writer = try OpenFile.open(scratch.path("inbox/held"), O_WRONLY)
        try engine.drop("free", "content")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("processed") == ["free", "free.way"])
        try writer.close()
        #expect(await eventually { engine.reports.count == 2 })
        _ = await engine.stop()
    }

    @Test(
        "Where something is to be copied to another mount there is no lane: others would wait for it",
        .enabled(if: TemporaryMount.isPossible, "needs root"))
    func otherMount() async throws {
        let mount = try TemporaryMount(tmpfs: "size=1m,mode=755", at: scratch.path("processed"))
        defer { withExtendedLifetime(mount) {} }
        let engine = try engine { $0.minFree = ByteSize(bytes: 0) }
        for name in ["a", "b"] { try engine.drop(name, "content") }
        try engine.start(once: true)
        #expect(await eventually { engine.summary?.processed == 2 })
        #expect(try ways() == ["a": "run", "b": "run"])
    }

    @Test("A folder of the inbox is kept, and its note goes")
    func folders() async throws {
        let engine = try engine { $0.ready.limits.depth = 3 }
        try Folder.make(scratch.path("inbox/one/two"))
        try scratch.write(Array("content".utf8), to: scratch.path("inbox/one/two/deep"))
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        if engine.summary?.processed == 1 {
            #expect(try scratch.tree("processed").contains("one/two/deep"))
        }
        #expect(try scratch.tree(".dropmill/test/active") == [])
    }

    @Test("Trouble with settling pauses, and the drops arrive when it is over")
    func trouble() async throws {
        let engine = try engine()
        try Folder.make(scratch.path("processed"))
        try engine.start()
        try NoReplace.rename(scratch.path("processed"), to: scratch.path("away"))
        for number in 0..<5 { try engine.drop("small-\(number)", "content") }
        #expect(await eventually { engine.events.contains { if case .paused = $0 { true } else { false } } })
        try NoReplace.rename(scratch.path("away"), to: scratch.path("processed"))
        #expect(await eventually { engine.reports.count == 5 })
        #expect(try ways().count == 5)
        #expect(await engine.stop()?.processed == 5)
    }

    @Test("Paused by a person: what runs ends, no stage of a batch begins any more, and the rest goes on afterwards")
    func paused() async throws {
        let gate = DispatchSemaphore(value: 0)
        let passed = Mutex(0)
        let engine = try engine([
            .quick(
                { (payload, _) throws(Failure) in payload },
                { (payload, _) in
                    passed.withLock { $0 += 1 }
                    gate.wait()
                    return payload
                })
        ])
        for number in 0..<20 { try engine.drop("small-\(number)", "content") }
        try engine.start()
        #expect(await eventually { passed.withLock { $0 == 1 } })
        let order = try HoldOrder(.pause, by: "anna", user: 1000)
        let holding = Task.detached { @Sendable in try engine.hold([], order) }
        #expect(await eventually { engine.events.contains { if case .held = $0 { true } else { false } } })
        // Once the engine answers, all of its own know.
        #expect(engine.generations == ["test": 1])
        for _ in 0..<20 { gate.signal() }
        _ = try await holding.value
        #expect(passed.withLock { $0 } == 1)
        #expect(await eventually { engine.reports.count == 1 })
        try engine.hold([], HoldOrder(nil, by: "anna", user: 1000))
        #expect(await eventually { engine.reports.count == 20 })
        #expect(await engine.stop()?.processed == 20)
    }

    @Test("When it is stopped, what is under way is settled and counted")
    func stopping() async throws {
        let begun = Mutex(false)
        let engine = try engine([
            .quick(
                { (payload, _) throws(Failure) in payload },
                { (payload, _) in
                    begun.withLock { $0 = true }
                    return payload
                })
        ])
        try engine.start()
        for number in 0..<300 { try engine.drop("small-\(number)", "content") }
        #expect(await eventually { begun.withLock { $0 } })
        let summary = try #require(await engine.stop())
        let settled = try scratch.tree("processed").count
        #expect(summary.processed == settled)
        #expect(engine.reports.count == settled)
        // What was claimed when nothing was to begin any more waits for the next start.
        let left = try scratch.tree(".dropmill/test/active").count { !$0.hasSuffix("/") }
        #expect(summary.unfinished <= left)
        #expect(try scratch.tree("inbox").count + left + settled == 300)
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(try scratch.tree("processed").count == 300)
    }

    @Test("Why a pipeline has none")
    func hindrances() throws {
        var pipeline = try engine().pipeline
        #expect(LaneRule.hindrance(of: pipeline) == nil)
        let reasons: [(String, (inout Pipeline) -> Void)] = [
            ("folders", { $0.ready.unit = .folder }), ("ownership: keep", { $0.ownership = .keep }),
            ("order: name", { $0.order = .name }), ("on_conflict: fail", { $0.onConflict = .fail }),
            ("processed: delete", { $0.processed = .delete }), ("`fake`", { $0.stages.append(.passing) }),
        ]
        for (reason, change) in reasons {
            var changed = pipeline
            change(&changed)
            #expect(LaneRule.hindrance(of: changed)?.contains(reason) == true)
        }
        pipeline.ready.empty = .fail
        let rule = try #require(LaneRule(of: pipeline))
        #expect(!rule.takes(size: 0) && rule.takes(size: 1 << 20) && !rule.takes(size: (1 << 20) + 1))
    }
}
