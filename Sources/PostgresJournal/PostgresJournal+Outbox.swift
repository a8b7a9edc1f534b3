package import Files
package import Journal
import PipelineKit

extension PostgresJournal {
    package func outbox() throws(JournalError) -> (notices: [Notice], standings: [NoticeStanding], unreadable: Int) {
        let rows = try read(
            PostgresQuery(
                """
                SELECT id, rule, event, pipeline, content, since, tries, next FROM outbox ORDER BY since, id
                """))
        var (notices, unreadable) = ([Notice](), [String]())
        for found in rows {
            var row = found
            let id = try row.text()
            do throws(JournalError) {
                notices.append(try Self.notice(id, &row))
            } catch {
                unreadable.append(id)
            }
        }
        try exchange(unreadable.map { PostgresQuery("DELETE FROM outbox WHERE id = $1", $0) })
        let standings = try read(PostgresQuery("SELECT rule, event, pipeline, value FROM notified")).map {
            found throws(JournalError) in
            var row = found
            let key = NoticeStanding.Key(rule: try row.text(), event: try row.text(), pipeline: try row.text())
            return NoticeStanding(key, value: try row.text())
        }
        return (notices, standings, unreadable.count)
    }

    private static func notice(_ id: String, _ row: inout PostgresRow) throws(JournalError) -> Notice {
        let (rule, event, pipeline, content) = (try row.text(), try row.text(), try row.text(), try row.text())
        let since = Timestamp(nanoseconds: try row.integer())
        let tries = Int(clamping: try row.integer())
        let notice = Notice(
            id: id, rule: rule, event: event, pipeline: pipeline, content: content, since: since, tries: tries,
            next: Timestamp(nanoseconds: try row.integer()))
        guard let notice else { throw row.nonsense }
        return notice
    }

    package func change(_ change: OutboxChange) throws(JournalError) {
        var queries = change.removed.map { PostgresQuery("DELETE FROM outbox WHERE id = $1", $0) }
        queries += change.notices.map { notice in
            PostgresQuery(
                """
                INSERT INTO outbox (id, rule, event, pipeline, content, since, tries, next) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, \
                event = excluded.event, pipeline = excluded.pipeline, content = excluded.content, \
                since = excluded.since, tries = excluded.tries, next = excluded.next
                """, notice.id, notice.rule, notice.event, notice.pipeline, notice.content, notice.since.nanoseconds,
                notice.tries, notice.next.nanoseconds)
        }
        queries += change.forgotten.map { key in
            PostgresQuery(
                "DELETE FROM notified WHERE rule = $1 AND event = $2 AND pipeline = $3", key.rule, key.event,
                key.pipeline)
        }
        queries += change.standings.map { standing in
            PostgresQuery(
                """
                INSERT INTO notified (rule, event, pipeline, value) VALUES ($1, $2, $3, $4) \
                ON CONFLICT (rule, event, pipeline) DO UPDATE SET value = excluded.value
                """, standing.key.rule, standing.key.event, standing.key.pipeline, standing.value)
        }
        try exchange(queries)
    }

    package func failures(of pipeline: String, after time: Timestamp) throws(JournalError) -> RecentFailures {
        var found = RecentFailures()
        let rows = try read(
            PostgresQuery(
                """
                SELECT count(*) FILTER (WHERE open > $2), max(open), (SELECT count(*) FROM unfinished u \
                JOIN history h ON h.id = u.retry_of WHERE h.pipeline = $1 AND h.finished_at > $2) \
                FROM history WHERE pipeline = $1 AND open IS NOT NULL
                """, pipeline, time.nanoseconds))
        guard var row = rows.first else { return found }
        found.open = UInt64(clamping: try row.integer())
        found.last = try row.optionalInteger().map { Timestamp(nanoseconds: $0) }
        found.retrying = UInt64(clamping: try row.integer())
        found.newest = try records(
            PostgresQuery(
                "\(JobColumns.select) WHERE pipeline = $1 AND open > $2 ORDER BY open DESC LIMIT 1", pipeline,
                time.nanoseconds)
        ).first
        return found
    }

    package func failureCount(of pipeline: String, after time: Timestamp) throws(JournalError) -> UInt64 {
        var row = try read(
            PostgresQuery(
                """
                SELECT count(*) FROM history WHERE finished_at > $2 AND pipeline = $1 AND state = 'failed' \
                AND code IS DISTINCT FROM $3 AND code IS DISTINCT FROM $4
                """, pipeline, time.nanoseconds, Failure.cancelCode, Failure.releaseCode)
        ).first
        return UInt64(clamping: try row?.integer() ?? 0)
    }
}
