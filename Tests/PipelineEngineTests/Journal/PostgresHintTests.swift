import Dispatch
import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import PostgresJournal

/// What nodes tell each other at once.
@Suite("Hints", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresHintTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.database()
    }

    private func open(_ node: String) throws -> PostgresJournal {
        try PostgresJournal.open(place, as: Incarnation(of: node, version: "1"))
    }

    private func notify(_ text: String) throws {
        _ = try server.ask("SELECT pg_notify('dropmill', '\(text)')", in: place)
    }

    private let hold = HoldChange(
        of: [HoldRecord(pipeline: "scans", kind: .pause, by: "anna", user: 0, since: JournalSamples.time(1))])

    /// What somebody has heard.
    private final class Heard<Word: Hashable & Sendable>: Sendable {
        private let all = Mutex<Set<Word>>([])

        var words: Set<Word> { all.withLock { $0 } }

        func note(_ words: Set<Word>) { all.withLock { $0.formUnion(words) } }

        /// Forgets the rest once it has.
        func hears(_ word: Word) async -> Bool {
            let isHeard = await eventually { words.contains(word) }
            all.withLock { $0 = [] }
            return isHeard
        }
    }

    private func heard(by journal: PostgresJournal) -> Heard<NodeHint> {
        let heard = Heard<NodeHint>()
        journal.hear { @Sendable in heard.note([$0]) }
        return heard
    }

    @Test("A node hears who comes and goes, what is held and what is asked, and never itself")
    func told() async throws {
        let first = try open("a")
        let heard = heard(by: first)
        let second = try open("b")
        #expect(await heard.hears(.nodes))
        let reading = try PostgresJournal.open(reading: place)
        defer { [first, second, reading].forEach { $0.close() } }
        try second.change(hold)
        #expect(await heard.hears(.holds))
        try reading.change(hold)
        #expect(await heard.hears(.holds))
        _ = try reading.ask([(second.incarnationID, "line")], by: "anna", user: 1)
        #expect(await heard.hears(.requests))
        // All come in order: its own would be there by then, and so would what is none.
        try first.change(hold)
        try second.change(HoldChange(of: []))
        _ = try reading.ask([("nobody", "line")], by: "anna", user: 1)
        #expect(try second.markDead() == [])
        for text in ["", "newer", "nodes "] { try notify(text) }
        try notify("nodes")
        #expect(await eventually { heard.words.contains(.nodes) })
        #expect(heard.words == [.nodes])
        #expect(await heard.hears(.nodes))
        try open("c").endRun()
        #expect(await heard.hears(.nodes))
        second.stopKeeping()
        try server.endLease(where: "name = 'b'", in: place)
        let third = try open("d")
        defer { third.close() }
        try notify("holds")
        #expect(await heard.hears(.holds))
        #expect(try third.markDead().map(\.name) == ["b"])
        #expect(await heard.hears(.nodes))
        try third.leave()
        #expect(await heard.hears(.nodes))
    }

    @Test("It hears again once a connection that was ended is made again, and notices the end by itself")
    func ended() async throws {
        let journal = try open("a")
        defer { journal.close() }
        let heard = heard(by: journal)
        let lease = "FROM pg_stat_activity WHERE application_name = 'dropmill lease' AND datname = current_database()"
        for _ in 0..<20 {
            #expect(try server.ask("SELECT pg_terminate_backend(pid) \(lease)", in: place) == ["t"])
            #expect(await eventually { !journal.leases.isOpen })
            // Nobody hears it, and nobody has to.
            try notify("holds")
            #expect(try journal.renew())
            try notify("requests")
            #expect(await eventually { heard.words.contains(.requests) })
            #expect(heard.words == [.requests])
            #expect(await heard.hears(.requests))
        }
        #expect(try server.ask("SELECT count(*) \(lease)", in: place) == ["1"])
    }

    @Test("Where the server does not let it listen all else is done")
    func refused() throws {
        let hearing = PostgresConnection.Hearing(channel: "no channel") { _ in }
        let connection = PostgresConnection(to: try PostgresPlace(place), as: "test", hearing: hearing)
        defer { connection.close() }
        for _ in 0..<3 { #expect(try connection.query(PostgresQuery("SELECT 1")).count == 1) }
        try connection.transaction { ask in _ = try ask(PostgresQuery("SELECT 1")) }
        // What cannot be told is on record.
        let reading = PostgresConnection(to: try PostgresPlace(place), as: "test")
        defer { reading.close() }
        #expect(throws: PostgresError.self) { try reading.query(PostgresQuery("SELECT pg_notify('', 'x')")) }
    }

    @Test("What comes while something is asked is heard after it, whatever came of that")
    func meanwhile() async throws {
        let heard = Heard<String>()
        let place = try PostgresPlace(place)
        let connection = PostgresConnection(
            to: place, as: "test", hearing: .init(channel: "test") { @Sendable in heard.note($0) })
        let other = PostgresConnection(to: place, as: "test")
        defer { [connection, other].forEach { $0.close() } }
        @Sendable func tell(_ text: String) throws {
            _ = try other.query(PostgresQuery("SELECT pg_notify('test', $1)", text))
        }
        _ = try connection.query(PostgresQuery("SELECT 1"))
        for number in 0..<30 {
            try connection.transaction { ask in
                _ = try ask(PostgresQuery("SELECT 1"))
                try tell("in \(number)")
            }
            #expect(await heard.hears("in \(number)"))
            DispatchQueue.concurrentPerform(iterations: 2) { turn in
                if turn == 0 { try? tell("beside \(number)") }
                // Every second one is refused, after a while.
                let divisor = "(random() * 0 + \(number % 2))::int"
                if turn == 1 { _ = try? connection.query(PostgresQuery("SELECT pg_sleep(0.005), 1 / \(divisor)")) }
            }
            #expect(await heard.hears("beside \(number)"))
        }
    }

    @Test("However many hints come, the node looks a few times a second")
    func flood() async throws {
        let journal = try open("a")
        defer { journal.close() }
        let heard = heard(by: journal)
        let looks = Mutex(0)
        let bell = Bell(on: DispatchQueue(label: "test.looks")) { @Sendable in looks.withLock { $0 += 1 } }
        journal.hear { @Sendable hint in if hint == .nodes { bell.ring() } }
        let begun = MonotonicTime.now()
        let tell = "PERFORM pg_notify('dropmill', 'nodes'); COMMIT;"
        _ = try server.ask("DO $$ BEGIN FOR i IN 1..10000 LOOP \(tell) END LOOP; END $$", in: place)
        try notify("holds")
        #expect(await heard.hears(.holds))
        #expect(await eventually { looks.withLock { $0 } > 0 })
        let count = looks.withLock { $0 }
        #expect(Double(count) <= (MonotonicTime.now() - begun) / .milliseconds(200) + 2)
        #expect(try journal.renew() && journal.markDead() == [])
    }

    @Test("A node that another one marks dead is looked after at once, without its time having come")
    func takeover() async throws {
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [.passing])
        try engine.start(journal: PostgresStore(place) { Incarnation(of: "own", version: "1") })
        let (other, third) = (try open("other"), try open("third"))
        defer { [other, third].forEach { $0.close() } }
        var job = try JournalSamples.job(1, pipeline: "test")
        job.definition = engine.pipeline.definition
        try other.write([job], pipelines: [])
        other.stopKeeping()
        try engine.onlyHear()
        try server.endLease(where: "name = 'other'", in: place)
        _ = try third.markDead()
        let holder = "SELECT n.name FROM unfinished u JOIN nodes n ON n.incarnation = u.node"
        #expect(try await eventually { try server.ask(holder, in: place) == ["own"] })
        _ = await engine.stop()
    }
}
