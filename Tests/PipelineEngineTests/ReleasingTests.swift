import Files
import Glibc
import Journal
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine
@testable import SQLiteJournal

/// Jobs whose drops a person sends back to the inbox.
@Suite("Releasing", .timeLimit(.minutes(5))) struct ReleasingTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("One that waits goes back under its name once the pipeline is paused; one that runs does not")
    func paused() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.onFailure = [.passing] }
        try engine.start()
        try engine.drop("first")
        let first = try await engine.job("first")
        #expect(await eventually { engine.started == [first] })
        try engine.drop("second", "content")
        let second = try await engine.job("second")
        let early = try engine.release([second])
        #expect(early.first?.text.contains("pause it first: dropmill pause test") == true, "\(early)")
        try engine.hold([], HoldOrder(.pause, by: "bob", user: 1000))
        let outcomes = try engine.release([first, second])
        #expect(outcomes.first?.text.contains("a stage of it is running") == true, "\(outcomes)")
        #expect(outcomes.last == .goes(scratch.path("inbox")))
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("inbox") == ["second"])
        #expect(try scratch.text("inbox/second") == "content")
        #expect(try scratch.tree("failed") == [])
        #expect(await eventually { (try? engine.record(second)?.state) == .failed })
        let found = try #require(try engine.record(second))
        #expect(found.failure == .released(by: "anna"))
        #expect(found.original == scratch.path("inbox/second"))
        #expect(found.history.contains { $0.event == "released" && $0.note == "by anna" })
        #expect(!found.history.contains { $0.event == "notified" }, "it did not fail")
        gate.open()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try engine.release([first]) == [.refused("it is over: processed")])
        try engine.hold([], HoldOrder(nil, by: "bob", user: 1000))
        #expect(await eventually { engine.reports.count == 3 })
        #expect(try scratch.tree("processed") == ["first", "second"])
        _ = await engine.stop()
    }

    @Test("Nothing in the inbox gives way, whatever `on_conflict` says", arguments: Pipeline.ConflictPolicy.allCases)
    func taken(_ policy: Pipeline.ConflictPolicy) async throws {
        let stage = StageEntry.fake { (_, _) throws(Failure) in
            throw Failure(.transient, code: "later", summary: "Not now.")
        }
        let engine = try EngineHarness(scratch: scratch, stages: [stage]) {
            $0.onConflict = policy
            $0.retry = RetryPolicy(attempts: 5, backoff: .seconds(600), maxBackoff: .seconds(600))
        }
        try engine.start()
        try engine.drop("a.txt", "old")
        let id = try await engine.job("a.txt")
        #expect(await eventually { engine.events.contains { if case .deferred = $0 { true } else { false } } })
        try engine.hold([], HoldOrder(.drain, by: "bob", user: 1000))
        try engine.drop("a.txt", "new")
        #expect(try engine.release([id]) == [.goes(scratch.path("inbox"))])
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("inbox") == ["a.2.txt", "a.txt"])
        #expect(try scratch.text("inbox/a.txt") == "new")
        #expect(try scratch.text("inbox/a.2.txt") == "old")
        _ = await engine.stop()
    }

    @Test("It goes back into the folder that it lay in, which may be others', but through no link")
    func folders() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.match.depth = 2 }
        for folder in ["inbox/open", "inbox/link", "inbox/gone", "elsewhere"] { try scratch.makeFolder(folder) }
        #expect(scratch.path("inbox/open").withPlatformString { chmod($0, 0o777) } == 0)
        try engine.start()
        try engine.dropHere("0")
        let first = try await engine.job("0")
        #expect(await eventually { engine.started == [first] })
        for name in ["open", "link", "gone"] { try scratch.write("x", to: "inbox/\(name)/\(name)") }
        let ids = [
            try await engine.job("open"), try await engine.job("link"), try await engine.job("gone"),
        ]
        try engine.hold([], HoldOrder(.pause, by: "bob", user: 1000))
        for name in ["link", "gone"] { try Folder.remove(scratch.path("inbox/\(name)")) }
        try scratch.link("inbox/link", to: "../elsewhere")
        #expect(try engine.release(ids).allSatisfy(\.isReleased))
        #expect(await eventually { engine.reports.count == 3 })
        #expect(scratch.exists("inbox/open/open") && scratch.exists("inbox/gone/gone"))
        #expect(scratch.exists("inbox/link.2/link"))
        #expect(try scratch.tree("elsewhere") == [])
        gate.open()
        _ = await engine.stop()
    }

    @Test("One whose drop is gone is lost, not sent back")
    func missing() async throws {
        let stage = StageEntry.fake { (_, _) throws(Failure) in
            throw Failure(.transient, code: "later", summary: "Not now.")
        }
        let engine = try EngineHarness(scratch: scratch, stages: [stage]) {
            $0.retry = RetryPolicy(attempts: 5, backoff: .seconds(600), maxBackoff: .seconds(600))
        }
        try engine.start()
        try engine.drop("a.txt")
        let id = try await engine.job("a.txt")
        #expect(await eventually { engine.events.contains { if case .deferred = $0 { true } else { false } } })
        try engine.hold([], HoldOrder(.pause, by: "bob", user: 1000))
        try Folder.remove(try #require(engine.claimed.first).original)
        #expect(try engine.release([id]).first?.isReleased == true, "nobody has looked yet")
        #expect(await eventually { (try? engine.record(id)?.state) == .lost })
        #expect(engine.warnings.contains { $0.contains("is lost") })
        #expect(engine.reports.isEmpty)
        #expect(try scratch.tree("inbox") == [])
        try engine.hold([], HoldOrder(nil, by: "bob", user: 1000))
        try engine.drop("b.txt")
        #expect(try await engine.job("b.txt") != id, "the pipeline goes on")
        _ = await engine.stop()
    }

    @Test("Without a daemon nothing goes back that is being settled for another reason")
    func settling() throws {
        for failure in [Failure.calledOff(by: "anna"), .file("scan.found", "It is infected."), nil] {
            var record = try JournalSamples.job(1)
            (record.state, record.failure) = (.settling, failure)
            let before = record
            let answer = record.release(by: "bob", at: .now())
            let refusal = try #require(answer)
            #expect(record == before)
            #expect(refusal.contains(failure?.code == "operator.cancelled" ? "it is cancelled" : "too late"))
        }
        var record = try JournalSamples.job(1)
        let first = record.release(by: "bob", at: .now())
        #expect(first == nil)
        let again = record.release(by: "bob", at: .now())
        #expect(again == nil, "what was broken off is gone on with")
    }

    @Test("What cannot be moved back is said to be kept, and where")
    func left() throws {
        let record = try JournalSamples.job(1)
        let job = Job(
            id: record.id, pipeline: "test", drop: record.drop, claimedAt: record.claimedAt, folder: "/work/1")
        var settlement = Settlement(job: job, record: record, outcome: .failed(.released(by: "anna")), report: nil)
        settlement.leaveOriginal(at: "/work/astray/1/a", because: IOError("rename", "/in/a", .permissionDenied))
        guard case .failed(let failure) = settlement.outcome else { return #expect(Bool(false)) }
        #expect(settlement.isRelease)
        #expect(failure.summary.contains("could not be moved back to the inbox"))
        #expect(failure.remedy.contains("/work/astray/1/a") && !failure.remedy.contains("failed"))
    }
}
