import Files
import Journal
import PipelineKit
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// What a gate, and then a claim, remembers of what held a drop.
@Suite("What held a drop") struct GateHoldTests {
    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9))
    }

    private static func file(_ size: Int64 = 100, _ writers: OpenWriters = .none) -> Sample {
        let time = FileTime(seconds: 1)
        return .file(Fingerprint(device: 1, inode: 7, size: size, modified: time, changed: time), writers)
    }

    /// Samples whenever that is due until it is ready; what held it then. `look`: what is seen, and what is lacking.
    private func held(
        _ rule: ReadyRule = ReadyRule(quiet: .seconds(1)), lacking usual: Waiting? = nil, until end: Double = 100,
        _ look: (Double) -> (Sample, Waiting?)
    ) throws -> [GateHold] {
        var gate = ReadyGate(rule: rule, usualLack: { @Sendable _ in usual })
        gate.touch("a", at: Self.at(0))
        while let due = gate.nextDue, due < Self.at(end) {
            for request in gate.due(at: due) {
                let seconds = Double((due - Self.at(0)).nanoseconds) / 1e9
                let held = gate.held("a", at: due)
                let (sample, lacking) = look(seconds)
                let decision = gate.record(sample, of: "a", at: due, lacking: request.deciding ? lacking : nil)
                if case .ready = decision { return held }
                if decision == .waiting(.lacking), gate.nextDue == nil { gate.recheck("a", at: due + .seconds(1)) }
            }
        }
        Issue.record("it was never ready")
        return []
    }

    @Test("A file that stands still was held by nothing")
    func still() throws { #expect(try held { _ in (Self.file(), nil) } == []) }

    @Test("How long it grew, and how long it was open after that")
    func grewAndOpen() throws {
        let writer = OpenWriters.some(.init(process: 2210, program: "smbd"))
        let held = try held { seconds in
            (Self.file(seconds < 20 ? Int64(seconds * 10) : 200, seconds < 51 ? writer : .none), nil)
        }
        #expect(held.map(\.waiting.code) == ["growing", "open-writer"])
        let times = held.map { ($0.time.seconds * 2).rounded() / 2 }
        #expect(times == [20, 30], "it grew for 20 s, stood still for 1 s, and was closed 30 s later")
        #expect(held.last?.waiting.reason == "held open for writing by smbd (pid 2210)")
    }

    @Test(
        "What every drop of the inbox lacks at first is told too, though nothing is kept of it",
        arguments: [true, false])
    func marker(isUsual: Bool) throws {
        let lack = Waiting.marker(try "a.done".fileName, .missing)
        let held = try held(lacking: isUsual ? lack : nil) { seconds in
            (Self.file(), seconds < 30 ? lack : nil)
        }
        #expect(held.map(\.waiting) == [lack])
        #expect(held.map { $0.time.seconds.rounded() } == [29])
        #expect(held.first?.since == Self.at(1))
    }

    @Test("Of very many reasons the longest few are kept, and alike ones are one")
    func many() throws {
        let held = try held { seconds in
            let program = ["a", "b", "c", "d", "e", "f"][Int(seconds / 10) % 6]
            return (Self.file(100, seconds < 65 ? .some(.init(process: Int32(seconds), program: program)) : .none), nil)
        }
        #expect(held.count == HoldNotes<Int>.most)
        #expect(held.map(\.time).min().map { $0 > .seconds(4) } == true)
    }

    @Test("Notes are kept of so many candidates at most, and go with them")
    func bounded() {
        var notes = HoldNotes<Int>()
        let writer = Waiting.heldOpen(.unknown)
        for slot in 0..<10_000 { notes.saw(writer, of: slot, at: Self.at(0)) }
        let held = { (slot: Int) in notes.holds(of: slot, at: Self.at(3)).map(\.time) }
        #expect(held(4095) == [.seconds(3)] && held(4096) == [])
        notes.forget(7, for: 4095)
        #expect(notes.holds(of: 7, at: Self.at(3)).count == 1 && notes.holds(of: 4095, at: Self.at(3)).isEmpty)
        notes.saw(writer, of: 9999, at: Self.at(3))
        #expect(notes.holds(of: 9999, at: Self.at(5)).map(\.time) == [.seconds(2)])
    }

    // MARK: At the claim

    private func arrival(_ held: [GateHold], _ obstacles: Obstacles, claimed: Double) -> [Transition] {
        let time = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
        let arrival = Arrival(
            seen: Self.at(0), held: held, quiet: .seconds(1), obstacles: obstacles, claimed: Self.at(claimed), at: time)
        return arrival.history("claimed", at: Self.at(claimed), time)
    }

    @Test("A person's pause and the wait for room are told apart from what held the drop itself")
    func obstacles() {
        var obstacles = Obstacles()
        obstacles.set(.held("paused by anna"), at: Self.at(5))
        obstacles.set(.held("paused by anna"), at: Self.at(7))
        obstacles.set(nil, at: Self.at(30))
        let writer = GateHold(waiting: .heldOpen(.unknown), since: Self.at(1), time: .seconds(9))
        let history = arrival([writer], obstacles, claimed: 40)
        #expect(history.map(\.event) == ["held", "held", "held", "claimed"])
        #expect(history.map(\.code) == ["open-writer", "held", "room", nil])
        #expect(history.map { $0.duration?.seconds } == [9, 20, 10, 40])
        #expect(history[1].note == "the pipeline is paused by anna")
        #expect(arrival([], Obstacles(), claimed: 1.05).map(\.event) == ["claimed"])
    }

    @Test("However often a pipeline is paused, little of that is kept")
    func manyPauses() {
        var obstacles = Obstacles()
        for second in 0..<200 {
            obstacles.set(second % 2 == 0 ? .paused("No space \(second).") : nil, at: Self.at(Double(second)))
        }
        #expect(obstacles.between(Self.at(0), Self.at(500)).count == Obstacles.most)
        let history = arrival([], obstacles, claimed: 500)
        #expect(history.count == Arrival.most + 1)
        #expect(history.first?.code == "room" && history.dropLast().map(\.at) == history.dropLast().map(\.at).sorted())
    }

    @Test("A reason that names a long file stays short")
    func long() {
        let hold = GateHold(
            waiting: .incomplete(String(repeating: "x", count: 5000)), since: Self.at(1), time: .seconds(3))
        #expect(arrival([hold], Obstacles(), claimed: 9).first?.note?.count == 300)
    }
}
