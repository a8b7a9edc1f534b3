package import Files
package import Journal
import PipelineKit
package import SystemPackage

/// The originals that were left in folders.
extension PostgresJournal: FileJournal {
    private static let ofFolder = "pipeline = $1 AND place = $2 AND root = $3"
    private static let file = "job, since, bytes, path, state, rule"

    package func keep(_ folders: Set<KeptFolder>) { kept.withLock { $0 = folders } }

    package func collect(
        since time: Timestamp, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> ExpiredJob? {
        let folders = kept.withLock { $0 }
        guard !folders.isEmpty else { return nil }
        let roots = try roots()
        let rows = try read(
            PostgresQuery(
                """
                \(KeptRows.select) WHERE finished_at >= $1 AND (finished_at, id) > ($1, $2) \
                ORDER BY finished_at, id LIMIT $3
                """, max(time, last?.at ?? time).nanoseconds,
                last.map { $0.at >= time ? $0.id.text : "" } ?? "", limit))
        let (last, found) = try KeptRows.found(rows, in: folders, roots)
        if !found.isEmpty {
            try change { ask in for one in found { try KeptRows.add(one, roots, ask) } }
        }
        return last
    }

    package func standing(of folder: KeptFolder) throws(JournalError) -> KeptStanding {
        let rows = try read(
            PostgresQuery(
                "SELECT files, bytes, changed, mark, collected FROM kept WHERE \(Self.ofFolder)", try key(of: folder)))
        guard var row = rows.first else { return KeptStanding() }
        return KeptStanding(
            files: Int(clamping: try row.integer()), bytes: try row.integer(),
            changed: Int(clamping: try row.integer()),
            mark: row.optionalText(), collected: try row.optionalInteger().map { Timestamp(nanoseconds: $0) })
    }

    package func files(
        in folder: KeptFolder, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> [KeptFile] {
        try files(
            in: folder, "AND (since, job) > ($4, $5) AND rule IS NULL ORDER BY since, job LIMIT $6",
            [last?.at.nanoseconds ?? .min, last?.id.text ?? "", limit])
    }

    package func leaving(_ folder: KeptFolder) throws(JournalError) -> [KeptFile] {
        try files(in: folder, "AND rule IS NOT NULL ORDER BY since, job")
    }

    private func files(
        in folder: KeptFolder, _ rest: String, _ values: [(any PostgresValue)?] = []
    ) throws(JournalError) -> [KeptFile] {
        let roots = try roots(of: [folder.pipeline])[folder.pipeline]
        let rows = try read(
            PostgresQuery(
                "SELECT \(Self.file) FROM files WHERE \(Self.ofFolder) \(rest)", try key(of: folder) + values))
        return try rows.map { found throws(JournalError) in
            var row = found
            let (job, since) = (try row.id(), Timestamp(nanoseconds: try row.integer()))
            let (bytes, path) = (max(0, try row.integer()), FilePath(bytes: try row.bytes()))
            let state = try row.json(\.original)
            return KeptFile(
                job, since: since, bytes: bytes, path: roots?.absolute(path) ?? path, state, rule: row.optionalText())
        }
    }

    package func begin(_ files: [KeptFile]) throws(JournalError) {
        try exchange(
            files.map { PostgresQuery("UPDATE files SET rule = $1 WHERE job = $2", $0.rule, $0.job.text) })
    }

    package func end(_ ends: [KeptEnd], in folder: KeptFolder, at time: Timestamp) throws(JournalError) {
        let key = try key(of: folder)
        try change { ask in
            for end in ends {
                guard end.outcome != .stays else {
                    _ = try ask(PostgresQuery("UPDATE files SET rule = NULL WHERE job = $1", end.job.text))
                    continue
                }
                guard try KeptRows.remove(end.job, ask) else { continue }
                // That it was sent in again is told there.
                let isToldElsewhere = try end.outcome == .gone && Self.isRetried(end.job, ask)
                try KeptRows.change(end.job, ask) { record in
                    if !isToldElsewhere { record.history.append(Transition(end, at: time)) }
                }
                guard end.outcome == .changed else { continue }
                _ = try ask(PostgresQuery("UPDATE kept SET changed = changed + 1 WHERE \(Self.ofFolder)", key))
            }
        }
    }

    private static func isRetried(_ job: JobID, _ ask: KeptRows.Ask) throws -> Bool {
        let rows = try ask(
            PostgresQuery(
                """
                SELECT FROM unfinished WHERE retry_of = $1 UNION ALL \
                SELECT FROM history WHERE retry_of = $1 LIMIT 1
                """, job.text))
        return !rows.isEmpty
    }

    package func madeFolders(
        in folder: KeptFolder, before last: FilePath?, limit: Int
    ) throws(JournalError) -> [MadeFolder] {
        let roots = try roots(of: [folder.pipeline])
        var values = try key(of: folder) + [limit]
        if let last { values.append(folder.bytes(of: last, roots)) }
        let before = last == nil ? "" : "AND path < $5"
        let rows = try read(
            PostgresQuery(
                "SELECT path, inode FROM made_folders WHERE \(Self.ofFolder) \(before) ORDER BY path DESC LIMIT $4",
                values))
        return try rows.map { found throws(JournalError) in
            var row = found
            let path = FilePath(bytes: try row.bytes())
            return MadeFolder(
                roots[folder.pipeline]?.absolute(path) ?? path, inode: UInt64(bitPattern: try row.integer()))
        }
    }

    package func forget(_ made: [MadeFolder], in folder: KeptFolder) throws(JournalError) {
        let (key, roots) = (try key(of: folder), try roots(of: [folder.pipeline]))
        try exchange(
            made.map { one in
                PostgresQuery(
                    "DELETE FROM made_folders WHERE \(Self.ofFolder) AND path = $4 AND inode = $5",
                    key + [folder.bytes(of: one.path, roots), Int64(bitPattern: one.inode)])
            })
    }

    package func mark(_ folder: KeptFolder, as name: String) throws(JournalError) {
        try note("mark", name, folder)
    }

    package func note(collected time: Timestamp, in folder: KeptFolder) throws(JournalError) {
        try note("collected", time.nanoseconds, folder)
    }

    private func note(_ column: String, _ value: any PostgresValue, _ folder: KeptFolder) throws(JournalError) {
        try exchange([
            PostgresQuery(
                """
                INSERT INTO kept (pipeline, place, root, \(column)) VALUES ($1, $2, $3, $4) \
                ON CONFLICT (pipeline, place, root) DO UPDATE SET \(column) = excluded.\(column)
                """, try key(of: folder) + [value])
        ])
    }

    private func key(of folder: KeptFolder) throws(JournalError) -> [(any PostgresValue)?] {
        folder.key(try roots(of: [folder.pipeline]))
    }
}
