/// What nodes agree upon.
extension Schema {
    /// Since when a node's lease is over: it has all of it from when the server could be asked.
    static let end = "greatest(lease_until, pg_postmaster_start_time() + lease)"

    /// `shares`: the word that marks a pipeline's shared folders, by each incarnation that has asked; all that live
    /// have the same. `duties`: what one does for all, as long as it asks again and again.
    static let sharing = [
        """
        CREATE TABLE shares (
            pipeline text NOT NULL,
            incarnation text COLLATE "C" NOT NULL,
            token text NOT NULL,
            PRIMARY KEY (pipeline, incarnation)
        )
        """,
        """
        CREATE FUNCTION share_1(me text, of_pipeline text, proposed text) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE
            agreed text;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended(of_pipeline, \(lock)));
            DELETE FROM shares s WHERE NOT EXISTS (
                SELECT FROM nodes n WHERE n.incarnation = s.incarnation AND dead_at IS NULL);
            SELECT token INTO agreed FROM shares s WHERE s.pipeline = of_pipeline AND s.incarnation <> me LIMIT 1;
            agreed := coalesce(agreed, proposed);
            INSERT INTO shares VALUES (of_pipeline, me, agreed)
                ON CONFLICT (pipeline, incarnation) DO UPDATE SET token = excluded.token;
            RETURN agreed;
        END $$
        """,
        """
        CREATE TABLE duties (
            name text PRIMARY KEY,
            incarnation text COLLATE "C" NOT NULL,
            until timestamptz NOT NULL
        )
        """,
    ]

    /// Days of the history are made and dropped as the tables' owner: a node's role need not have that right.
    static let days = [
        """
        CREATE FUNCTION make_day_1(day text, low text, high text) RETURNS void LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = \(schema), pg_temp AS $$
        BEGIN
            IF day !~ '^history_[0-9]{8}$' THEN RAISE EXCEPTION '% is no day', day; END IF;
            IF to_regclass(day) IS NOT NULL THEN RETURN; END IF;
            PERFORM pg_advisory_xact_lock(\(lock), \(Turn.partitions.rawValue));
            EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF history FOR VALUES FROM (%L) TO (%L)',
                day, low, high);
        END $$
        """,
        """
        CREATE FUNCTION drop_day_1(before text) RETURNS boolean LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = \(schema), pg_temp AS $$
        DECLARE
            day text;
            is_empty boolean;
        BEGIN
            PERFORM pg_advisory_xact_lock(\(lock), \(Turn.partitions.rawValue));
            FOR day IN SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = oid
                WHERE inhparent = 'history'::regclass AND relname ~ '^history_[0-9]{8}$' AND relname < before ORDER BY 1
            LOOP
                EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I)', day) INTO is_empty;
                CONTINUE WHEN NOT is_empty;
                -- Whoever writes has the whole table first, too. Somebody may have written to it meanwhile.
                LOCK TABLE ONLY history IN ACCESS EXCLUSIVE MODE;
                EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I)', day) INTO is_empty;
                CONTINUE WHEN NOT is_empty;
                EXECUTE format('DROP TABLE %I', day);
                RETURN true;
            END LOOP;
            RETURN false;
        END $$
        """,
        "REVOKE ALL ON FUNCTION make_day_1 FROM PUBLIC", "REVOKE ALL ON FUNCTION drop_day_1 FROM PUBLIC",
    ]
}
