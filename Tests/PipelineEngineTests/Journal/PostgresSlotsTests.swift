import Dispatch
import Files
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal

/// Slots that nodes have together, on a server of its own.
@Suite("Slots of all nodes", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresSlotsTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    private func open(_ node: String) throws -> PostgresJournal {
        try PostgresJournal.open(place, as: Incarnation(of: node, version: "1"))
    }

    private static let unpack = SlotPlace(pipeline: "scans", stage: "unpack")

    private func tickets(_ numbers: [Int64], of most: Int = 2, _ place: SlotPlace = unpack) -> [SlotTicket] {
        numbers.map { SlotTicket(number: $0, place: place, most: most) }
    }

    /// Asks, and returns those that have a slot.
    private func taken(
        _ journal: PostgresJournal, _ numbers: [Int64], of most: Int = 2, upTo last: Int64? = nil
    ) throws -> Set<Int64> {
        let answers = try journal.takeSlots(tickets(numbers, of: most), upTo: last ?? numbers.max() ?? 99)
        return Set(answers.filter(\.isTaken).map(\.number))
    }

    @Test("There are so many of them, and who asked first has the next")
    func order() throws {
        let (first, second, third) = (try open("a"), try open("b"), try open("c"))
        defer { [first, second, third].forEach { $0.close() } }
        #expect(try taken(first, [1, 2, 3]) == [1, 2])
        #expect(try taken(first, [1, 2, 3]) == [1, 2], "it may be asked again")
        #expect(try taken(third, [1]) == [])
        #expect(try taken(second, [1, 2]) == [])
        #expect(try first.takeSlots(tickets([1, 2, 3]), upTo: 3).allSatisfy(\.isAwaited))
        // What is free is the first one's own, then the third one's, whoever asks.
        #expect(try taken(first, [3], upTo: 3) == [3])
        #expect(try taken(second, [1, 2]) == [])
        #expect(try taken(third, [1]) == [1])
        let use = try #require(try second.slotsInUse().first)
        #expect(use.taken == ["a": 1, "c": 1] && use.waiting == ["b": 2])
        let text = "b waits for one of 2 slots that all nodes have for 'unpack': a has 1, c has 1"
        #expect(use.text == text)
        #expect(try taken(first, [], upTo: 3) == [])
        #expect(try taken(second, [1, 2]) == [1])
        // Of another stage, or pipeline, there are others.
        let other = SlotPlace(pipeline: "scans", stage: "unpack 2")
        #expect(try first.takeSlots(tickets([4], other), upTo: 4).map(\.isTaken) == [true])
    }

    @Test("Those of a dead node are free; of one whose lease is over they are not")
    func death() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        #expect(try taken(first, [1, 2]) == [1, 2])
        first.keeping.withLock { $0?.stop() }
        try server.endLease(where: "name = 'a'", in: place)
        #expect(try taken(second, [1]) == [], "what it runs may go on")
        #expect(try taken(first, [1, 2, 3]).isEmpty, "it takes none, and may not go on")
        #expect(try second.markDead().map(\.name) == ["a"])
        #expect(try taken(second, [1]) == [1])
        #expect(try first.takeSlots(tickets([1, 2]), upTo: 3).isEmpty)
        #expect(try server.ask("SELECT count(*) FROM slots", in: place) == ["1"])
    }

    @Test("Who does not ask any more holds nobody up that waits")
    func silence() throws {
        let (first, second, third) = (try open("a"), try open("b"), try open("c"))
        defer { [first, second, third].forEach { $0.close() } }
        #expect(try taken(first, [1], of: 1) == [1])
        #expect(try taken(second, [1], of: 1) == [])
        #expect(try taken(third, [1], of: 1) == [])
        #expect(try taken(first, [], upTo: 1) == [])
        #expect(try taken(third, [1], of: 1) == [])
        _ = try server.ask(
            "UPDATE slots SET asked_at = asked_at - interval '10 s' WHERE turn = (SELECT min(turn) FROM slots)",
            in: place)
        #expect(try taken(third, [1], of: 1) == [1])
        #expect(try taken(second, [1], of: 1) == [])
    }

    @Test("A statement that comes late gives nothing back that it cannot know")
    func late() throws {
        let journal = try open("a")
        defer { journal.close() }
        #expect(try taken(journal, [1], upTo: 1) == [1])
        #expect(try taken(journal, [2, 3], upTo: 3) == [2, 3])
        // As it was sent before.
        #expect(try taken(journal, [1], upTo: 1) == [2, 3])
        // What it brought back goes with the next.
        #expect(try taken(journal, [2, 3], upTo: 3) == [2, 3])
        #expect(try server.ask("SELECT ticket FROM slots ORDER BY 1", in: place) == ["2", "3"])
    }

    @Test("One node leads in listing an inbox, as long as it is alive and wants to")
    func lead() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        func lead(_ journal: PostgresJournal, _ pipeline: String = "scans", isWanted: Bool = true) throws -> Bool {
            try journal.takeLead(of: pipeline, isWanted: isWanted)
        }
        #expect(try lead(first) && !lead(second))
        #expect(try lead(first) && lead(second, "others"))
        #expect(try !lead(second, isWanted: false), "it is not its own")
        // Where nobody wants to, each does; whoever wants to has it at once.
        #expect(try lead(first, isWanted: false) && lead(second, isWanted: false) && lead(first, isWanted: false))
        #expect(try lead(second) && !lead(first, isWanted: false) && !lead(first))
        try server.endLease(where: "name = 'b'", in: place)
        #expect(try lead(first))
        _ = try server.ask("UPDATE duties SET until = clock_timestamp() WHERE name LIKE 'scan %'", in: place)
        let third = try open("c")
        defer { third.close() }
        #expect(try lead(third) && !lead(first), "it did not ask in time")
    }

    @Test("However many ask at once, there are never more")
    func race() throws {
        let journals = try (1...4).map { try open("n\($0)") }
        defer { journals.forEach { $0.close() } }
        let running = Mutex((now: 0, most: 0, all: 0))
        DispatchQueue.concurrentPerform(iterations: journals.count) { index in
            var next: Int64 = 0
            for _ in 0..<25 {
                next += 2
                var taken: Set<Int64> = []
                while taken.isEmpty {
                    taken = (try? self.taken(journals[index], [next - 1, next], of: 3, upTo: next)) ?? []
                }
                running.withLock { running in
                    running.now += taken.count
                    running.all += taken.count
                    running.most = max(running.most, running.now)
                }
                sched_yield()
                running.withLock { $0.now -= taken.count }
                _ = try? self.taken(journals[index], [], upTo: next)
            }
        }
        #expect(running.withLock { $0.most <= 3 && $0.all >= 100 }, "\(running.withLock { $0 })")
    }
}
