import Files
import PipelineKit
import TestSupport
import TestTools
import Testing

@testable import FolderWatch
@testable import PipelineEngine

/// Nodes that share an inbox: each drop is one node's first.
@Suite("Ceding", .timeLimit(.minutes(5))) struct CedingTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Names that are this node's first, and such that are another one's.
    private func names(_ count: Int) throws -> (own: [String], others: [String]) {
        let nodes = LivingNodes()
        nodes.note(["here", "there"], own: "here")
        let names = (0..<100).map { "f\($0)" }
        let own = try names.filter { nodes.isOwn(DropPath(try $0.fileName)) }
        return (Array(own.prefix(count)), Array(names.filter { !own.contains($0) }.prefix(count)))
    }

    private func start(_ engine: EngineHarness, among nodes: [String] = ["here", "there"]) throws {
        try engine.start()
        engine.livingNodes?.note(nodes, own: "here")
    }

    private func waiting(_ engine: EngineHarness, _ names: [String]) async -> [Waiting?] {
        var all: [Waiting?] = []
        for name in names { all.append(await engine.waiting(for: name)?.waiting) }
        return all
    }

    @Test("What another node does not take is taken, but not before that had its time")
    func grace() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try start(engine)
        let names = try names(5)
        let begin = MonotonicTime.now()
        for name in names.others + names.own { try engine.drop(name) }
        #expect(await eventually { engine.reports.count > 5 })
        #expect(MonotonicTime.now() - begin >= CededDrops.grace)
        #expect(await eventually { engine.reports.count == 10 })
        let ended = engine.reports.map(\.job.drop.name.text)
        #expect(Set(ended.prefix(5)) == Set(names.own) && Set(ended.suffix(5)) == Set(names.others))
        _ = await engine.stop()
    }

    @Test("A node that is busy looks at nothing that is another one's first, until that one goes")
    func busy() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.activeJobs = 1 }
        try start(engine)
        let names = try names(3)
        for name in names.own { try engine.drop(name) }
        #expect(await eventually { await waiting(engine, names.own).count { $0 == .room } == 2 })
        let begin = MonotonicTime.now()
        for name in names.others { try engine.drop(name) }
        #expect(await eventually { await waiting(engine, names.others) == [.ceded, .ceded, .ceded] })
        #expect(await eventually { MonotonicTime.now() - begin > CededDrops.grace * 2 })
        #expect(await waiting(engine, names.others) == [.ceded, .ceded, .ceded])
        engine.livingNodes?.note(["here"], own: "here")
        try engine.drop("hint")
        #expect(await eventually { await waiting(engine, names.others) == [.room, .room, .room] })
        gate.open()
        #expect(await eventually { engine.reports.count == 7 })
        _ = await engine.stop()
    }

    @Test("When another node comes, what is its first and waits already is left to it")
    func comes() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.activeJobs = 1 }
        try start(engine, among: ["here"])
        let names = try names(3)
        try engine.drop(names.own[0])
        #expect(await eventually { await engine.waiting().complete == 0 && engine.events.contains { $0.isClaim } })
        for name in names.others + names.own.dropFirst() { try engine.drop(name) }
        #expect(await eventually { await engine.waiting().complete == 5 })
        engine.livingNodes?.note(["here", "there"], own: "here")
        try engine.drop("hint")
        #expect(await eventually { await waiting(engine, names.others) == [.ceded, .ceded, .ceded] })
        #expect(await waiting(engine, Array(names.own.dropFirst())) == [.room, .room])
        gate.open()
        // It has nothing else to do in the end.
        #expect(await eventually { engine.reports.count == 7 })
        _ = await engine.stop()
    }

    @Test("Its own that are not complete, and are looked at all the time, keep nothing that another one left waiting")
    func looks() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try start(engine)
        let names = try names(20)
        for name in names.own { try engine.dropHere(name) }
        try engine.drop(names.others[0])
        let isTaken = await eventually {
            for name in names.own { try? scratch.append([1], to: engine.pipeline.inbox.appending(name.fileName)) }
            return engine.reports.contains { $0.job.drop.name.text == names.others[0] }
        }
        #expect(isTaken)
        _ = await engine.stop()
    }

    @Test("One that changes while it is another node's is taken as it is in the end")
    func changes() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try start(engine)
        let name = try names(1).others[0]
        try engine.dropHere(name, "half")
        #expect(await eventually { await waiting(engine, [name]) == [.ceded] })
        try engine.dropHere(name, "the whole")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.text("processed/\(name)") == "the whole")
        _ = await engine.stop()
    }
}

extension EngineEvent {
    fileprivate var isClaim: Bool { if case .stageStarted = self { true } else { false } }
}
