import Files
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine

/// A pipeline that producers share.
@Suite("Fairness", .timeLimit(.minutes(5))) struct FairEngineTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func order(_ engine: EngineHarness) -> [String] { engine.reports.map(\.job.drop.path.text) }

    private func drop(_ path: String) throws {
        _ = try scratch.makeFolder("inbox/\(path.split(separator: "/")[0])")
        try scratch.write("content", to: "inbox/\(path)")
    }

    @Test("One drop does not wait behind three hundred that another producer had claimed before")
    func stages() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) {
            ($0.fair, $0.match.depth) = (FairRule(by: .folder), 2)
        }
        try engine.start()
        for number in 0..<300 { try drop("acme/\(number)") }
        #expect(await eventually { engine.claimed.count == 300 })
        try drop("zeta/1")
        #expect(await eventually { engine.claimed.count == 301 })
        gate.open()
        #expect(await eventually { engine.reports.count == 301 })
        #expect(order(engine).firstIndex(of: "zeta/1") ?? 300 <= 3)
        #expect(engine.reports.allSatisfy { $0.job.producer == String($0.job.drop.path.text.prefix(4)) })
        _ = await engine.stop()
    }

    @Test("No producer has more under way than it may, however the inbox fills; the rest says why it waits")
    func bound() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) {
            ($0.fair, $0.match.depth) = (FairRule(by: .folder), 2)
            $0.fair?.active = 2
        }
        try engine.start()
        for number in 0..<5 { try drop("acme/\(number)") }
        #expect(await eventually { engine.claimed.count == 2 })
        try drop("zeta/1")
        #expect(await eventually { engine.claimed.count == 3 })
        #expect(Set(engine.claimed.map(\.producer)) == ["acme", "zeta"])
        let waiting = await engine.waiting().longest
        #expect(waiting.count == 3 && waiting.allSatisfy { $0.waiting == .share("acme") })
        gate.open()
        #expect(await eventually { engine.reports.count == 6 })
        _ = await engine.stop()
    }

    @Test("The owner of a drop is its producer where that is asked for; the next run counts what it finds")
    func nextRun() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) {
            $0.fair = FairRule(by: .owner)
            $0.fair?.active = 1
        }
        try engine.start()
        for name in ["a", "b"] { try engine.drop(name) }
        #expect(await eventually { engine.claimed.count == 1 })
        #expect(engine.claimed.first?.producer == CurrentUser.name)
        _ = await engine.stop()
        try engine.start()
        let started = await eventually { engine.started.count == 2 }
        #expect(started && engine.claimed.allSatisfy { $0.drop.name.text == engine.claimed[0].drop.name.text })
        gate.open()
        #expect(await eventually { engine.reports.count == 2 })
        _ = await engine.stop()
    }

    @Test("A drop that fails for what it is neither takes a place of its owner's others nor gives one away")
    func rejected() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) {
            $0.fair = FairRule(by: .owner)
            $0.fair?.active = 1
            $0.ready.limits.size = ByteSize(bytes: 100)
        }
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.claimed.count == 1 })
        try scratch.write(String(repeating: "x", count: 101), to: "inbox/large")
        #expect(await eventually { engine.reports.count == 1 })
        try engine.drop("b")
        #expect(await eventually { await engine.waiting(for: "b")?.waiting == .share(CurrentUser.name) })
        #expect(engine.claimed.map(\.drop.name.text) == ["a", "large"])
        gate.open()
        #expect(await eventually { engine.reports.count == 3 })
        _ = await engine.stop()
    }

    @Test("Drops that their sender still writes to come back one by one, as the bound says")
    func late() {
        var room = ActiveRoom(jobs: 10, bytes: nil, ofEach: 2)
        for _ in 0..<2 { room.reserve(1, of: "acme") }
        #expect(!room.has(1, of: "acme") && room.has(1, of: "zeta") && room.isFull("acme"))
        room.giveBack(1, of: "acme")
        #expect(room.has(1, of: "acme") && !room.isFull(nil))
    }
}
