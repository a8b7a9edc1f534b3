package import Files
package import Journal
import PipelineKit
import SQLite

extension SQLiteJournal: Outbox {
    package func outbox() throws(JournalError) -> (notices: [Notice], standings: [NoticeStanding], unreadable: Int) {
        let (notices, standings) = try read { db in
            let notices = try Self.rows(
                db,
                """
                SELECT quote(id), id, rule, event, pipeline, content, since, tries, next FROM outbox \
                ORDER BY since, id
                """,
                read: Self.notice)
            let standings = try Self.rows(
                db, "SELECT quote(rule), quote(event), quote(pipeline), rule, event, pipeline, value FROM notified",
                read: Self.standing)
            return (notices, standings)
        }
        let unreadable = notices.compactMap(\.unreadable) + standings.compactMap(\.unreadable)
        if !unreadable.isEmpty { try remove(unreadable) }
        return (notices.compactMap(\.value), standings.compactMap(\.value), unreadable.count)
    }

    /// A row, or where it is if it cannot be read: that must not keep the others from being sent.
    private enum Found<Value> {
        case value(Value)
        case unreadable(String)

        var value: Value? { if case .value(let value) = self { value } else { nil } }
        var unreadable: String? { if case .unreadable(let place) = self { place } else { nil } }

        init(
            at place: String, _ columns: inout ColumnReader,
            _ read: (inout ColumnReader) throws(JournalError) -> Value
        ) {
            do throws(JournalError) {
                self = .value(try read(&columns))
            } catch {
                self = .unreadable(place)
            }
        }
    }

    private func remove(_ rows: [String]) throws(JournalError) {
        try exclusively { () throws(JournalError) in
            try durably { db in
                for row in rows { try db.run("DELETE FROM \(row)") }
            }
        }
    }

    @Sendable private static func standing(
        _ columns: inout ColumnReader
    ) throws(JournalError) -> Found<NoticeStanding> {
        let (rule, event) = (try columns.text("rule"), try columns.text("event"))
        let key = "rule = \(rule) AND event = \(event) AND pipeline = \(try columns.text("pipeline"))"
        return Found(at: "notified WHERE \(key)", &columns) { columns throws(JournalError) in
            let key = NoticeStanding.Key(
                rule: try columns.text("rule"), event: try columns.text("event"),
                pipeline: try columns.text("pipeline"))
            return NoticeStanding(key, value: try columns.text("value"))
        }
    }

    @Sendable private static func notice(_ columns: inout ColumnReader) throws(JournalError) -> Found<Notice> {
        Found(at: "outbox WHERE id = \(try columns.text("id"))", &columns, Self.content)
    }

    private static func content(_ columns: inout ColumnReader) throws(JournalError) -> Notice {
        let (id, rule) = (try columns.text("id"), try columns.text("rule"))
        let (event, pipeline) = (try columns.text("event"), try columns.text("pipeline"))
        let (content, since) = (try columns.text("content"), try columns.time("since"))
        let tries = Int(clamping: try columns.integer("tries"))
        let notice = Notice(
            id: id, rule: rule, event: event, pipeline: pipeline, content: content, since: since, tries: tries,
            next: try columns.time("next"))
        guard let notice else { throw columns.nonsense("content") }
        return notice
    }

    package func change(_ change: OutboxChange) throws(JournalError) {
        guard !change.isEmpty else { return }
        try exclusively { () throws(JournalError) in
            try durably { db in
                for id in change.removed { try db.run("DELETE FROM outbox WHERE id = ?", id) }
                for notice in change.notices {
                    try db.run(
                        """
                        INSERT OR REPLACE INTO outbox (id, rule, event, pipeline, content, since, tries, next) \
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                        """, notice.id, notice.rule, notice.event, notice.pipeline, notice.content,
                        notice.since.nanoseconds, Int64(notice.tries), notice.next.nanoseconds)
                }
                for key in change.forgotten {
                    try db.run(
                        "DELETE FROM notified WHERE rule = ? AND event = ? AND pipeline = ?", key.rule, key.event,
                        key.pipeline)
                }
                for standing in change.standings {
                    try db.run(
                        "INSERT OR REPLACE INTO notified (rule, event, pipeline, value) VALUES (?, ?, ?, ?)",
                        standing.key.rule, standing.key.event, standing.key.pipeline, standing.value)
                }
            }
        }
    }

    package func failures(of pipeline: String, after time: Timestamp) throws(JournalError) -> RecentFailures {
        try read { db in
            var found = RecentFailures()
            let values = Parameters([pipeline, time.nanoseconds])
            let open = "FROM jobs INDEXED BY jobs_open WHERE pipeline = ? AND open IS NOT NULL"
            let counts = try Self.rows(db, "SELECT count(*) \(open) AND open > ?", values) {
                columns throws(JournalError) in try columns.integer("count")
            }
            found.open = UInt64(clamping: counts.first ?? 0)
            let last = try Self.rows(db, "SELECT max(open) \(open)", Parameters([pipeline])) {
                columns throws(JournalError) in try columns.optionalTime("open")
            }
            found.last = last.first ?? nil
            if found.open > 0 {
                let sql =
                    "\(JobRow.select) WHERE rowid = (SELECT rowid \(open) AND open > ? ORDER BY open DESC LIMIT 1)"
                found.newest = try Self.records(db, sql, values).first
            }
            let retrying = try Self.rows(
                db,
                """
                SELECT count(*) FROM jobs INDEXED BY jobs_unfinished WHERE \(JobRow.isUnfinished) AND EXISTS (\
                SELECT 1 FROM jobs AS first WHERE first.id = jobs.retry_of AND first.pipeline = ? \
                AND first.finished_at > ?)
                """, values
            ) { columns throws(JournalError) in try columns.integer("count") }
            found.retrying = UInt64(clamping: retrying.first ?? 0)
            // Those that have no rows yet are about to succeed or to fail.
            let settling = try SettlementRow.all(db).flatMap(\.jobs).filter { $0.retryOf != nil }
            found.retrying &+= UInt64(settling.count)
            return found
        }
    }

    package func failureCount(of pipeline: String, after time: Timestamp) throws(JournalError) -> UInt64 {
        let sql = """
            SELECT count(*) FROM jobs INDEXED BY jobs_finished_at WHERE finished_at > ? AND finished_at IS NOT NULL \
            AND pipeline = ? AND state = 'failed' AND coalesce(instr(failure, ?), 0) = 0 \
            AND coalesce(instr(failure, ?), 0) = 0
            """
        return try read { db in
            let counts = try Self.rows(
                db, sql,
                Parameters([
                    time.nanoseconds, pipeline, JobRow.text(ofCode: Failure.cancelCode),
                    JobRow.text(ofCode: Failure.releaseCode),
                ])
            ) { columns throws(JournalError) in try columns.integer("count") }
            return UInt64(clamping: counts.first ?? 0)
        }
    }
}
