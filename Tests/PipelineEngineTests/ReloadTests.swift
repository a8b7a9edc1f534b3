import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Other pipelines in place of those that run.
@Suite("Reload", .timeLimit(.minutes(5))) struct ReloadTests {
    private let scratch: ScratchFolder
    private let runs: Runs

    /// Which stages were run, by their labels.
    private final class Runs: Sendable {
        private let labels = Mutex<[String]>([])
        var all: [String] { labels.withLock { $0 } }
        func add(_ label: String) { labels.withLock { $0.append(label) } }
    }

    init() throws {
        scratch = try ScratchFolder()
        runs = Runs()
    }

    /// A stage that says that it runs. One whose label begins with `made` makes a new payload.
    private func stage(_ label: String) throws -> StageEntry {
        let output = scratch.path("output")
        let target = PathTemplate(try Template("{name}", use: .path), below: output)
        let fake = FakeStage { [runs] (payload, context) throws(Failure) in
            runs.add(label)
            guard label.hasPrefix("made") else { return payload }
            let folder = try context.makeScratch()
            do throws(IOError) {
                let file = try OpenFile.open(folder.appending("out"), O_WRONLY | O_CREAT, mode: 0o600)
                try file.write(Array(label.utf8))
                try file.close()
            } catch {
                throw Failure(error)
            }
            var made = Payload(folder: folder)
            made.destination = output.appending(context.job.id.text)
            return made
        }
        return StageEntry(kind: "fake", stage: fake, targets: ["to": target])
    }

    private func labelled(_ pipeline: Pipeline, _ stages: [(label: String, entry: StageEntry)]) -> Pipeline {
        var pipeline = pipeline
        pipeline.stages = stages.map(\.entry)
        pipeline.definition = Definition(stages: stages.map(\.label))
        pipeline.declaration.stages = stages.map(\.label)
        return pipeline
    }

    private func labelled(_ pipeline: Pipeline, _ labels: String) throws -> Pipeline {
        labelled(pipeline, try labels.split(separator: " ").map { (String($0), try stage(String($0))) })
    }

    private func harness() throws -> EngineHarness { try EngineHarness(scratch: scratch, stages: [.passing]) }

    /// Another pipeline beside the harness's own.
    private func other(_ harness: EngineHarness, _ name: String = "other") -> Pipeline {
        Pipeline(
            name: name, source: FilePath("\(name).yaml"), inbox: scratch.path("\(name)/inbox"),
            processed: .folder(scratch.path("\(name)/processed")), failed: scratch.path("\(name)/failed"),
            ready: harness.pipeline.ready, durability: .fast, stages: [.passing])
    }

    @Test("What is unchanged notices nothing")
    func unchanged() async throws {
        let harness = try harness()
        try harness.start()
        #expect(try harness.reload([harness.pipeline]) == [PipelineChange("test", .unchanged)])
        #expect(harness.generations == ["test": 1])
        try harness.drop("a")
        #expect(await eventually { harness.reports.count == 1 })
        #expect(await harness.stop()?.processed == 1)
    }

    /// The stages that the drop is to run through, of a job that is in its third stage when they come into force.
    @Test(
        "A job goes on behind the stages that are the same",
        arguments: [
            ("made1 two three four2", "made1 two three four2"),
            ("made1 two2 three four", "made1 two three two2 three four"),
            ("made1b two three four", "made1 two three made1b two three four"),
            ("made1 two three", "made1 two three"),
            ("made1 two three four five", "made1 two three four five"),
            ("made1 two three2 four", "made1 two three three2 four"),
        ])
    func goesOn(new: String, expected: String) async throws {
        let harness = try harness()
        let gate = Gate()
        try harness.start()
        let old = try ["made1", "two", "three", "four"].map { ($0, try stage($0)) }
        var held = old
        held[2].1 = .fake { [runs, entry = gate.entry.stage] (payload, context) throws(Failure) in
            runs.add("three")
            return try entry.run(payload, in: context)
        }
        _ = try harness.reload([labelled(harness.pipeline, held)])
        try harness.drop("a")
        #expect(await eventually { runs.all == ["made1", "two", "three"] })
        let changes = try harness.reload([try labelled(harness.pipeline, new)])
        #expect(changes.count == 1)
        #expect(harness.reports.isEmpty, "a reload waits for no job")
        gate.open()
        #expect(await eventually { harness.reports.count == 1 })
        #expect(runs.all.joined(separator: " ") == expected)
        #expect(await eventually { harness.retired == 0 })
        #expect(harness.warnings == [])
        #expect(harness.reports.map(\.outcome) == [.processed])
        let summary = await harness.stop()
        #expect(summary?.processed == 1)
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        let record = try #require(try journal.jobs(JobQuery()).first)
        let again = record.history.filter { $0.event == "begun again" }
        #expect(
            again.map(\.note)
                == (expected.split(separator: " ").count > 5 || new.contains("three2")
                    ? ["the pipeline was changed"] : []))
    }

    @Test("What waits is judged by the new rules")
    func rules() async throws {
        let harness = try harness()
        var narrow = harness.pipeline
        narrow.match = MatchRule(include: [try #require(Glob("*.pdf"))])
        narrow.declaration.keys = ["match": "pdf"]
        try harness.start()
        #expect(try harness.reload([narrow]) == [PipelineChange("test", .changed(["match"]))])
        try harness.drop("a.txt")
        try harness.drop("b.pdf")
        #expect(await eventually { harness.reports.count == 1 })
        #expect(try harness.reload([harness.pipeline]) == [PipelineChange("test", .changed(["match"]))])
        #expect(await eventually { harness.reports.count == 2 })
        #expect(await harness.stop()?.processed == 2)
    }

    @Test("A removed pipeline ends what runs, keeps the rest, and goes on where it is back")
    func removed() async throws {
        let harness = try harness()
        let gate = Gate()
        let gated = labelled(harness.pipeline, [("gate", gate.entry), ("end", try stage("end"))])
        try harness.start()
        _ = try harness.reload([gated])
        try harness.drop("a")
        #expect(await eventually { harness.claimed.count == 1 })
        try harness.drop("b")
        #expect(await eventually { harness.claimed.count == 2 })
        #expect(try harness.reload([other(harness)]).map(\.text) == ["added", "removed (2 unfinished)"])
        // Both are still here: one runs, one waits.
        #expect(try harness.reload([gated, other(harness)]).map(\.text) == ["added", "unchanged"])
        let gone = try harness.reload([other(harness)]).map(\.text)
        #expect(gone == ["unchanged", "removed (2 unfinished)"])
        gate.open()
        #expect(await eventually { harness.retired == 0 })
        #expect(
            await eventually {
                harness.warnings.contains { $0.contains("to the pipeline 'test', which is not loaded") }
            })
        #expect(runs.all.isEmpty, "no stage begins any more")
        #expect(harness.reports.isEmpty)
        try harness.drop("c")
        #expect(try harness.reload([gated, other(harness)]).map(\.text) == ["added", "unchanged"])
        #expect(await eventually { harness.reports.count == 3 })
        #expect(await harness.stop()?.processed == 3)
        #expect(try scratch.jobStates() == [.processed: 3])
    }

    @Test("Where one that is added cannot be used nothing is changed")
    func refused() async throws {
        let harness = try harness()
        try harness.start()
        try scratch.write([1], to: scratch.path("other"))
        #expect(throws: EngineError.self) {
            try harness.reload([try labelled(harness.pipeline, "one"), other(harness, "first"), other(harness)])
        }
        #expect(harness.generations == ["test": 1])
        try Folder.remove(scratch.path("other"))
        let changes = try harness.reload([
            try labelled(harness.pipeline, "one"), other(harness, "first"), other(harness),
        ])
        #expect(changes.map(\.text) == ["changed (stage 1)", "added", "added"])
        try harness.drop("a")
        #expect(await eventually { harness.reports.count == 1 })
        #expect(await harness.stop()?.processed == 1)
        #expect(runs.all == ["one"])
    }

    @Test("All can be removed, and the engine still stops")
    func empty() async throws {
        let harness = try harness()
        try harness.start()
        #expect(try harness.reload([]).map(\.text) == ["removed"])
        #expect(await eventually { harness.retired == 0 })
        #expect(await harness.stop() != nil)
    }

    @Test("One that is removed and added again is there, whether the last one of its name is over or not")
    func backAtOnce() async throws {
        let harness = try harness()
        // They take a while to be prepared, in which the job ends.
        let beside = (1...10).map { other(harness, "beside-\($0)") }
        try harness.start()
        for round in 1...20 {
            let gate = Gate()
            let gated = labelled(harness.pipeline, [("gate \(round)", gate.entry)])
            _ = try harness.reload([gated])
            try harness.drop("\(round)")
            #expect(await eventually { harness.claimed.count >= round })
            _ = try harness.reload([])
            async let changes = harness.reload([gated] + beside)
            gate.open()
            _ = try await changes
            #expect(harness.generations.keys.contains("test"), "round \(round)")
            #expect(await eventually { harness.reports.count == round }, "round \(round)")
        }
        #expect(await eventually { harness.retired == 0 })
        #expect(await harness.stop()?.processed == 20)
    }

    @Test("A reload that comes during a stop is refused, and the stop goes on")
    func stopping() async throws {
        let harness = try harness()
        let gate = Gate()
        try harness.start()
        _ = try harness.reload([labelled(harness.pipeline, [("gate", gate.entry)])])
        try harness.drop("a")
        #expect(await eventually { harness.claimed.count == 1 })
        async let summary = harness.stop()
        #expect(await eventually { harness.events.contains { if case .stopping = $0 { true } else { false } } })
        #expect(throws: EngineError.self) { try harness.reload([harness.pipeline, other(harness)]) }
        gate.open()
        #expect(await summary != nil)
        #expect(Folder.kind(of: scratch.path("other/inbox")) != nil, "it was made, and given back")
        #expect(throws: Never.self) { try WorkFolder(for: other(harness)).release() }
    }

    @Test("A claimed drop that is still being written waits on under the new rules")
    func lateWriter() async throws {
        let harness = try harness()
        let id = JobIDGenerator().next()
        let work = try WorkFolder(for: harness.pipeline)
        let drop = work.folder(id).appending(try "a".fileName)
        try scratch.write(Array("x".utf8), to: drop)
        work.release()
        let writer = try OpenFile.open(drop, O_WRONLY | O_APPEND)
        try harness.start()
        #expect(await eventually { await harness.waiting().longest.contains { $0.isClaimed } })
        #expect(try harness.reload([try labelled(harness.pipeline, "one")]).map(\.text) == ["changed (stage 1)"])
        #expect(await eventually { await harness.waiting().longest.contains { $0.isClaimed } })
        #expect(harness.reports.isEmpty)
        try writer.close()
        #expect(await eventually { harness.reports.map(\.job.id) == [id] })
        #expect(runs.all == ["one"])
        #expect(await harness.stop()?.processed == 1)
    }

    @Test("With the first pipeline that is to be durable the journal is, and stays so")
    func durability() async throws {
        let harness = try harness()
        var durable = harness.pipeline
        durable.durability = .full
        durable.declaration.keys = ["durability": "full"]
        try harness.start()
        #expect(harness.journal?.isDurable == false)
        #expect(try harness.reload([durable]).map(\.text) == ["changed (durability)"])
        #expect(harness.journal?.isDurable == true)
        try harness.drop("a")
        #expect(await eventually { harness.reports.count == 1 })
        _ = try harness.reload([harness.pipeline])
        #expect(harness.journal?.isDurable == true)
        #expect(await harness.stop()?.processed == 1)
    }

    @Test("A reload waits for no job that runs alone, and holds for all that come after it")
    func quarantined() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry])
        let ids = JobIDGenerator()
        let (suspect, later) = (ids.next(), ids.next())
        try harness.leave(suspect, "suspect", recoveries: 1)
        try harness.leave(later, "later", recoveries: 0)
        try harness.start()
        #expect(await eventually { harness.started.contains(suspect) })
        let changes = try harness.reload([try labelled(harness.pipeline, "one"), other(harness)])
        #expect(changes.map(\.text) == ["changed (stage 1)", "added"])
        #expect(harness.reports.isEmpty && harness.started == [suspect], "nothing else has begun")
        try harness.drop("new")
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(harness.reports.first?.job.id == suspect)
        #expect(runs.all == ["one", "one", "one"])
        #expect(await harness.stop()?.processed == 3)
    }

    @Test("Changed again and again under load, every drop is settled once", arguments: [UInt64.random(in: 0 ... .max)])
    func load(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let harness = try harness()
        try harness.start()
        let count = 1_500
        let labels = ["made1", "made2", "b", "c", "d"]
        let drops = Task {
            for number in 0..<count { try harness.drop("\(number)") }
        }
        for _ in 0..<60 {
            let stages = (0...Int.random(in: 0...3, using: &random)).map { _ in
                labels.randomElement(using: &random) ?? "b"
            }
            var next = try labelled(harness.pipeline, stages.joined(separator: " "))
            next.activeJobs = Int.random(in: 1...64, using: &random)
            next.declaration.keys = ["active": "\(next.activeJobs)"]
            let isThere = Int.random(in: 0..<6, using: &random) > 0
            let beside = Bool.random(using: &random) ? [other(harness)] : []
            _ = try harness.reload((isThere ? [next] : []) + beside)
            guard isThere else { continue }
            let enough = min(count, harness.claimed.count + Int.random(in: 0...40, using: &random))
            #expect(await eventually { harness.claimed.count >= enough }, "seed \(seed)")
        }
        try await drops.value
        _ = try harness.reload([try labelled(harness.pipeline, "b")])
        let isOver = await eventually(within: .seconds(120)) { harness.reports.count >= count }
        #expect(isOver, "seed \(seed): \(harness.reports.count) of \(count)")
        #expect(await eventually { harness.retired == 0 })
        let summary = await harness.stop()
        #expect(summary?.unfinished == 0)
        let failures = harness.reports.compactMap { if case .failed(let failure) = $0.outcome { failure } else { nil } }
        #expect(failures == [], "seed \(seed)")
        #expect(Set(harness.reports.map(\.job.id)).count == count)
        #expect(harness.reports.count == count, "seed \(seed)")
        #expect(try scratch.jobStates() == [.processed: count])
        #expect(try scratch.tree("inbox") == [])
        #expect(try scratch.tree(".dropmill/test/active") == [])
        #expect(try scratch.tree("processed").count == count)
    }
}
