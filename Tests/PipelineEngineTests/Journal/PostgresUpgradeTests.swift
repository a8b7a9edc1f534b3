import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal

/// A schema of the version before, and nodes of that version beside those of this one: `schema-1.sql` is what it made,
/// and the commands below are what its nodes send.
@Suite("Rolling upgrades", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresUpgradeTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
        let file = FilePath(#filePath).removingLastComponent().appending("schema-1.sql")
        let schema = String(place.split(separator: "=").last ?? "")
        let sql = String(decoding: try ScratchFolder.read(file), as: UTF8.self)
        let steps = sql.split(separator: "\n").filter { $0.hasPrefix("-- 1 ") }.map { "('\($0.dropFirst(3))')" }
        try #require(steps.count == 12)
        _ = try server.ask(
            "CREATE TABLE migrations (name text PRIMARY KEY); \(sql.replacing("@schema@", with: schema)) "
                + "INSERT INTO migrations VALUES \(steps.joined(separator: ", "))", in: place)
        _ = try old(
            """
            INSERT INTO nodes (incarnation, name, host, version, lease, lease_until) \
            VALUES ('old1', 'old', 'host', '0.1.0', '1 hour', clock_timestamp() + interval '1 hour') \
            ON CONFLICT (incarnation) DO NOTHING
            """)
    }

    /// What a node of the version before sends.
    private func old(_ sql: String) throws -> [String] { try server.ask(sql, in: place) }

    /// Writes a job as such a node does; returns whether it is fenced.
    private func oldWrites(_ job: JobRecord, token: Int = 0) throws -> Bool {
        var json = JSONText()
        json.job(job)
        let record = json.string.replacing("'", with: "''")
        let finished = job.finishedAt.map { "\($0.nanoseconds)" } ?? "NULL"
        let code = job.failure.map { "'\($0.code)'" } ?? "NULL"
        return try !old(
            """
            SELECT fenced FROM write_jobs_1('old1', ARRAY['\(job.id)'], ARRAY[\(token)]::bigint[], \
            ARRAY['\(job.pipeline)'], ARRAY['\(job.state.rawValue)'], ARRAY[\(job.stage)], \
            ARRAY['\(job.drop.name.text)']::bytea[], ARRAY[NULL]::text[], ARRAY[\(job.claimedAt.nanoseconds)], \
            ARRAY[\(finished)]::bigint[], ARRAY[NULL]::text[], ARRAY[\(code)]::text[], \
            ARRAY[\(job.hasFailed ? finished : "NULL")]::bigint[], ARRAY[NULL]::text[], ARRAY[NULL]::text[], \
            ARRAY[NULL]::bytea[], ARRAY[\(job.identity.inode)]::bigint[], ARRAY[\(job.drop.size)]::bigint[], \
            ARRAY[NULL]::bigint[], ARRAY['\(job.definition.text)'], ARRAY['\(record)'])
            """
        ).isEmpty
    }

    private func open(_ node: String) throws -> PostgresJournal {
        try PostgresJournal.open(place, as: Incarnation(of: node, on: "host of \(node)", version: "1"))
    }

    @Test("What the version before has written is there, and its nodes go on beside those of this one")
    func besides() throws {
        let jobs = try (1...4).map { try JournalSamples.job($0) }
        var (done, failed) = (jobs[0], try JournalSamples.job(5, state: .failed))
        failed.failure = .file("test.bad", "It is bad.", remedy: "Send another.")
        for job in [jobs[0], jobs[1], failed] { #expect(try !oldWrites(job)) }
        let pause = #"{"pipeline":"scans","kind":"pause","by":"anna","uid":1000,"since":7,"reason":"RIP"}"#
        _ = try old(
            """
            INSERT INTO holds VALUES ('scans', 7, '\(pause)') ON CONFLICT (pipeline) DO UPDATE \
            SET since = excluded.since, value = excluded.value
            """)

        let new = try open("new")
        defer { new.close() }
        let reading = try PostgresJournal.open(reading: place)
        defer { reading.close() }
        #expect(try Schema.isComplete(new.applied()))
        #expect(try reading.unfinished() == [jobs[0], jobs[1]] && reading.job(failed.id) == failed.on("old"))
        let held = HoldRecord(
            pipeline: "scans", kind: .pause, by: "anna", user: 1000, since: Timestamp(nanoseconds: 7), reason: "RIP")
        #expect(try new.holds() == [held])

        // Both write, each its own.
        try new.write([jobs[2], jobs[3]], pipelines: [JournalSamples.pipeline("scans")])
        (done.state, done.finishedAt) = (.processed, JournalSamples.time(9))
        #expect(try !oldWrites(done) && new.job(done.id)?.state == .processed)
        #expect(try oldWrites(jobs[2]), "it is another's")
        #expect(try new.write([jobs[1]], pipelines: []) == [jobs[1].id])
        #expect(try new.counts().map(\.count).reduce(0, +) == 5)

        // What the old one holds is for all; what one alone is held by it does not know.
        var own = HoldOrderSample.on("old", "scans")
        try new.change(HoldChange(of: [own, HoldOrderSample.on("old", "press")]))
        #expect(try old("SELECT value FROM holds ORDER BY pipeline COLLATE \"C\"") == [pause])
        _ = try old("DELETE FROM holds WHERE pipeline = 'scans' AND since = 7")
        #expect(try new.holds() == [HoldOrderSample.on("old", "press"), own])
        own = HoldOrderSample.on(nil, "scans")
        try new.change(HoldChange(of: [own]))
        #expect(try old("SELECT count(*) FROM holds WHERE pipeline = 'scans' AND since = 9") == ["1"])

        // What is asked of it nobody takes.
        let asked = try reading.ask([("old1", "x")], by: "anna", user: 1).compactMap(\.self)
        #expect(try reading.withdraw(asked).values.map(\.isTaken) == [false])
    }

    @Test("Each takes over from the other, and the rest of what old nodes send is understood")
    func takingOver() throws {
        let jobs = try (1...3).map { try JournalSamples.job($0) }
        for job in jobs[...1] { #expect(try !oldWrites(job)) }
        let (new, other) = (try open("new"), try open("other"))
        defer { [new, other].forEach { $0.close() } }
        try new.write([jobs[2]], pipelines: [])
        try new.leave()
        let taken = try old(
            """
            SELECT token FROM take_over_1('old1', '\(new.incarnationID)', ARRAY['scans'], NULL, 8)
            """)
        #expect(taken == ["1"])
        #expect(try !oldWrites(jobs[2], token: 1))

        #expect(try old("SELECT share_1('old1', 'scans', 'word')") == ["word"])
        #expect(try other.share(of: "scans", proposing: "another") == "word")
        let first = "first_content_1('x', '\(jobs[0].id)', 'scans', 'old', true, 0, 1)"
        #expect(try old("SELECT job, is_over FROM \(first)").isEmpty)
        #expect(
            try old(
                """
                UPDATE nodes SET lease_until = clock_timestamp() + interval '1 hour' \
                WHERE incarnation = 'old1' AND dead_at IS NULL RETURNING incarnation
                """) == ["old1"])
        _ = try old(
            """
            INSERT INTO audit (at, "user", name, verb, arguments, result, token, role, address) \
            VALUES (1, 2, 'anna', 'hold', '{}', NULL, NULL, NULL, NULL) RETURNING number
            """)
        _ = try old(
            """
            INSERT INTO roots (node, pipeline, host, value) VALUES ('old', 'scans', 'host', '{}') \
            ON CONFLICT (node, pipeline) DO UPDATE \
            SET host = excluded.host, at = clock_timestamp(), value = excluded.value
            """)
        _ = try old("DELETE FROM roots")

        try server.endLease(where: "incarnation = 'old1'", in: place)
        #expect(try other.markDead().map(\.incarnation).contains("old1"))
        let back = try other.takeOver(from: "old1", of: ["scans"], with: nil, limit: 9)
        #expect(back.map(\.record.id) == jobs.map(\.id) && back.map(\.token) == [1, 1, 2])
        #expect(try oldWrites(jobs[0]), "it is dead")
    }
}

private enum HoldOrderSample {
    static func on(_ node: String?, _ pipeline: String) -> HoldRecord {
        HoldRecord(
            pipeline: pipeline, kind: .drain, by: "bob", user: 7, since: Timestamp(nanoseconds: 9), on: node)
    }
}
