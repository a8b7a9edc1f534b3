/// What nodes agree upon.
extension Schema {
    /// Since when a node's lease is over: it has all of it from when the server could be asked.
    static let end = "greatest(lease_until, pg_postmaster_start_time() + lease)"

    /// `shares`: the word that marks a pipeline's shared folders, by each incarnation that has asked; all that live
    /// have the same.
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
                SELECT FROM nodes n WHERE n.incarnation = s.incarnation AND dead_at IS NULL
                AND clock_timestamp() < \(end));
            SELECT token INTO agreed FROM shares s WHERE s.pipeline = of_pipeline AND s.incarnation <> me LIMIT 1;
            agreed := coalesce(agreed, proposed);
            INSERT INTO shares VALUES (of_pipeline, me, agreed)
                ON CONFLICT (pipeline, incarnation) DO UPDATE SET token = excluded.token;
            RETURN agreed;
        END $$
        """,
    ]
}
