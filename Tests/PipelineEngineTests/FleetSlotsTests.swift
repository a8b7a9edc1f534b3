import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// How a node waits for slots that it has with others, and uses them.
@Suite("Slots of a fleet", .timeLimit(.minutes(2))) struct FleetSlotsTests {
    /// A journal with so many slots of each stage, which counts what it is asked.
    private final class Slots: SlotJournal {
        private struct State {
            var free = 0
            var taken: Set<Int64> = []
            var isAway = false
            var isAwaited = false
            var mayAct = true
            var turns = 0
        }
        private let state: Mutex<State>

        init(_ free: Int) { state = Mutex(State(free: free)) }

        var mayAct: Bool { state.withLock(\.mayAct) }
        var turns: Int { state.withLock(\.turns) }
        var taken: Set<Int64> { state.withLock(\.taken) }

        func set(free: Int? = nil, isAway: Bool? = nil, isAwaited: Bool? = nil, mayAct: Bool? = nil) {
            state.withLock { state in
                state.free = free ?? state.free
                state.isAway = isAway ?? state.isAway
                state.isAwaited = isAwaited ?? state.isAwaited
                state.mayAct = mayAct ?? state.mayAct
            }
        }

        func takeSlots(_ tickets: [SlotTicket], upTo last: Int64) throws(JournalError) -> [SlotStanding] {
            let answers = state.withLock { state -> [SlotStanding]? in
                state.turns += 1
                guard !state.isAway else { return nil }
                let asked = tickets.map(\.number)
                state.free += state.taken.subtracting(asked).count
                state.taken.formIntersection(asked)
                for number in asked where state.free > 0 && state.taken.insert(number).inserted { state.free -= 1 }
                return asked.map {
                    SlotStanding(number: $0, isTaken: state.taken.contains($0), isAwaited: state.isAwaited)
                }
            }
            guard let answers else { throw JournalError(.environment, "It is away.") }
            return answers
        }
    }

    private let place = SlotPlace(pipeline: "scans", stage: "unpack")

    @Test("Who waits begins once a slot is free, also after the journal was away, and asks again and again until then")
    func waiting() async {
        let journal = Slots(1)
        let begun = Mutex<[Int64]>([])
        let fleet = FleetSlots(journal)
        for _ in 0..<2 { fleet.enter(place, of: 1) { seat in begun.withLock { $0.append(seat) } } }
        #expect(await eventually { begun.withLock { $0 } == [1] })
        #expect(fleet.holds(1) && !fleet.holds(2) && fleet.isAwaited(by: "scans") && !fleet.isAwaited(by: "others"))
        journal.set(isAway: true)
        fleet.leave(1)
        let turns = journal.turns
        #expect(await eventually { journal.turns > turns + 2 })
        #expect(begun.withLock { $0 } == [1] && journal.taken == [1])
        journal.set(isAway: false)
        #expect(await eventually { begun.withLock { $0 } == [1, 2] })
        #expect(!fleet.holds(1) && fleet.holds(2) && !fleet.isAwaited(by: "scans"))
        journal.set(mayAct: false)
        #expect(!fleet.holds(2) && !fleet.mayKeep(2), "its lease may be over")
        fleet.leave(2)
        #expect(await eventually { journal.taken.isEmpty })
        fleet.stop()
    }

    @Test("Who has a slot keeps it for the next job, unless others wait for long")
    func keeping() async {
        let journal = Slots(1)
        let fleet = FleetSlots(journal)
        let begun = Mutex(false)
        fleet.enter(place, of: 1) { _ in begun.withLock { $0 = true } }
        #expect(await eventually { begun.withLock { $0 } })
        #expect(fleet.mayKeep(1))
        journal.set(isAwaited: true)
        #expect(await eventually { !fleet.mayKeep(1) })
        #expect(fleet.holds(1), "what runs goes on")
        journal.set(isAwaited: false)
        #expect(await eventually { fleet.mayKeep(1) })
        fleet.stop()
    }

    @Test("A stage runs no more often at once than there are slots, and gives them back at its end")
    func stage() async throws {
        let (journal, gate) = (Slots(2), Gate())
        let entry = StageEntry(kind: "fake", stage: gate.entry.stage, workers: 4, isFleetWide: true)
        let ended = Mutex(0)
        let scratch = try ScratchFolder()
        let path = try scratch.write("content", to: "a")
        let fleet = FleetSlots(journal)
        let workers = StageWorkers(
            entry: entry, pipeline: "scans", durability: .fast, fleet: fleet,
            space: FreeSpace(of: [], floor: ByteSize(bytes: 0))
        ) { @Sendable _ in ended.withLock { $0 += 1 } }
        for _ in 0..<6 {
            let job = Job(
                id: JobIDGenerator().next(), pipeline: "scans",
                drop: Drop(name: try #require(FileName("a")), folders: [], size: 1, droppedAt: .now()),
                claimedAt: .now(), folder: path.removingLastComponent())
            workers.submit(StageWorkers.Work(job: job, payload: Payload(dropOf: job), stage: 0))
        }
        #expect(await eventually { workers.running.count == 2 && journal.turns > 3 })
        #expect(workers.running.count == 2)
        gate.open()
        #expect(await eventually { ended.withLock { $0 } == 6 && journal.taken.isEmpty })
        fleet.stop()
    }
}
