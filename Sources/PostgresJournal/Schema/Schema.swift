/// The tables, as the steps that lead to them. Each has a name and runs once, and one that has shipped is never edited.
/// A step only adds: nodes of this version and of the next run side by side.
///
/// Names are without a schema: the first of the connection's `search_path` has them. Times are nanoseconds since 1970
/// by the nodes' clocks, but for leases, which go by the database's. What a node has to know of a job whole is JSON in
/// a `text`: `jsonb` takes no U+0000.
enum Schema {
    /// Their names, and the commands of each.
    static let steps: [(name: String, commands: [String])] = [
        ("1 nodes", [nodes]), ("1 unfinished", unfinished), ("1 history", history), ("1 totals", totals),
        ("1 notes", notes), ("1 people", people), ("1 writing", [writing]), ("1 first", [first]),
        ("1 taking over", [takingOver]), ("1 sharing", sharing), ("1 files", files), ("1 days", days),
        ("2 turns", turns), ("2 slots", slots), ("2 holds of nodes", [nodeHolds]), ("2 requests", requests),
        (
            "2 folders",
            [
                "CREATE INDEX unfinished_of_slot ON unfinished (slot) WHERE slot IS NOT NULL",
                "CREATE INDEX history_lost ON history (slot) WHERE state = 'lost'",
            ]
        ),
    ]

    /// The name of the last one.
    static var last: String { steps.last?.name ?? "" }

    /// Those of these names that no step here has.
    static func unknown(among names: Set<String>) -> Set<String> { names.subtracting(steps.map(\.name)) }

    /// Whether all steps are among these names.
    static func isComplete(_ names: Set<String>) -> Bool { steps.allSatisfy { names.contains($0.name) } }

    /// Stands for the name of the schema.
    static let schema = "@schema@"

    /// What the steps make.
    static func names(of kind: String) -> [String] {
        steps.flatMap(\.commands).compactMap { command in
            guard command.hasPrefix("CREATE \(kind) ") else { return nil }
            return String(command.dropFirst("CREATE \(kind) ".count).prefix { !" (".contains($0) })
        }
    }

    /// Numbers of advisory locks, within what any program of the database may take: the first says that it is ours.
    static let lock = 0x64_72_6F_70
    enum Turn: Int {
        case migrating = 1, counting, partitions, slots
    }

    /// Processes that run, or did. A lease is over by the database's clock; one that is marked dead never comes back.
    /// `lease`: how long that is, which each has at least from when the server can be asked.
    private static let nodes = """
        CREATE TABLE nodes (
            incarnation text COLLATE "C" PRIMARY KEY,
            name text NOT NULL,
            host text NOT NULL,
            version text NOT NULL,
            since timestamptz NOT NULL DEFAULT clock_timestamp(),
            lease interval NOT NULL,
            lease_until timestamptz NOT NULL,
            dead_at timestamptz
        )
        """

    /// Jobs that are not over: few, and written again and again, so with room for that in each page. `token` grows
    /// whenever another node takes one over.
    private static let unfinished = [
        """
        CREATE TABLE unfinished (
            id text COLLATE "C" PRIMARY KEY,
            node text COLLATE "C" NOT NULL,
            token bigint NOT NULL,
            pipeline text NOT NULL,
            state text NOT NULL,
            stage integer NOT NULL,
            name bytea NOT NULL,
            producer text,
            claimed_at bigint NOT NULL,
            slot text COLLATE "C",
            code text,
            retry_of text COLLATE "C",
            replay_of text COLLATE "C",
            inode bigint NOT NULL,
            size bigint NOT NULL,
            definition text NOT NULL,
            record text NOT NULL
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000)
        """,
        "CREATE INDEX unfinished_of_node ON unfinished (node, id)",
    ]

    /// Jobs that are over, in partitions by the days of their ids, which never go back; what has none is in the last
    /// one. `open`: since when a failure is somebody's to look at. `unsummed`: those that are not in `figures` yet.
    private static let history = [
        """
        CREATE TABLE history (
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            node text COLLATE "C" NOT NULL,
            token bigint NOT NULL,
            pipeline text NOT NULL,
            state text NOT NULL,
            name bytea NOT NULL,
            producer text,
            claimed_at bigint NOT NULL,
            finished_at bigint,
            slot text COLLATE "C",
            code text,
            open bigint,
            dismissed text,
            retry_of text COLLATE "C",
            replay_of text COLLATE "C",
            original bytea,
            inode bigint NOT NULL,
            size bigint NOT NULL,
            record text NOT NULL
        ) PARTITION BY RANGE (id)
        """,
        "CREATE TABLE history_other PARTITION OF history DEFAULT",
        "CREATE INDEX history_claimed_at ON history (claimed_at)",
        "CREATE INDEX history_of_pipeline ON history (pipeline, claimed_at)",
        "CREATE INDEX history_finished_at ON history (finished_at, id)",
        "CREATE INDEX history_of_name ON history (name, claimed_at)",
        "CREATE INDEX history_of_producer ON history (producer, claimed_at) WHERE producer IS NOT NULL",
        "CREATE INDEX history_of_code ON history (code, claimed_at) WHERE code IS NOT NULL",
        "CREATE INDEX history_open ON history (pipeline, code, open) WHERE open IS NOT NULL",
        "CREATE INDEX history_retry_of ON history (retry_of) WHERE retry_of IS NOT NULL",
        "CREATE INDEX history_replay_of ON history (replay_of) WHERE replay_of IS NOT NULL",
        "CREATE INDEX history_of_original ON history (original) WHERE state = 'failed'",
        "CREATE INDEX history_of_slot ON history (slot) WHERE slot IS NOT NULL",
        "CREATE TABLE unsummed (id text COLLATE \"C\" PRIMARY KEY)",
        "CREATE TABLE figures (pipeline text PRIMARY KEY, value text NOT NULL)",
    ]

    /// How many jobs of a pipeline are over, by state, and how many failures are open. Commits only add rows, so that
    /// none waits for another; they are summed now and then.
    private static let totals = [
        "CREATE TABLE totals (pipeline text NOT NULL, state text NOT NULL, count bigint NOT NULL)",
        """
        CREATE FUNCTION count_history() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP <> 'INSERT' THEN
                INSERT INTO totals SELECT pipeline, CASE state WHEN 'failed' THEN 'open' ELSE state END, -count(*)
                FROM before WHERE state <> 'failed' OR open IS NOT NULL GROUP BY 1, 2;
            END IF;
            IF TG_OP <> 'DELETE' THEN
                INSERT INTO totals SELECT pipeline, CASE state WHEN 'failed' THEN 'open' ELSE state END, count(*)
                FROM after WHERE state <> 'failed' OR open IS NOT NULL GROUP BY 1, 2;
            END IF;
            RETURN NULL;
        END $$
        """,
        """
        CREATE TRIGGER history_added AFTER INSERT ON history REFERENCING NEW TABLE AS after
        FOR EACH STATEMENT EXECUTE FUNCTION count_history()
        """,
        """
        CREATE TRIGGER history_changed AFTER UPDATE ON history REFERENCING OLD TABLE AS before NEW TABLE AS after
        FOR EACH STATEMENT EXECUTE FUNCTION count_history()
        """,
        """
        CREATE TRIGGER history_removed AFTER DELETE ON history REFERENCING OLD TABLE AS before
        FOR EACH STATEMENT EXECUTE FUNCTION count_history()
        """,
    ]

    /// Files sent in again, and content that came before. `inbox` is its path on the host of who sent, and `pipeline`
    /// whose it is as far as known.
    private static let notes = [
        """
        CREATE TABLE retries (
            inode bigint NOT NULL,
            inbox bytea NOT NULL,
            pipeline text,
            device bigint NOT NULL,
            job text COLLATE "C" NOT NULL,
            replay boolean NOT NULL,
            size bigint,
            modified bigint,
            at bigint NOT NULL,
            PRIMARY KEY (inode, inbox)
        )
        """,
        """
        CREATE TABLE contents (
            content text COLLATE "C" NOT NULL,
            job text COLLATE "C" NOT NULL,
            pipeline text NOT NULL,
            node text NOT NULL,
            at bigint NOT NULL,
            over boolean NOT NULL DEFAULT false,
            PRIMARY KEY (content, job)
        )
        """,
        "CREATE INDEX contents_at ON contents (at)",
        "CREATE INDEX contents_of_job ON contents (job)",
    ]

    /// What nodes say of themselves and their pipelines, and what people do. `roots`: where a pipeline's folders are on
    /// a node's host.
    private static let people = [
        """
        CREATE TABLE runs (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            node text NOT NULL,
            incarnation text NOT NULL,
            value text NOT NULL,
            ended_at bigint
        )
        """,
        """
        CREATE TABLE pipelines (
            node text NOT NULL,
            name text NOT NULL,
            host text NOT NULL,
            inbox bytea NOT NULL,
            updated_at bigint NOT NULL,
            value text NOT NULL,
            PRIMARY KEY (node, name)
        )
        """,
        """
        CREATE TABLE roots (
            node text NOT NULL,
            pipeline text NOT NULL,
            host text NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp(),
            value text NOT NULL,
            PRIMARY KEY (node, pipeline)
        )
        """,
        "CREATE TABLE holds (pipeline text PRIMARY KEY, since bigint NOT NULL, value text NOT NULL)",
        """
        CREATE TABLE audit (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            at bigint NOT NULL,
            "user" bigint NOT NULL,
            name text NOT NULL,
            verb text NOT NULL,
            arguments text NOT NULL,
            result text,
            token text,
            role text,
            address text
        )
        """,
        """
        CREATE TABLE outbox (
            id text PRIMARY KEY,
            rule text NOT NULL,
            event text NOT NULL,
            pipeline text NOT NULL,
            content text NOT NULL,
            since bigint NOT NULL,
            tries bigint NOT NULL,
            next bigint NOT NULL
        )
        """,
        """
        CREATE TABLE notified (
            rule text NOT NULL,
            event text NOT NULL,
            pipeline text NOT NULL,
            value text NOT NULL,
            PRIMARY KEY (rule, event, pipeline)
        )
        """,
        """
        CREATE TABLE archives (
            node text PRIMARY KEY,
            path bytea NOT NULL,
            folder bigint NOT NULL,
            inode bigint NOT NULL,
            length bigint NOT NULL,
            is_open boolean NOT NULL
        )
        """,
    ]
}
