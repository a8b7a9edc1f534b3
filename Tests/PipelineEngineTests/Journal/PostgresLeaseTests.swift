import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal

/// How long a node may write, over sleeps and while the server is away.
@Suite("Leases", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresLeaseTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    private func open(_ node: String, lease: Duration = .seconds(30), in place: String? = nil) throws -> PostgresJournal
    {
        try PostgresJournal.open(place ?? self.place, as: Incarnation(of: node, version: "1", lease: lease))
    }

    /// Ends a node's lease without its knowledge, as a long sleep would.
    private func oversleep(_ journal: PostgresJournal) throws {
        journal.keeping.withLock { $0?.stop() }
        let id = try #require(journal.incarnation?.id)
        try server.endLease(where: "incarnation = '\(id)'", in: place)
    }

    private func states(_ table: String) throws -> [String] {
        try server.ask("SELECT id || ' ' || state || ' ' || token FROM \(table) ORDER BY 1", in: place)
    }

    @Test("A node whose lease is over writes with a new one, as long as it is not marked dead")
    func fence() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        let (job, other) = (try JournalSamples.job(1), try JournalSamples.job(2))
        try first.write([job], pipelines: [])
        #expect(try second.markDead() == [])
        try oversleep(first)
        #expect(try first.write([job, other], pipelines: []) == [])
        #expect(first.mayAct && first.rest > .seconds(20))
        #expect(try second.markDead() == [])
        try oversleep(first)
        let dead = try second.markDead()
        #expect(dead.map(\.name) == ["a"] && dead.allSatisfy { $0.isDead && $0.jobs == 2 })
        #expect(!first.isLost)
        #expect(try !first.renew() && first.isLost && !first.mayAct && first.rest == .zero)
        #expect(try first.write([job], pipelines: []) == [job.id])
        #expect(try !first.renew())
        #expect(try states("unfinished") == ["\(job.id) queued 0", "\(other.id) queued 0"])
        #expect(try second.nodes().map(\.name) == ["b", "a"])
        #expect(first.incarnationID == dead.first?.incarnation)
        // One that ends is not lost, and may not act.
        try second.leave()
        #expect(!second.isLost && !second.mayAct)
    }

    @Test("Jobs are not given up where it cannot be told whether the node is dead: nobody else would have them")
    func unknown() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        let job = try JournalSamples.job(1)
        try oversleep(first)
        // As long as it pauses after a failure.
        first.leases.close()
        #expect(throws: JournalError.self) { try first.write([job], pipelines: []) }
        #expect(try states("unfinished") == [])
    }

    @Test("What is written after the lease, and before anybody noticed, is written with a new one")
    func late() async throws {
        let lease = Duration.seconds(1)
        let (first, second) = (try open("a", lease: lease), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        first.keeping.withLock { $0?.stop() }
        let job = try JournalSamples.job(1)
        #expect(await eventually { first.rest == .zero })
        #expect(try first.write([job], pipelines: []) == [] && first.rest > .zero)
        #expect(await eventually { (try? second.markDead())?.map(\.name) == ["a"] })
        #expect(first.rest == .zero && !first.isLost)
        #expect(try first.write([job], pipelines: []) == [job.id] && first.isLost)
    }

    @Test("A lease is renewed in time, as long as the node is awake")
    func renewal() async throws {
        let journal = try open("a", lease: .milliseconds(900))
        defer { journal.close() }
        let begin = MonotonicTime.now()
        #expect(journal.rest > .zero && journal.rest <= .milliseconds(900))
        #expect(await eventually { MonotonicTime.now() - begin > .seconds(2) })
        #expect(journal.rest > .zero)
        #expect(try journal.write([JournalSamples.job(1)], pipelines: []) == [])
    }

    @Test("A server that stops is trouble of the surroundings, and what comes after it is written")
    func restart() async throws {
        let server = try PostgresServer()
        let place = try server.schema()
        let journal = try open("a", in: place)
        defer { journal.close() }
        let job = try JournalSamples.job(1)
        try journal.write([job], pipelines: [])
        try server.stop()
        let error = #expect(throws: JournalError.self) { try journal.write([job], pipelines: []) }
        #expect(error?.kind == .environment && error?.message.contains("Check the server and the network") ?? false)
        try server.begin()
        let other = try JournalSamples.job(2)
        #expect(await eventually { (try? journal.write([other], pipelines: [])) == [] })
        #expect(try journal.unfinished() == [job, other])
    }

    @Test("A node outlives a server that was away for longer than its lease, and notices soon that it is back")
    func outage() async throws {
        let server = try PostgresServer()
        let place = try server.schema()
        let lease = Duration.seconds(4)
        let (first, second) = (try open("a", lease: lease, in: place), try open("b", lease: lease, in: place))
        defer { [first, second].forEach { $0.close() } }
        let job = try JournalSamples.job(1)
        try first.write([job], pipelines: [])
        try server.stop()
        #expect(await eventually { first.rest == .zero && second.rest == .zero })
        #expect(!first.isLost && !first.mayAct)
        try server.begin()
        // Whoever asks first finds nobody dead.
        #expect(await eventually { (try? second.markDead()) == [] })
        #expect(await eventually { first.mayAct && second.mayAct })
        #expect(try first.write([job], pipelines: []) == [])
        // Nor is it for ever.
        first.stopKeeping()
        #expect(await eventually { (try? second.markDead())?.map(\.name) == ["a"] })
    }
}
