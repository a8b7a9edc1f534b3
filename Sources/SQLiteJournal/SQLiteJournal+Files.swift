package import Files
package import Journal
import PipelineKit
import SQLite
package import SystemPackage

/// The originals that were left in folders.
extension SQLiteJournal: FileJournal {
    private static let ofFolder = "pipeline = ?1 AND place = ?2 AND root = ?3"

    package func keep(_ folders: Set<KeptFolder>) { kept.withLock { $0 = folders } }

    package func collect(
        since time: Timestamp, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> ExpiredJob? {
        let folders = kept.withLock { $0 }
        guard !folders.isEmpty else { return nil }
        let (last, found) = try read { db in
            try KeptRow.found(since: time, after: last, in: folders, limit: limit, db)
        }
        if !found.isEmpty { try write { db in for one in found { try KeptRow.add(one, to: db) } } }
        return last
    }

    package func standing(of folder: KeptFolder) throws(JournalError) -> KeptStanding {
        try read { db in
            let sql = "SELECT files, bytes, changed, mark, collected FROM kept WHERE \(Self.ofFolder)"
            return try Self.rows(db, sql, Parameters(folder)) { columns throws(JournalError) in
                KeptStanding(
                    files: Int(clamping: try columns.integer("files")), bytes: try columns.integer("bytes"),
                    changed: Int(clamping: try columns.integer("changed")), mark: try columns.optionalText("mark"),
                    collected: try columns.optionalTime("collected"))
            }.first ?? KeptStanding()
        }
    }

    package func files(
        in folder: KeptFolder, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> [KeptFile] {
        try read { db in
            var values = Parameters(folder)
            values.integer(last?.at.nanoseconds ?? .min)
            values.text(last?.id.text ?? "")
            values.integer(Int64(limit))
            return try Self.rows(
                db,
                """
                SELECT \(KeptRow.columns) FROM files INDEXED BY files_in_order WHERE \(Self.ofFolder) AND since >= ?4 \
                AND (since > ?4 OR job > ?5) AND rule IS NULL ORDER BY since, job LIMIT ?6
                """, values, read: KeptRow.file)
        }
    }

    package func leaving(_ folder: KeptFolder) throws(JournalError) -> [KeptFile] {
        try read { db in
            try Self.rows(
                db,
                """
                SELECT \(KeptRow.columns) FROM files INDEXED BY files_leaving \
                WHERE rule IS NOT NULL AND \(Self.ofFolder) ORDER BY since, job
                """, Parameters(folder), read: KeptRow.file)
        }
    }

    package func begin(_ files: [KeptFile]) throws(JournalError) {
        try write { db in
            for file in files { try db.run("UPDATE files SET rule = ? WHERE job = ?", file.rule, file.job.text) }
        }
    }

    package func end(_ ends: [KeptEnd], in folder: KeptFolder, at time: Timestamp) throws(JournalError) {
        try write { db in
            for end in ends {
                guard end.outcome != .stays else {
                    try db.run("UPDATE files SET rule = NULL WHERE job = ?", end.job.text)
                    continue
                }
                guard try KeptRow.remove(end.job, from: db) else { continue }
                try Self.tell(end, at: time, in: db)
                guard end.outcome == .changed else { continue }
                try db.statement("UPDATE kept SET changed = changed + 1 WHERE \(Self.ofFolder)").run(Parameters(folder))
            }
        }
    }

    /// In its job's story, where that is on record. That it was sent in again is told there.
    private static func tell(_ end: KeptEnd, at time: Timestamp, in db: Connection) throws {
        var story = JSONText()
        story.transition(Transition(end, at: time))
        try db.run("UPDATE jobs SET original_state = NULL WHERE id = ?", end.job.text)
        try db.run(
            """
            UPDATE jobs SET history = CASE WHEN coalesce(history, '[]') = '[]' THEN '[' || ?1 || ']' \
            ELSE substr(history, 1, length(history) - 1) || ',' || ?1 || ']' END WHERE id = ?2 \
            AND (?3 OR NOT EXISTS (SELECT 1 FROM jobs AS next WHERE next.retry_of = ?2))
            """, story.string, end.job.text, end.outcome != .gone)
    }

    package func madeFolders(
        in folder: KeptFolder, before last: FilePath?, limit: Int
    ) throws(JournalError) -> [MadeFolder] {
        try read { db in
            var values = Parameters(folder)
            values.integer(Int64(limit))
            if let last { values.blob(last) }
            let before = last == nil ? "" : "AND path < ?5"
            return try Self.rows(
                db,
                "SELECT path, inode FROM made_folders WHERE \(Self.ofFolder) \(before) ORDER BY path DESC LIMIT ?4",
                values
            ) { columns throws(JournalError) in
                MadeFolder(
                    FilePath(bytes: try columns.bytes("path") ?? []),
                    inode: UInt64(bitPattern: try columns.integer("inode")))
            }
        }
    }

    package func forget(_ made: [MadeFolder], in folder: KeptFolder) throws(JournalError) {
        guard !made.isEmpty else { return }
        try write { db in
            for one in made {
                var values = Parameters(folder)
                values.blob(one.path)
                values.integer(Int64(bitPattern: one.inode))
                try db.statement("DELETE FROM made_folders WHERE \(Self.ofFolder) AND path = ?4 AND inode = ?5").run(
                    values)
            }
        }
    }

    package func mark(_ folder: KeptFolder, as name: String) throws(JournalError) {
        try write { db in
            var values = Parameters(folder)
            values.text(name)
            try Self.note("mark", values, db)
        }
    }

    package func note(collected time: Timestamp, in folder: KeptFolder) throws(JournalError) {
        try write { db in
            var values = Parameters(folder)
            values.integer(time.nanoseconds)
            try Self.note("collected", values, db)
        }
    }

    private static func note(_ column: String, _ values: Parameters, _ db: Connection) throws {
        try db.statement(
            """
            INSERT INTO kept (pipeline, place, root, files, bytes, \(column)) VALUES (?1, ?2, ?3, 0, 0, ?4) \
            ON CONFLICT (pipeline, place, root) DO UPDATE SET \(column) = excluded.\(column)
            """
        ).run(values)
    }
}

extension Parameters {
    fileprivate init(_ folder: KeptFolder) {
        self.init()
        add(folder)
    }
}
