/// Slots that nodes have together.
extension Schema {
    /// A row is a worker that has a slot of a stage, or waits for one. `turn`: the order in which they have asked;
    /// `asked_at`: when one that waits did last, more or less; it holds up nobody once it does not ask any more.
    ///
    /// `take_slots_1` gets all tickets of a node at once. A call that arrives after a later one of the same node leaves
    /// alone those that are newer than its own newest, `upto`. Each of its statements sees what whoever had the lock
    /// before has committed.
    static let slots = [
        """
        CREATE TABLE slots (
            pipeline text NOT NULL,
            stage text NOT NULL,
            incarnation text COLLATE "C" NOT NULL,
            ticket bigint NOT NULL,
            turn bigint GENERATED ALWAYS AS IDENTITY,
            most integer NOT NULL,
            asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            taken boolean NOT NULL DEFAULT false,
            PRIMARY KEY (incarnation, ticket)
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000)
        """,
        """
        CREATE FUNCTION take_slots_1(
            me text, upto bigint, tickets bigint[], of_pipelines text[], of_stages text[], mosts integer[]
        ) RETURNS TABLE (number bigint, is_taken boolean, is_awaited boolean) LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(\(lock), \(Turn.slots.rawValue));
            DELETE FROM slots s WHERE s.incarnation = me AND s.ticket <= upto AND s.ticket <> ALL (tickets)
                OR NOT EXISTS (SELECT FROM nodes n WHERE n.incarnation = s.incarnation AND n.dead_at IS NULL);
            PERFORM FROM nodes n WHERE n.incarnation = me AND n.dead_at IS NULL AND n.lease_until > clock_timestamp();
            IF NOT FOUND THEN RETURN; END IF;

            INSERT INTO slots AS s (pipeline, stage, incarnation, ticket, most)
                SELECT n.pipeline, n.stage, me, n.ticket, n.most
                FROM unnest(tickets, of_pipelines, of_stages, mosts) AS n(ticket, pipeline, stage, most)
                ORDER BY n.ticket
                ON CONFLICT (incarnation, ticket) DO UPDATE SET asked_at = clock_timestamp()
                WHERE NOT s.taken AND s.asked_at < clock_timestamp() - interval '2 s';

            -- Whoever asked earlier comes first, also of other nodes: what is free for those stays so.
            UPDATE slots s SET taken = true FROM (
                SELECT w.incarnation, w.ticket,
                    row_number() OVER (PARTITION BY w.pipeline, w.stage ORDER BY w.turn) + (
                        SELECT count(*) FROM slots t
                        WHERE t.pipeline = w.pipeline AND t.stage = w.stage AND t.taken) AS place
                FROM slots w
                WHERE NOT w.taken AND (w.incarnation = me OR w.asked_at > clock_timestamp() - interval '6 s')
            ) AS line
            WHERE s.incarnation = me AND line.incarnation = me AND s.ticket = line.ticket AND line.place <= s.most;

            RETURN QUERY SELECT s.ticket, s.taken, EXISTS (
                SELECT FROM slots o WHERE o.pipeline = s.pipeline AND o.stage = s.stage AND o.incarnation <> me
                AND NOT o.taken AND o.asked_at > clock_timestamp() - interval '6 s')
                FROM slots s WHERE s.incarnation = me;
        END $$
        """,
    ]
}
