package import Files
package import Journal
package import PipelineKit
import SQLite
import SystemPackage

/// What goes from the history.
extension SQLiteJournal {
    package func expired(
        _ limits: HistoryLimits?, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> [ExpiredJob] {
        try read { db in
            var sql = "SELECT id, finished_at FROM jobs WHERE \(JobRow.isOver) AND finished_at >= ?1"
            var values = Parameters()
            values.integer(last?.at.nanoseconds ?? .min)
            values.text(last?.id.text ?? "")
            values.integer(Int64(limit))
            sql += " AND (finished_at > ?1 OR id > ?2)"
            if let limits {
                // Ids never go back; a clock that was wrong when the job ended does.
                sql += " AND finished_at < ?4 AND finished_at < \(Self.limit(5)) AND id < \(Self.limit(8))"
                let all = [limits.processed, limits.cancelled, limits.failed]
                values.integer(limits.latest.nanoseconds)
                for time in all { values.integer(time.nanoseconds) }
                for time in all { values.text(JobID.first(at: time).text) }
                for code in [Failure.cancelCode, Failure.releaseCode] { values.text(JobRow.text(ofCode: code)) }
            }
            sql += " ORDER BY finished_at, id LIMIT ?3"
            return try Self.rows(db, sql, values) { columns throws(JournalError) in
                guard let id = JobID(try columns.text("id")) else { throw columns.nonsense("id") }
                return ExpiredJob(id, at: try columns.time("finished_at"))
            }
        }
    }

    /// What counts for a row, by the first place of three values: of processed, cancelled and failed ones.
    private static func limit(_ place: Int) -> String {
        """
        CASE WHEN state = 'processed' THEN ?\(place) \
        WHEN state = 'failed' AND coalesce(instr(failure, ?11) + instr(failure, ?12), 0) > 0 THEN ?\(place + 1) \
        ELSE ?\(place + 2) END
        """
    }

    package func remove(_ jobs: [JobID], noting archived: ArchiveNote?) throws(JournalError) -> Int {
        let kept = kept.withLock { $0 }
        return try write { db in
            var (totals, count) = (try TotalRows(db), 0)
            let delete = try db.statement("DELETE FROM jobs WHERE id = ? AND \(JobRow.isOver)")
            for job in jobs {
                if !kept.isEmpty, let left = try KeptRow.found(of: job, in: kept, db) { try KeptRow.add(left, to: db) }
                try totals.count(job.text, -1)
                try ContentRow.settle(job.text, in: db)
                try delete.run(job.text)
                count += db.changes
            }
            try totals.write(to: db)
            if let archived { try Self.write(archived, db) }
            return count
        }
    }

    package func removeNotes(
        content: Timestamp, others: Timestamp, limit: Int
    ) throws(JournalError) -> Int {
        try write { db in
            // A file that was sent back and never became a job again is no longer asked for.
            try db.run("DELETE FROM retries WHERE job NOT IN (SELECT id FROM jobs)")
            try db.run("DELETE FROM retries WHERE at < ?", others.nanoseconds)
            try db.run(
                "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < ? LIMIT ?)",
                others.nanoseconds, limit)
            var count = db.changes
            try db.run(
                """
                DELETE FROM contents WHERE (content, job) IN
                    (SELECT content, job FROM contents WHERE at < ? ORDER BY at LIMIT ?)
                """, content.nanoseconds, limit)
            count += db.changes
            return count
        }
    }

    // MARK: The archive

    package func archived() throws(JournalError) -> ArchiveNote? {
        try read { db in
            let sql = "SELECT path, folder, inode, length, is_open FROM archives"
            return try Self.rows(db, sql) { columns throws(JournalError) in
                ArchiveNote(
                    FilePath(bytes: try columns.bytes("path") ?? []),
                    folder: UInt64(bitPattern: try columns.integer("folder")),
                    inode: UInt64(bitPattern: try columns.integer("inode")),
                    length: max(0, try columns.integer("length")), isOpen: try columns.integer("is_open") != 0)
            }.first
        }
    }

    package func note(archived: ArchiveNote) throws(JournalError) {
        try exclusively { () throws(JournalError) in try durably { db in try Self.write(archived, db) } }
    }

    private static func write(_ note: ArchiveNote, _ db: Connection) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO archives (number, path, folder, inode, length, is_open) VALUES (1, ?, ?, ?, ?, ?)
            """, Array(note.path.bytes), Int64(bitPattern: note.folder), Int64(bitPattern: note.inode), note.length,
            note.isOpen)
    }

    // MARK: Its file

    package func finishedCount() throws(JournalError) -> Int {
        try read { db in
            Int(try db.first("SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL")?.first?.integer ?? 0)
        }
    }

    package func room() throws(JournalError) -> JournalRoom {
        try read { db in
            let pages = try FilePages(db)
            return JournalRoom(
                used: pages.used.multipliedSaturated(by: pages.size),
                free: pages.free.multipliedSaturated(by: pages.size), isElastic: pages.isElastic)
        }
    }

    package func giveBack() throws(JournalError) -> Bool {
        let pages = try read { db in try FilePages(db) }
        guard pages.isElastic, pages.surplus > 0 else { return false }
        try write { db in try db.execute("PRAGMA incremental_vacuum(\(min(pages.surplus, FilePages.step)))") }
        return true
    }
}
