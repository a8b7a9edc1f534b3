import Journal
import PipelineKit
import SQLite

/// The journal's schema, as the steps that lead to it. Each has a name and runs once; a step that has shipped is never
/// edited, a change is a further step.
///
/// Times are nanoseconds since 1970, names and paths bytes, lists JSON. Nothing here needs SQLite newer than 3.24.
enum Migrations {
    /// Their names, and the SQL of each.
    private static let steps = [
        ("1 jobs", jobs),
        ("1 totals", totals),
        ("1 retries", retries),
        ("1 runs and pipelines", runs),
        ("2 names", names),
        ("3 contents", contents),
        ("4 sources", sources),
        ("5 facts", "ALTER TABLE jobs ADD COLUMN facts TEXT"),
        ("6 queued", "UPDATE jobs SET state = 'queued' WHERE state = 'waiting'"),
        ("6 works", "ALTER TABLE pipelines ADD COLUMN works TEXT"),
        ("7 lost", lost),
        ("8 slots", slots),
        ("8 settlements", settlements),
        ("8 unfinished", unfinished),
        ("9 inputs", "ALTER TABLE jobs ADD COLUMN inputs TEXT"),
        ("9 holds", holds),
        ("9 audit", audit),
        ("9 replays", replays),
        ("9 notes", notes),
        ("10 figures", figures),
        ("11 open failures", openFailures),
        ("11 audit for others", auditForOthers),
        ("12 dismissals", "ALTER TABLE jobs ADD COLUMN dismissed TEXT"),
        ("12 failures", failures),
        ("13 searches", searches),
        ("14 outbox", outbox),
        ("15 history", history),
        ("16 files", files),
    ]

    /// The name of the last one.
    static var last: String { steps.last?.0 ?? "" }

    /// The names of those that this database has gone through.
    static func applied(in db: Connection) throws -> Set<String> {
        let table = try db.first("SELECT 1 FROM sqlite_master WHERE name = 'grdb_migrations'")
        guard table != nil else { return [] }
        return Set(try db.all("SELECT identifier FROM grdb_migrations").compactMap(\.first?.text))
    }

    /// Whether this is a database with something in it that no Dropmill has made.
    static func isOthers(_ db: Connection) throws -> Bool {
        let names = try db.all("SELECT name FROM sqlite_master").compactMap(\.first?.text)
        return !names.isEmpty && !names.contains("grdb_migrations")
    }

    /// Those of these names that no step here has.
    static func unknown(among names: Set<String>) -> Set<String> { names.subtracting(steps.map(\.0)) }

    /// Whether all steps are among these names.
    static func isComplete(_ names: Set<String>) -> Bool { steps.allSatisfy { names.contains($0.0) } }

    /// Goes the steps that are missing, all or none. The table has its name from the library that once made it.
    static func migrate(_ pool: Pool) throws {
        try pool.write { db in
            let applied = try applied(in: db)
            guard !isComplete(applied) else { return }
            try db.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            for (name, sql) in steps where !applied.contains(name) {
                try db.execute(sql)
                try db.run("INSERT INTO grdb_migrations VALUES (?)", name)
            }
        }
    }

    /// With a rowid: a row without one lies in an index's page, and from 1,002 bytes on (two paths or three will do) in
    /// overflow pages of its own, which doubles what is written. New rows go to the table's end, and those of
    /// unfinished jobs lie together.
    private static let jobs = """
        CREATE TABLE jobs (
            id TEXT NOT NULL PRIMARY KEY,
            pipeline TEXT NOT NULL,
            name BLOB NOT NULL,
            folders BLOB,
            size INTEGER NOT NULL,
            dropped_at INTEGER NOT NULL,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            claimed_at INTEGER NOT NULL,
            finished_at INTEGER,
            state TEXT NOT NULL,
            stage INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            recoveries INTEGER NOT NULL,
            next_attempt INTEGER,
            failure TEXT,
            failed_stage TEXT,
            payload TEXT,
            intents TEXT,
            outputs TEXT,
            original BLOB,
            digests TEXT,
            definition TEXT NOT NULL,
            retry_of TEXT,
            history TEXT
        );
        CREATE INDEX jobs_unfinished ON jobs (id)
            WHERE state NOT IN ('processed', 'failed', 'vanished');
        CREATE INDEX jobs_failed ON jobs (claimed_at) WHERE state = 'failed';
        CREATE INDEX jobs_finished_at ON jobs (finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX jobs_claimed_at ON jobs (claimed_at);
        CREATE INDEX jobs_of_pipeline ON jobs (pipeline, claimed_at);
        CREATE INDEX jobs_retry_of ON jobs (retry_of) WHERE retry_of IS NOT NULL;
        CREATE VIEW history AS
            SELECT jobs.id AS job, jobs.pipeline AS pipeline, entry.key + 1 AS number,
                json_extract(entry.value, '$.event') AS event,
                json_extract(entry.value, '$.stage') AS stage,
                strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(entry.value, '$.at') / 1e9, 'unixepoch') AS time,
                json_extract(entry.value, '$.at') AS at,
                json_extract(entry.value, '$.took') AS took,
                json_extract(entry.value, '$.note') AS note
            FROM jobs, json_each(jobs.history) AS entry;
        """

    /// Finished jobs by pipeline and state: counting a million rows for every `status` would take longer than
    /// all else that it does. Unfinished jobs are few and are counted. Kept by the writer and not by triggers: for a
    /// table with triggers SQLite prepares to undo each row by itself, which halves the rate.
    private static let totals = """
        CREATE TABLE totals (
            pipeline TEXT NOT NULL,
            state TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (pipeline, state)
        ) WITHOUT ROWID;
        """

    /// Originals of failed jobs that were sent in again, until they come back as jobs.
    private static let retries = """
        CREATE TABLE retries (
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            job TEXT NOT NULL,
            PRIMARY KEY (device, inode)
        ) WITHOUT ROWID;
        """

    /// The first job with some content (`dedupe`).
    private static let contents = """
        CREATE TABLE contents (
            content TEXT NOT NULL,
            job TEXT NOT NULL,
            pipeline TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (content, job)
        ) WITHOUT ROWID;
        CREATE INDEX contents_at ON contents (at);
        """

    private static let runs = """
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY,
            boot TEXT NOT NULL,
            process INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER
        );
        CREATE TABLE pipelines (
            name TEXT NOT NULL PRIMARY KEY,
            inbox BLOB NOT NULL,
            failed BLOB NOT NULL,
            stages TEXT NOT NULL,
            waiting INTEGER NOT NULL,
            paused TEXT,
            paused_since INTEGER,
            updated_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// The pipelines' files: only its pipeline's rules say what waits in an inbox.
    private static let sources = "ALTER TABLE pipelines ADD COLUMN source BLOB"

    /// The index has to have the very words of the queries that go by it.
    private static let lost = """
        DROP INDEX jobs_unfinished;
        UPDATE jobs SET state = 'lost' WHERE state = 'vanished';
        UPDATE totals SET state = 'lost' WHERE state = 'vanished';
        CREATE INDEX jobs_unfinished ON jobs (id) WHERE state NOT IN ('processed', 'failed', 'lost');
        """

    /// SQLite makes a table of its own for a list of values, here for every row that is written.
    private static let unfinished = """
        DROP INDEX jobs_unfinished;
        CREATE INDEX jobs_unfinished ON jobs (id) WHERE \(JobRow.isUnfinished);
        """

    /// Where jobs that are not over, or are lost, have their folders, if those have other names than theirs.
    private static let slots = """
        ALTER TABLE jobs ADD COLUMN slot TEXT;
        CREATE INDEX jobs_of_slot ON jobs (slot) WHERE slot IS NOT NULL;
        ALTER TABLE runs ADD COLUMN slots INTEGER;
        """

    private static let settlements = """
        CREATE TABLE settlements (
            number INTEGER PRIMARY KEY,
            jobs BLOB NOT NULL
        );
        """

    /// What people hold, and who it was.
    private static let holds = """
        CREATE TABLE holds (
            pipeline TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            who TEXT NOT NULL,
            user INTEGER NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER,
            reason TEXT NOT NULL
        ) WITHOUT ROWID;
        """

    /// What people changed.
    private static let audit = """
        CREATE TABLE audit (
            number INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            user INTEGER NOT NULL,
            name TEXT NOT NULL,
            verb TEXT NOT NULL,
            arguments TEXT NOT NULL,
            result TEXT
        );
        """

    /// Users look up names, and without an index an unknown name would scan every row.
    private static let names = "CREATE INDEX jobs_of_name ON jobs (name, claimed_at);"

    private static let replays = """
        ALTER TABLE jobs ADD COLUMN replay_of TEXT;
        ALTER TABLE jobs ADD COLUMN original_state TEXT;
        CREATE INDEX jobs_replay_of ON jobs (replay_of) WHERE replay_of IS NOT NULL;
        ALTER TABLE retries ADD COLUMN replay INTEGER NOT NULL DEFAULT 0;
        """

    /// What tells a file that was sent in again from others; NULL where that is not known.
    private static let notes = """
        ALTER TABLE retries ADD COLUMN inbox BLOB;
        ALTER TABLE retries ADD COLUMN size INTEGER;
        ALTER TABLE retries ADD COLUMN modified INTEGER;
        ALTER TABLE retries ADD COLUMN at INTEGER;
        """

    /// What has become of each pipeline's jobs. What an older Dropmill did is counted, but for sizes, reasons and
    /// times; a journal of which history was removed has less of it.
    private static let figures = """
        CREATE TABLE figures (pipeline TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO figures SELECT pipeline, '{"ended":{' ||
            group_concat('"' || state || '":[' || max(count, 0) || ',0]') ||
            '},"failures":[],"retries":{},"stages":{},' ||
            '"durations":[0,0,0,0,0,0,0,0,0,0,0,0,0,0],"waits":[0,0,0,0,0,0,0,0,0,0,0,0,0,0]}'
        FROM totals WHERE state IN ('processed', 'failed', 'lost') GROUP BY pipeline;
        """

    /// Failures that are somebody's to look at: those that were neither sent in again nor dismissed. `open` is when it
    /// failed, and NULL of all other jobs, so that these cost nothing; with how many there are, which nobody has to
    /// count.
    private static let openFailures = """
        ALTER TABLE jobs ADD COLUMN open INTEGER;
        UPDATE jobs SET open = coalesce(finished_at, claimed_at)
            WHERE state = 'failed' AND coalesce(instr(failure, '\(JobRow.text(ofCode: Failure.releaseCode))'), 0) = 0
            AND coalesce(instr(failure, '\(JobRow.text(ofCode: Failure.cancelCode))'), 0) = 0
            AND id NOT IN (SELECT retry_of FROM jobs WHERE retry_of IS NOT NULL);
        CREATE INDEX jobs_open ON jobs (pipeline, open) WHERE open IS NOT NULL;
        INSERT INTO totals SELECT pipeline, '\(TotalRows.open)', count(*) FROM jobs WHERE open IS NOT NULL GROUP BY 1;
        """

    /// Open failures by their codes, and how many there are of each in each hour: nobody has to count them. `total`
    /// takes sizes that add up to more than there are numbers for.
    private static let failures = """
        ALTER TABLE jobs ADD COLUMN code TEXT;
        UPDATE jobs SET code = coalesce(json_extract(failure, '$.code'), '') WHERE open IS NOT NULL;
        DROP INDEX jobs_open;
        CREATE INDEX jobs_open ON jobs (pipeline, code, open) WHERE open IS NOT NULL;
        CREATE TABLE failures (
            pipeline TEXT NOT NULL,
            code TEXT NOT NULL,
            hour INTEGER NOT NULL,
            jobs INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (pipeline, code, hour)
        ) WITHOUT ROWID;
        INSERT INTO failures
            SELECT pipeline, code, open / \(FailureGroup.nanosecondsOfAnHour), count(*), CAST(total(size) AS INTEGER)
            FROM jobs WHERE open IS NOT NULL GROUP BY 1, 2, 3;
        """

    /// Whatever jobs are looked for by, those that match lie together, in the order of time; and each failed original's
    /// place leads to its jobs.
    private static let searches = """
        ALTER TABLE jobs ADD COLUMN producer TEXT;
        CREATE INDEX jobs_of_producer ON jobs (producer, claimed_at) WHERE producer IS NOT NULL;
        CREATE INDEX jobs_of_code ON jobs (\(JobRow.code), claimed_at) WHERE failure IS NOT NULL;
        CREATE INDEX jobs_lost ON jobs (claimed_at) WHERE state = 'lost';
        CREATE INDEX jobs_of_original ON jobs (original, claimed_at) WHERE state = 'failed';
        DROP INDEX jobs_unfinished;
        CREATE INDEX jobs_unfinished ON jobs (claimed_at) WHERE \(JobRow.isUnfinished);
        """

    /// Messages that are to be sent, and what was told of each rule's events.
    private static let outbox = """
        CREATE TABLE outbox (
            id TEXT NOT NULL PRIMARY KEY,
            rule TEXT NOT NULL,
            event TEXT NOT NULL,
            pipeline TEXT NOT NULL,
            content TEXT NOT NULL,
            since INTEGER NOT NULL,
            tries INTEGER NOT NULL,
            next INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE notified (
            rule TEXT NOT NULL,
            event TEXT NOT NULL,
            pipeline TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (rule, event, pipeline)
        ) WITHOUT ROWID;
        """

    /// How the archive of jobs stands that was written last; and what has become of content whose job is not on record
    /// any more: `over` is 1 where it was processed.
    private static let history = """
        CREATE TABLE archives (
            number INTEGER PRIMARY KEY,
            path BLOB NOT NULL,
            folder INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            length INTEGER NOT NULL,
            is_open INTEGER NOT NULL
        );
        ALTER TABLE contents ADD COLUMN over INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX contents_of_job ON contents (job);
        """

    /// Originals that are to go some day; `rule` says why, once that has begun. How many there are of each folder; and
    /// the folders that were made for them.
    private static let files = """
        CREATE TABLE files (
            job TEXT NOT NULL PRIMARY KEY,
            pipeline TEXT NOT NULL,
            place TEXT NOT NULL,
            root BLOB NOT NULL,
            since INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            path BLOB NOT NULL,
            state TEXT NOT NULL,
            rule TEXT
        );
        CREATE INDEX files_in_order ON files (pipeline, place, root, since, job);
        CREATE INDEX files_at ON files (path);
        CREATE INDEX files_leaving ON files (pipeline, place, root, since) WHERE rule IS NOT NULL;
        CREATE TABLE kept (
            pipeline TEXT NOT NULL,
            place TEXT NOT NULL,
            root BLOB NOT NULL,
            files INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            changed INTEGER NOT NULL DEFAULT 0,
            mark TEXT,
            collected INTEGER,
            PRIMARY KEY (pipeline, place, root)
        ) WITHOUT ROWID;
        CREATE TABLE made_folders (
            pipeline TEXT NOT NULL,
            place TEXT NOT NULL,
            root BLOB NOT NULL,
            path BLOB NOT NULL,
            inode INTEGER NOT NULL,
            PRIMARY KEY (pipeline, place, root, path)
        ) WITHOUT ROWID;
        """

    /// For whom a program asked that others sign in to.
    private static let auditForOthers = """
        ALTER TABLE audit ADD COLUMN token TEXT;
        ALTER TABLE audit ADD COLUMN role TEXT;
        ALTER TABLE audit ADD COLUMN address TEXT;
        """
}
