import Files
import Journal
import PipelineKit
import SQLite
import SystemPackage

/// The rows of the table `files`: originals that jobs have left in folders from which they are to go some day. They
/// outlive their jobs. How many there are stands in the table `kept`.
enum KeptRow {
    /// What a job's row says of its original; what became of that is on record where there is no state any more.
    private static let select = """
        SELECT id, finished_at, finished_at IS NOT NULL AND original IS NOT NULL AND original_state IS NOT NULL \
        AND NOT EXISTS (SELECT 1 FROM files WHERE job = jobs.id), \
        pipeline, state, size, original, original_state, retry_of FROM jobs
        """

    /// What a job has left.
    struct Found {
        let file: KeptFile
        let folder: KeptFolder
        /// The job whose original it was before.
        let before: JobID?
    }

    /// Of so many jobs that ended since then, behind `last`: the last of them, and what they have left that is not
    /// known.
    static func found(
        since time: Timestamp, after last: ExpiredJob?, in folders: Set<KeptFolder>, limit: Int, _ db: Connection
    ) throws -> (last: ExpiredJob?, found: [Found]) {
        var values = Parameters()
        values.integer(max(time, last?.at ?? time).nanoseconds)
        values.text(last.map { $0.at >= time ? $0.id.text : "" } ?? "")
        values.integer(Int64(limit))
        var (last, found): (ExpiredJob?, [Found]) = (nil, [])
        try db.query(
            """
            \(select) INDEXED BY jobs_finished_at WHERE finished_at >= ?1 AND (finished_at > ?1 OR id > ?2) \
            ORDER BY finished_at, id LIMIT ?3
            """, values
        ) { row in
            let (place, left) = try read(ColumnReader(row), in: folders)
            last = place
            if let left { found.append(left) }
            return true
        }
        return (last, found)
    }

    /// What this job has left; nil where it has not, or where that is known.
    static func found(of job: JobID, in folders: Set<KeptFolder>, _ db: Connection) throws -> Found? {
        var found: Found?
        try db.query("\(select) WHERE id = ? AND finished_at IS NOT NULL", Parameters([job.text])) { row in
            found = try read(ColumnReader(row), in: folders).found
            return false
        }
        return found
    }

    private static func read(
        _ row: ColumnReader, in folders: Set<KeptFolder>
    ) throws(JournalError) -> (place: ExpiredJob, found: Found?) {
        var columns = row
        guard let id = JobID(try columns.text("id")) else { throw columns.nonsense("id") }
        columns.subject = "job \(id)"
        let place = ExpiredJob(id, at: try columns.time("finished_at"))
        guard try columns.integer("isLeft") != 0 else { return (place, nil) }
        let (pipeline, state) = (try columns.text("pipeline"), try columns.text("state"))
        let size = try columns.integer("size")
        let path = FilePath(bytes: try columns.bytes("original") ?? [])
        // What makes no sense is not ours to remove.
        let left = try columns.optionalText("original_state").flatMap { JSONValue($0) }?.original
        let before = try columns.optionalText("retry_of").flatMap { JobID($0) }
        guard let folder = folders.folder(of: path, by: pipeline, state: state), let left else { return (place, nil) }
        let bytes = left.moved == nil ? left.file.size : size
        // Ids never go back; a clock that was wrong when the job ended does.
        let file = KeptFile(id, since: max(place.at, id.time), bytes: max(0, bytes), path: path, left)
        return (place, Found(file: file, folder: folder, before: before))
    }

    static func add(_ found: Found, to db: Connection) throws {
        let (file, folder) = (found.file, found.folder)
        for (job, since) in try others(at: file, db) {
            // One of them left what is there now; by hand, or by a sender, it came back to where it was.
            let older = since < file.since ? job : file.job
            try forget(older, in: db)
            if older == file.job { return }
        }
        var values = Parameters()
        values.text(file.job.text)
        values.add(folder)
        values.integer(file.since.nanoseconds)
        values.integer(file.bytes)
        values.blob(file.path)
        values.json(file.state) { $0.original($1) }
        try db.statement(
            """
            INSERT OR IGNORE INTO files (job, pipeline, place, root, since, bytes, path, state) \
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(values)
        guard db.changes > 0 else { return }
        try count(1, file.bytes, in: folder, db)
        if let before = found.before { try forget(before, in: db) }
        var path = file.path
        for inode in file.state.made {
            path.removeLastComponent()
            guard path != folder.root else { break }
            var values = Parameters()
            values.add(folder)
            values.blob(path)
            values.integer(Int64(bitPattern: inode))
            try db.statement(
                "INSERT OR REPLACE INTO made_folders (pipeline, place, root, path, inode) VALUES (?, ?, ?, ?, ?)"
            ).run(values)
        }
    }

    /// Jobs that have left something at the same place, and when they ended.
    private static func others(at file: KeptFile, _ db: Connection) throws -> [(JobID, Timestamp)] {
        var values = Parameters()
        values.blob(file.path)
        values.text(file.job.text)
        return try SQLiteJournal.rows(db, "SELECT job, since FROM files WHERE path = ? AND job <> ?", values) {
            columns throws(JournalError) in
            guard let job = JobID(try columns.text("job")) else { throw columns.nonsense("job") }
            return (job, try columns.time("since"))
        }
    }

    /// What a job has left was moved, and may be what it was: by its state it would be found once more.
    private static func forget(_ job: JobID, in db: Connection) throws {
        try remove(job, from: db)
        try db.run("UPDATE jobs SET original_state = NULL WHERE id = ?", job.text)
    }

    static let columns = "job, since, bytes, path, state, rule"

    static func file(_ columns: inout ColumnReader) throws(JournalError) -> KeptFile {
        guard let job = JobID(try columns.text("job")) else { throw columns.nonsense("job") }
        columns.subject = "the original of job \(job)"
        let (since, bytes) = (try columns.time("since"), try columns.integer("bytes"))
        let path = FilePath(bytes: try columns.bytes("path") ?? [])
        guard let state = try columns.json("state", \.original) else { throw columns.nonsense("state") }
        return KeptFile(
            job, since: since, bytes: max(0, bytes), path: path, state, rule: try columns.optionalText("rule"))
    }

    /// Where the original of a job is not there any more, or not its to remove.
    @discardableResult
    static func remove(_ job: JobID, from db: Connection) throws -> Bool {
        var found: (KeptFolder, Int64)?
        try db.query("SELECT pipeline, place, root, bytes FROM files WHERE job = ?", Parameters([job.text])) { row in
            var columns = ColumnReader(row)
            columns.subject = "the original of job \(job)"
            let pipeline = try columns.text("pipeline")
            guard let place = KeptFolder.Place(rawValue: try columns.text("place")) else {
                throw columns.nonsense("place")
            }
            let root = FilePath(bytes: try columns.bytes("root") ?? [])
            found = (KeptFolder(pipeline, place, root), try columns.integer("bytes"))
            return false
        }
        guard let (folder, bytes) = found else { return false }
        try db.run("DELETE FROM files WHERE job = ?", job.text)
        try count(-1, -bytes, in: folder, db)
        return true
    }

    private static func count(_ files: Int, _ bytes: Int64, in folder: KeptFolder, _ db: Connection) throws {
        var values = Parameters()
        values.add(folder)
        values.integer(files)
        values.integer(bytes)
        try db.statement(
            """
            INSERT INTO kept (pipeline, place, root, files, bytes) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT (pipeline, place, root) DO UPDATE SET files = files + excluded.files, \
            bytes = CAST(bytes + excluded.bytes AS INTEGER)
            """
        ).run(values)
    }
}

extension Parameters {
    /// The key of a folder's rows.
    mutating func add(_ folder: KeptFolder) {
        text(folder.pipeline)
        text(folder.place.rawValue)
        blob(folder.root)
    }
}
