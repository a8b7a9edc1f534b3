import Files
import Journal
import PipelineKit
import SystemPackage

/// The rows of the table `files`: originals that jobs have left in folders from which they are to go some day. How many
/// there are stands in the table `kept`. Paths are as every host has them, by `roots`.
enum KeptRows {
    typealias Roots = [String: PathRoots]
    typealias Ask = (PostgresQuery) throws(PostgresError) -> [PostgresRow]

    /// What a job's row says of its original; what became of that is on record where there is no state any more.
    static let select = """
        SELECT id, finished_at, retry_of, CASE WHEN finished_at IS NOT NULL AND original IS NOT NULL \
        AND NOT EXISTS (SELECT FROM files WHERE job = id) THEN record END FROM history
        """

    /// What a job has left.
    struct Found {
        let file: KeptFile
        let folder: KeptFolder
        /// The job whose original it was before.
        let before: JobID?
    }

    /// What such rows say: the last job, and what they have left that is not known.
    static func found(
        _ rows: [PostgresRow], in folders: Set<KeptFolder>, _ roots: Roots
    ) throws(JournalError) -> (last: ExpiredJob?, found: [Found]) {
        var (last, all): (ExpiredJob?, [Found]) = (nil, [])
        for found in rows {
            var row = found
            let id = try row.id()
            let place = ExpiredJob(id, at: Timestamp(nanoseconds: try row.optionalInteger() ?? 0))
            last = place
            let before = try row.optionalID()
            // What makes no sense is not ours to remove.
            guard let record = row.optionalText().flatMap({ JSONValue($0)?.job }), let state = record.originalState,
                let path = record.original.map({ roots[record.pipeline]?.absolute($0) ?? $0 }),
                let folder = folders.folder(of: path, by: record.pipeline, state: record.state.rawValue)
            else { continue }
            let bytes = state.moved == nil ? state.file.size : record.drop.size
            // Ids never go back; a clock that was wrong when the job ended does.
            let file = KeptFile(id, since: max(place.at, id.time), bytes: max(0, bytes), path: path, state)
            all.append(Found(file: file, folder: folder, before: before))
        }
        return (last, all)
    }

    static func add(_ found: Found, _ roots: Roots, _ ask: Ask) throws {
        let (file, folder) = (found.file, found.folder)
        for (job, since) in try others(at: file, roots, ask) {
            // One of them left what is there now; by hand, or by a sender, it came back to where it was.
            let older = since < file.since ? job : file.job
            try forget(older, ask)
            if older == file.job { return }
        }
        var state = JSONText()
        state.original(file.state)
        let isNew = try ask(
            PostgresQuery(
                """
                INSERT INTO files (pipeline, place, root, job, since, bytes, path, state) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (job) DO NOTHING RETURNING job
                """,
                folder.key(roots) + [
                    file.job.text, file.since.nanoseconds, file.bytes, folder.bytes(of: file.path, roots), state.string,
                ]))
        guard !isNew.isEmpty else { return }
        try count(1, file.bytes, folder.key(roots), ask)
        if let before = found.before { try forget(before, ask) }
        var path = file.path
        for inode in file.state.made {
            path.removeLastComponent()
            guard path != folder.root else { break }
            _ = try ask(
                PostgresQuery(
                    """
                    INSERT INTO made_folders (pipeline, place, root, path, inode) VALUES ($1, $2, $3, $4, $5) \
                    ON CONFLICT (pipeline, place, root, path) DO UPDATE SET inode = excluded.inode
                    """, folder.key(roots) + [folder.bytes(of: path, roots), Int64(bitPattern: inode)]))
        }
    }

    /// Jobs that have left something at the same place, and when they ended. Each pipeline may have words of its own
    /// for that.
    private static func others(at file: KeptFile, _ roots: Roots, _ ask: Ask) throws -> [(JobID, Timestamp)] {
        let names = roots.map { (pipeline: $0.key, path: Array($0.value.relative(file.path).bytes)) }
        let rows = try ask(
            PostgresQuery(
                """
                SELECT job, since FROM files f WHERE job <> $1 AND path = ANY ($4::bytea[] || $2::bytea) \
                AND (path = $2::bytea OR EXISTS (SELECT FROM unnest($3::text[], $4::bytea[]) AS n(pipeline, path) \
                WHERE n.pipeline = f.pipeline AND n.path = f.path))
                """, file.job.text, Array(file.path.bytes), PostgresColumn(names.map(\.pipeline)),
                PostgresColumn(names.map(\.path))))
        return try rows.map { found in
            var row = found
            return (try row.id(), Timestamp(nanoseconds: try row.integer()))
        }
    }

    /// What a job has left was moved, and may be what it was: by its state it would be found once more.
    private static func forget(_ job: JobID, _ ask: Ask) throws {
        _ = try remove(job, ask)
        try change(job, ask) { _ in }
    }

    /// Where the original of a job is not there any more, or not its to remove. False: that was known.
    static func remove(_ job: JobID, _ ask: Ask) throws -> Bool {
        let rows = try ask(
            PostgresQuery("DELETE FROM files WHERE job = $1 RETURNING pipeline, place, root, bytes", job.text))
        guard var row = rows.first else { return false }
        let key: [(any PostgresValue)?] = [try row.text(), try row.text(), try row.bytes()]
        try count(-1, -max(0, try row.integer()), key, ask)
        return true
    }

    /// Has a job that is over, and on record, say nothing of its original's state, and what else is to be changed.
    static func change(_ job: JobID, _ ask: Ask, _ change: (inout JobRecord) -> Void) throws {
        let rows = try ask(PostgresQuery("SELECT record FROM history WHERE id = $1 FOR UPDATE", job.text))
        guard var row = rows.first else { return }
        var record = try row.json(\.job)
        let before = record
        record.originalState = nil
        change(&record)
        guard record != before else { return }
        var json = JSONText()
        json.job(record)
        _ = try ask(PostgresQuery("UPDATE history SET record = $2 WHERE id = $1", job.text, json.string))
    }

    private static func count(_ files: Int, _ bytes: Int64, _ key: [(any PostgresValue)?], _ ask: Ask) throws {
        _ = try ask(
            PostgresQuery(
                """
                INSERT INTO kept AS k (pipeline, place, root, files, bytes) VALUES ($1, $2, $3, $4, $5) \
                ON CONFLICT (pipeline, place, root) DO UPDATE SET files = k.files + excluded.files, \
                bytes = greatest(-9223372036854775807, least(9223372036854775807, \
                k.bytes::numeric + excluded.bytes))::bigint
                """, key + [files, bytes]))
    }
}

extension KeptFolder {
    /// By what its rows are found.
    func key(_ roots: KeptRows.Roots) -> [(any PostgresValue)?] {
        [pipeline, place.rawValue, bytes(of: root, roots)]
    }

    /// A path in it, as every host has it.
    func bytes(of path: FilePath, _ roots: KeptRows.Roots) -> [UInt8] {
        (roots[pipeline]?.relative(path) ?? path).bytes
    }
}
