import Files
package import Journal
package import PipelineKit
import Synchronization
import SystemPackage

/// The journal that several nodes share, in a database of PostgreSQL. One connection commits, one renews the lease and
/// hears what other nodes tell, one reads: a long answer holds up neither.
///
/// A node is known by an incarnation: a random word, on record with a lease before anything is written. What is written
/// of jobs is written only while that lease holds and they are this incarnation's, of which a *token* tells: it grows
/// when another node takes a job over.
package final class PostgresJournal: EngineJournal, Sendable {
    let place: PostgresPlace
    /// Nil where it was opened for reading.
    let incarnation: Incarnation?
    let commits: PostgresConnection
    let leases: PostgresConnection
    let readings: PostgresConnection
    /// For slots that nodes have together, and for who lists an inbox; made where a pipeline wants such.
    let turns: PostgresConnection
    /// Of jobs that this node has taken over; of all others it is 0.
    let tokens = Mutex<[JobID: Int64]>([:])
    /// How often something was written of jobs.
    private let turn = Mutex<Int64>(0)
    let keeping = Mutex<LeaseKeeper?>(nil)
    let listeners = HintListeners()
    let told = Mutex(Roots())
    /// The folders from which originals are to go some day.
    let kept = Mutex<Set<KeptFolder>>([])
    /// The machine that it is read on, its clock, and the server's.
    let host: String
    let now: @Sendable () -> Timestamp
    let clock = Mutex(ServerClock())

    init(
        _ place: PostgresPlace, as incarnation: Incarnation?, on host: String? = nil,
        now: @escaping @Sendable () -> Timestamp = { @Sendable in .now() }
    ) {
        (self.place, self.incarnation, self.now) = (place, incarnation, now)
        self.host = host ?? incarnation?.host ?? Incarnation.hostName
        commits = PostgresConnection(to: place, as: "commits")
        leases = PostgresConnection(
            to: place, as: "lease", pausing: incarnation.map { LeaseKeeper.pause($0.lease) },
            hearing: incarnation == nil ? nil : Self.hearing(listeners))
        readings = PostgresConnection(to: place, as: "reading")
        turns = PostgresConnection(to: place, as: "turns", pausing: .seconds(2))
    }

    /// The name of the node in the tables that are its own whichever incarnation it is.
    package var node: String { incarnation?.node ?? "" }

    package func write(
        _ jobs: [JobRecord], intending: [JobRecord], pipelines: [PipelineRecord]
    ) throws(JournalError) -> Set<JobID> {
        guard let incarnation else { throw isForReading }
        let roots = told.withLock { $0 }
        let batch = JobBatch(relative(jobs + intending, by: roots.all))
        var queries = notes(of: roots, by: incarnation)
        queries += pipelines.map { pipeline in
            var json = JSONText()
            json.pipeline(pipeline)
            return PostgresQuery(
                """
                INSERT INTO pipelines (node, name, host, inbox, updated_at, value) VALUES ($1, $2, $3, $4, $5, $6) \
                ON CONFLICT (node, name) DO UPDATE SET host = excluded.host, inbox = excluded.inbox, \
                updated_at = excluded.updated_at, value = excluded.value
                """, incarnation.node, pipeline.name, incarnation.host, Array(pipeline.inbox.bytes),
                pipeline.updatedAt.nanoseconds, json.string)
        }
        guard !queries.isEmpty || !batch.jobs.isEmpty else { return [] }
        func send() throws(JournalError) -> [PostgresRow] {
            try turn.withLock { turn throws(JournalError) in
                turn += 1
                // Last: it locks rows of the node until all is committed, and a process may stand still before.
                let last = batch.jobs.isEmpty ? [] : [batch.query(by: incarnation, tokens.withLock { $0 }, in: turn)]
                let all = queries + last
                return try again("write") { () throws(PostgresError) in try commits.exchange(all).last ?? [] }
            }
        }
        var rows = try send()
        if !roots.unwritten.isEmpty { hasWritten(roots) }
        guard !batch.jobs.isEmpty, !rows.isEmpty else { return [] }
        // All: the lease may be over without this node having been marked dead, since the database was away, or the
        // sleep was short. Where that cannot be told nothing is said of the jobs: nobody else would have them.
        if rows.count == batch.jobs.count, try renew() { rows = try send() }
        let fenced = Set(try rows.indices.map { place throws(JournalError) in try rows[place].id() })
        return try fenced.subtracting(standing(batch, among: fenced, of: incarnation))
    }

    /// Of jobs whose writing came out as fenced, those that are written all the same: an answer may have been lost just
    /// before the lease was over.
    private func standing(
        _ batch: JobBatch, among fenced: Set<JobID>, of incarnation: Incarnation
    ) throws(JournalError) -> Set<JobID> {
        let ended = batch.jobs.filter { $0.state.isFinal && fenced.contains($0.id) }
        guard !ended.isEmpty else { return [] }
        let tokens = tokens.withLock { $0 }
        var rows = try ask(
            "ask", commits,
            PostgresQuery(
                """
                SELECT h.id FROM unnest($1::text[], $2::bigint[], $3::text[]) AS n(id, token, state) \
                JOIN history h ON h.id = n.id WHERE h.node = $4 AND h.token = n.token AND h.state = n.state
                """, PostgresColumn(ended.map(\.id.text)), PostgresColumn(ended.map { tokens[$0.id] ?? 0 }),
                PostgresColumn(ended.map(\.state.rawValue)), incarnation.id))
        return Set(try rows.indices.map { place throws(JournalError) in try rows[place].id() })
    }

    // MARK: Runs

    package func beginRun(_ run: RunRecord) throws(JournalError) -> RunRecord? {
        guard let incarnation else { throw isForReading }
        var json = JSONText()
        json.run(run)
        let text = json.string
        return try change { ask in
            let last = try ask(Self.lastRun(of: incarnation.node)).first.map { row throws(JournalError) in
                try Self.run(row)
            }
            if let last {
                // Of claims that were made but for their rows: they may be other jobs now, which are not to find
                // themselves.
                _ = try ask(
                    PostgresQuery(
                        """
                        DELETE FROM contents c WHERE at >= $1 AND NOT over AND node = $2 \
                        AND NOT EXISTS (SELECT FROM unfinished u WHERE u.id = c.job) \
                        AND NOT EXISTS (SELECT FROM history h WHERE h.id = c.job)
                        """, last.startedAt.nanoseconds, incarnation.node))
            }
            _ = try ask(
                PostgresQuery(
                    "INSERT INTO runs (node, incarnation, value) VALUES ($1, $2, $3)", incarnation.node,
                    incarnation.id, text))
            _ = try ask(
                PostgresQuery(
                    """
                    DELETE FROM runs WHERE node = $1 AND number NOT IN \
                    (SELECT number FROM runs WHERE node = $1 ORDER BY number DESC LIMIT 100)
                    """, incarnation.node))
            return last
        }
    }

    static func lastRun(of node: String?) -> PostgresQuery {
        PostgresQuery(
            """
            SELECT value, ended_at FROM runs WHERE coalesce(node = $1, true) ORDER BY number DESC LIMIT 1
            """, node)
    }

    static func run(_ found: PostgresRow) throws(JournalError) -> RunRecord {
        var row = found
        var run = try row.json(\.run)
        run.endedAt = try row.optionalInteger().map { Timestamp(nanoseconds: $0) } ?? run.endedAt
        return run
    }

    /// What is left is anybody's from now on.
    package func endRun() throws(JournalError) {
        guard let incarnation else { throw isForReading }
        try exchange([
            PostgresQuery(
                "UPDATE runs SET ended_at = $1 WHERE incarnation = $2 AND ended_at IS NULL",
                Timestamp.now().nanoseconds, incarnation.id), end(of: incarnation),
        ])
        tell(.nodes)
    }

    // MARK: What an engine wants besides

    /// Always: a node that lost what it committed would publish it twice.
    package func makeDurable() {}

    package func mend(_ run: RunRecord) -> JournalMending? { nil }

    package func releaseMemory() {}

    package func probe() throws(JournalError) {
        guard let incarnation else { throw isForReading }
        _ = try ask(
            "write", commits,
            PostgresQuery("UPDATE nodes SET version = version WHERE incarnation = $1", incarnation.id))
    }

    package func close() {
        stopKeeping()
        for connection in [commits, leases, readings, turns] { connection.close() }
    }

    // MARK: Asking

    var isForReading: JournalError {
        JournalError(.environment, "The journal '\(place.text)' was opened for reading only.")
    }

    /// Does it a second time where the connection was lost, or others were in the way: what was lost may be done, and
    /// doing it again is harmless.
    func again<Value>(
        _ action: String, _ body: () throws(PostgresError) -> Value
    ) throws(JournalError) -> Value {
        do throws(PostgresError) {
            do throws(PostgresError) {
                return try body()
            } catch {
                guard error.isPassing else { throw error }
                return try body()
            }
        } catch {
            throw JournalError(error, action, place)
        }
    }

    /// What may be asked twice.
    func ask(
        _ action: String, _ connection: PostgresConnection, _ query: PostgresQuery
    ) throws(JournalError) -> [PostgresRow] {
        try again(action) { () throws(PostgresError) in try connection.query(query) }
    }

    func read(_ query: PostgresQuery) throws(JournalError) -> [PostgresRow] { try ask("read", readings, query) }

    /// What must not be asked twice.
    func once(_ query: PostgresQuery) throws(JournalError) -> [PostgresRow] {
        do throws(PostgresError) {
            return try commits.query(query)
        } catch {
            throw JournalError(error, "write", place)
        }
    }

    /// Runs the body in a transaction, once. It locks no node: a process may stand still within it.
    func change<Value>(
        on connection: PostgresConnection? = nil,
        _ body: ((PostgresQuery) throws(PostgresError) -> [PostgresRow]) throws -> Value
    ) throws(JournalError) -> Value {
        do {
            return try (connection ?? commits).transaction(body)
        } catch let error as PostgresError {
            throw JournalError(error, "write", place)
        } catch {
            throw error as? JournalError ?? JournalError(.environment, "\(error)")
        }
    }
}
