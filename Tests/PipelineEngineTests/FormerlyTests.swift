import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// A pipeline that goes on under another name.
@Suite("Formerly", .timeLimit(.minutes(5))) struct FormerlyTests {
    private let scratch: ScratchFolder
    private let gate = Gate()

    init() throws { scratch = try ScratchFolder() }

    private func harness() throws -> EngineHarness { try EngineHarness(scratch: scratch, stages: [gate.entry]) }

    private func renamed(_ pipeline: Pipeline, formerly: String? = "test") -> Pipeline {
        var new = pipeline
        (new.name, new.source, new.formerly) = ("new", "new.yaml", formerly)
        new.declaration.keys["formerly"] = formerly
        return new
    }

    private func records() throws -> [JobRecord] {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return try journal.jobs(JobQuery())
    }

    /// As a kill leaves the job that was in its stage.
    private func leaveRunning() throws {
        let journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        defer { journal.close() }
        var record = try #require(try journal.unfinished().first)
        record.state = .running
        try journal.write([record], pipelines: [])
    }

    private func works(of name: String) throws -> [FilePath] {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return try journal.pipelines().first { $0.name == name }?.works.map(\.path) ?? []
    }

    /// Two jobs, one of them in its stage.
    private func begin(_ harness: EngineHarness) async throws {
        try harness.start()
        for name in ["a", "b"] { try harness.drop(name) }
        #expect(await eventually { harness.claimed.count == 2 && harness.started.count == 1 })
    }

    @Test("A start takes over what the old name left, once, and says so where it does not")
    func start() async throws {
        let old = try harness()
        try await begin(old)
        #expect(await old.stop(grace: .zero)?.unfinished == 2)
        try leaveRunning()
        let other = try EngineHarness(scratch: scratch, stages: [.passing]) { $0 = renamed($0, formerly: nil) }
        try other.start(once: true)
        #expect(await eventually { other.summary != nil })
        #expect(other.summary?.processed == 0)
        let told = "2 unfinished jobs belong to the pipeline 'test', which is not loaded"
        let remedy = "or say 'formerly: test' in new.yaml, and 'new' takes over at the next start"
        #expect(other.warnings.contains { $0.hasPrefix(told) && $0.hasSuffix(remedy) })
        #expect(try records().map(\.state) == [.queued, .queued], "nobody is at them")
        for isFirst in [true, false] {
            let new = try EngineHarness(scratch: scratch, stages: [.passing]) { $0 = renamed($0) }
            try new.start(once: true)
            #expect(await eventually { new.summary != nil })
            #expect(new.summary?.processed == (isFirst ? 2 : 0))
            #expect(new.warnings.count == (isFirst ? 1 : 0), "\(new.warnings)")
        }
        #expect(try records().map(\.pipeline) == ["new", "new"])
        #expect(try records().allSatisfy { $0.history.contains { $0.event == "taken over" } })
        #expect(try works(of: "test") == [])
        #expect(try works(of: "new") == [scratch.path(".dropmill/new")])
    }

    @Test(
        "A start does not wait for what the old name left where nothing answers",
        .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func silent() async throws {
        let old = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.work = scratch.path("mount/work") }
        try await begin(old)
        #expect(await old.stop(grace: .zero)?.unfinished == 2)
        var mount: SilentMount? = try SilentMount(at: scratch.path("mount"))
        let new = try EngineHarness(scratch: scratch, stages: [.passing]) { $0 = renamed($0) }
        try new.start()
        #expect(new.warnings.contains { $0.contains("are not taken over: '") && $0.hasSuffix("does not answer") })
        try new.drop("c")
        #expect(await eventually { new.reports.count == 1 })
        mount?.giveUp()
        mount = nil
        _ = await new.stop()
        let later = try EngineHarness(scratch: scratch, stages: [.passing]) { $0 = renamed($0) }
        try later.start(once: true)
        #expect(await eventually { later.summary != nil })
        #expect(later.summary?.processed == 2)
    }

    @Test("A reload takes over what is at work under the old name", arguments: [nil, "work"])
    func reload(work: String?) async throws {
        let old = try EngineHarness(scratch: scratch, stages: [gate.entry]) { pipeline in
            pipeline.work = work.map { scratch.path($0) }
        }
        try await begin(old)
        let new = renamed(old.pipeline)
        #expect(try old.reload([new]).map(\.text) == ["added", "taken over by 'new'"])
        #expect(old.tails == (work == nil ? 1 : 0))
        try old.drop("c")
        #expect(await eventually { old.claimed.count == 3 })
        gate.open()
        #expect(await eventually { old.reports.count == 3 })
        #expect(await eventually { old.tails == 0 && old.retired == 0 })
        #expect(old.warnings == [])
        #expect(await old.stop()?.processed == 3)
        #expect(try records().count { $0.pipeline == "new" && $0.state == .processed } == 3)
        #expect(try works(of: "test") == [])
        #expect(try works(of: "new") == [scratch.path(work ?? ".dropmill/new")])
        let next = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.work = work.map { scratch.path($0) }
            pipeline = renamed(pipeline)
        }
        try next.start(once: true)
        #expect(await eventually { next.summary != nil })
        #expect(next.warnings == [])
    }

    @Test("A reload takes over what is at rest under the old name, or says that a start will")
    func atRest() async throws {
        let old = try harness()
        try await begin(old)
        _ = try old.reload([])
        gate.open()
        #expect(await eventually { old.retired == 0 })
        let bare = renamed(old.pipeline, formerly: nil)
        _ = try old.reload([bare])
        _ = try old.reload([renamed(old.pipeline)])
        let told = "unfinished jobs of the pipeline 'test' (2) are taken over at the daemon's next start"
        #expect(old.warnings.last == told)
        #expect(try old.reload([]).map(\.text) == ["removed"])
        #expect(await eventually { old.retired == 0 })
        _ = try old.reload([renamed(old.pipeline)])
        #expect(await eventually { old.reports.count == 2 })
        #expect(old.reports.map(\.job.pipeline) == ["new", "new"])
        #expect(await old.stop()?.processed == 2)
        #expect(try records().map(\.pipeline) == ["new", "new"])
    }

    @Test("A reload that is refused leaves with the old name what it would have taken over")
    func refused() async throws {
        let harness = try harness()
        try await begin(harness)
        _ = try harness.reload([])
        gate.open()
        #expect(await eventually { harness.retired == 0 })
        var bad = harness.pipeline
        (bad.name, bad.inbox, bad.work) = ("bad", scratch.path("bad"), scratch.path("strange"))
        try scratch.write("x", to: "strange/file")
        let error = #expect(throws: EngineError.self) { try harness.reload([renamed(harness.pipeline), bad]) }
        #expect(error?.message.contains("it holds other things") == true)
        try harness.writer?.flush()
        #expect(try records().map(\.pipeline) == ["test", "test"])
        #expect(try works(of: "test") == [scratch.path(".dropmill/test")])
        #expect(try works(of: "new") == [])
        #expect(!harness.isReserved(scratch.path(".dropmill/new")))
        _ = try harness.reload([harness.pipeline])
        #expect(harness.isReserved(scratch.path(".dropmill/test")))
        #expect(await eventually { harness.reports.count == 2 })
        #expect(await harness.stop()?.processed == 2)
    }

    @Test("What a person holds stays held under the new name", arguments: [false, true])
    func held(isStart: Bool) async throws {
        var harness = try harness()
        gate.open()
        try harness.start()
        let hold = try #require(try harness.hold(["test"], order(.pause)).held.first)
        if isStart {
            _ = await harness.stop()
            harness = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0 = renamed($0) }
            try harness.start()
        } else {
            _ = try harness.reload([renamed(harness.pipeline)])
        }
        try harness.drop("a")
        #expect(await eventually { await harness.waiting(for: "a", of: "new")?.waiting.code == "held" })
        let journal = try #require(harness.journal)
        #expect(try journal.holds() == [hold.passed(to: "new")])
        try harness.hold(["new"], order(nil))
        #expect(await eventually { harness.reports.count == 1 })
        #expect(await harness.stop()?.processed == 1)
    }

    private func order(_ kind: HoldRecord.Kind?) throws -> HoldOrder {
        try HoldOrder(kind, by: "anna", user: 1000, reason: kind == nil ? "" : "RIP is down", for: nil)
    }

    @Test("What an earlier boot has left is not believed for the name of one that this run has loaded")
    func earlierBoot() async throws {
        let runs = Mutex(0)
        let first = StageEntry.fake { (payload, _) throws(Failure) in
            runs.withLock { $0 += 1 }
            return payload
        }
        let gone = try EngineHarness(scratch: scratch, stages: [first, gate.entry]) { pipeline in
            (pipeline.name, pipeline.inbox) = ("gone", scratch.path("gone"))
        }
        try gone.start()
        try gone.drop("a")
        #expect(await eventually { gone.started.count == 2 })
        #expect(await gone.stop(grace: .zero)?.unfinished == 1)
        #expect(try records().map(\.stage) == [1])
        let journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        _ = try journal.beginRun(RunRecord(boot: "an earlier one", process: 1, startedAt: .now()))
        journal.close()
        gate.open()
        let harness = try EngineHarness(scratch: scratch, stages: [first, gate.entry])
        try harness.start()
        var heir = harness.pipeline
        (heir.work, heir.formerly) = (scratch.path("work"), "gone")
        heir.declaration.keys = ["work": "work", "formerly": "gone"]
        _ = try harness.reload([heir])
        #expect(await eventually { harness.reports.count == 1 })
        #expect(runs.withLock { $0 } == 2, "the first stage has run again")
        #expect(await harness.stop()?.processed == 1)
    }
}
