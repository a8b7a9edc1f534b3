import Dispatch
import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal

/// Nodes that sleep, wake up and take each other's jobs over, as chance and the threads have it.
@Suite("Sleepers", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresSleeperTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    private func open(_ node: String) throws -> PostgresJournal {
        try PostgresJournal.open(place, as: Incarnation(of: node, version: "1"))
    }

    /// What one of several nodes does in the test below.
    private final class Actor {
        var journal: PostgresJournal
        var jobs: [JobRecord] = []
        var random: SeededGenerator

        init(_ journal: PostgresJournal, seed: UInt64) {
            (self.journal, random) = (journal, SeededGenerator(seed: seed))
        }
    }

    /// Has the database not look whose a job is, nor whether who writes is alive.
    private func removeFence() throws {
        var function = Schema.writing.replacing("CREATE FUNCTION", with: "CREATE OR REPLACE FUNCTION")
        for (condition, other) in [
            (
                "WHERE incarnation = me AND dead_at IS NULL AND lease_until > clock_timestamp()",
                "WHERE incarnation = me"
            ),
            ("WHERE u.node <> me OR u.token <> n.token", "WHERE false"),
            ("WHERE (h.node <> me OR h.token <> n.token) AND h.state <> 'lost'", "WHERE false"),
            ("WHERE u.node = me AND u.token = excluded.token", ""),
        ] {
            try #require(function.contains(condition))
            function = function.replacing(condition, with: other)
        }
        _ = try server.ask(function, in: place)
    }

    @Test(
        "Whichever nodes sleep and whoever takes over, each job ends once, as one node's alone; not without the fence",
        arguments: [true, false])
    func sleepers(isFenced: Bool) throws {
        let first = try open("killer")
        try first.leave()
        first.close()
        if !isFenced { try removeFence() }
        var (rounds, (isSound, told)) = (1, try round())
        // Without it chance decides how soon one meets another.
        while !isFenced, isSound, rounds < 20 {
            (isSound, told) = try round()
            rounds += 1
        }
        #expect(isSound == isFenced, "\(told), in round \(rounds)")
        if isFenced { try expectAll() }
    }

    /// Whether each job ended once, and how many did not.
    private func round() throws -> (isSound: Bool, told: String) {
        let claimed = Mutex<[JobID]>([])
        let ends = Mutex<[JobID: Int]>([:])
        let problems = Mutex<[String]>([])
        let ids = JobIDGenerator()
        let killer = try open("killer")
        defer { killer.close() }

        @Sendable func write(_ actor: Actor, _ change: (inout JobRecord) -> Void) throws {
            var changed = actor.jobs.filter { _ in actor.random.next() % 2 == 0 }
            for place in changed.indices { change(&changed[place]) }
            let fenced = try actor.journal.write(changed, pipelines: [])
            for job in changed {
                actor.jobs.removeAll { $0.id == job.id }
                if fenced.contains(job.id) { continue }
                if job.state.isFinal { ends.withLock { $0[job.id, default: 0] += 1 } } else { actor.jobs.append(job) }
            }
        }
        @Sendable func act(_ actor: Actor) throws {
            switch actor.random.next() % 8 {
            case 0, 1:
                var new = try (1...3).map { try JournalSamples.job($0) }
                for place in new.indices { new[place].id = ids.next() }
                guard try actor.journal.write(new, pipelines: []).isEmpty else { break }
                actor.jobs += new
                claimed.withLock { $0 += new.map(\.id) }
            case 2, 3: try write(actor) { $0.state = .settling }
            case 4, 5:
                try write(actor) { job in
                    if job.state == .settling { (job.state, job.finishedAt) = (.processed, job.claimedAt) }
                }
            case 6:
                // Somebody sleeps for longer than the lease; perhaps this one.
                let nodes = try killer.nodes().filter { !$0.isDead && $0.name != "killer" }
                guard !nodes.isEmpty else { break }
                let sleeper = nodes[Int(actor.random.next() % UInt64(nodes.count))].incarnation
                _ = try killer.ask(
                    "write", killer.leases,
                    PostgresQuery(
                        "UPDATE nodes SET lease_until = clock_timestamp(), lease = '0' WHERE incarnation = $1",
                        sleeper))
                fallthrough
            default:
                _ = try actor.journal.markDead()
                for dead in try actor.journal.nodes() where dead.isDead && dead.jobs > 0 {
                    actor.jobs += try actor.journal.takeOver(
                        from: dead.incarnation, of: ["scans"], with: nil, limit: 100
                    ).map(\.record)
                }
            }
            // It goes on for a while before it notices.
            if actor.random.next() % 16 == 0, try !actor.journal.renew() {
                actor.journal.close()
                (actor.journal, actor.jobs) = (try open("node"), [])
            }
        }
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                let actor = Actor(try open("node"), seed: UInt64(number))
                defer { actor.journal.close() }
                for _ in 0..<300 { try act(actor) }
                try actor.journal.leave()
            } catch {
                problems.withLock { $0.append("\(error)") }
            }
        }
        #expect(problems.withLock { $0 } == [])
        // The last one ends what is left.
        _ = try killer.ask(
            "write", killer.leases, PostgresQuery("UPDATE nodes SET dead_at = now() WHERE name = 'node'"))
        for dead in try killer.nodes() where dead.jobs > 0 {
            let rest = try killer.takeOver(from: dead.incarnation, of: ["scans"], with: nil, limit: 10_000).map {
                taken in
                var job = taken.record
                (job.state, job.finishedAt) = (.processed, job.claimedAt)
                return job
            }
            #expect(try killer.write(rest, pipelines: []) == [])
            for job in rest { ends.withLock { $0[job.id, default: 0] += 1 } }
        }
        let (all, counts) = (claimed.withLock { $0 }, ends.withLock { $0 })
        let isSound = counts.values.allSatisfy { $0 == 1 } && Set(counts.keys) == Set(all)
        return (isSound, "\(counts.values.count { $0 > 1 }) of \(all.count) jobs ended twice")
    }

    /// What is on record at the end.
    private func expectAll() throws {
        let reader = try open("reader")
        defer { reader.close() }
        let all = try reader.finishedCount()
        #expect(try reader.unfinished().isEmpty)
        let summed = try reader.figures()["scans"]?.ended[.processed]?.jobs
        #expect(all > 0 && summed == UInt64(all))
        #expect(try reader.counts().reduce(0) { $0 + $1.count } == all)
        let taken = try server.ask("SELECT count(*) FROM history WHERE token > 0", in: place)
        #expect(taken != ["0"], "nobody took anything")
    }
}
