/// What a node has the database do in one go. A function has its number in its name: a change is another function, as
/// long as nodes of the version before call this one.
extension Schema {
    /// Writes jobs. Returns those that it did not write since they are not this node's, or its lease is over.
    ///
    /// The node's row is locked first, and with it whose the jobs are: it is not marked dead until this is committed,
    /// and only a dead node's jobs change hands. Written again it changes nothing.
    static let writing = """
        CREATE FUNCTION write_jobs_1(
            me text, ids text[], tokens bigint[], pipelines text[], states text[], stages integer[], names bytea[],
            producers text[], claimed bigint[], finished bigint[], slots text[], codes text[], opens bigint[],
            retried text[], replayed text[], originals bytea[], inodes bigint[], sizes bigint[], modified bigint[],
            definitions text[], records text[]
        ) RETURNS TABLE (fenced text) LANGUAGE plpgsql AS $$
        DECLARE
            there text[];
            over text[];
            strange text[];
            new text[];
            again record;
        BEGIN
            PERFORM FROM nodes WHERE incarnation = me AND dead_at IS NULL AND lease_until > clock_timestamp()
                FOR SHARE;
            IF NOT FOUND THEN RETURN QUERY SELECT unnest(ids); RETURN; END IF;
            -- Whoever pools connections may not keep their settings.
            IF current_setting('synchronous_commit') = 'off' THEN
                PERFORM set_config('synchronous_commit', 'on', true);
            END IF;

            SELECT array_agg(u.id), array_agg(u.id) FILTER (WHERE u.node <> me OR u.token <> n.token)
                INTO there, strange FROM unnest(ids, tokens) AS n(id, token) JOIN unfinished u ON u.id = n.id;
            there := coalesce(there, '{}');
            strange := coalesce(strange, '{}');
            IF cardinality(there) < cardinality(ids) THEN
                -- One that was lost is whoever's finds it.
                SELECT array_agg(h.id),
                    array_agg(h.id) FILTER (WHERE (h.node <> me OR h.token <> n.token) AND h.state <> 'lost')
                    INTO over, new FROM unnest(ids, tokens) AS n(id, token) JOIN history h ON h.id = n.id
                    WHERE n.id <> ALL (there);
                strange := strange || coalesce(new, '{}');
            END IF;
            over := coalesce(over, '{}');
            SELECT coalesce(array_agg(id), '{}') INTO new FROM unnest(ids) AS n(id)
                WHERE id <> ALL (there) AND id <> ALL (over);

            IF cardinality(over) > 0 THEN
                DELETE FROM history h USING unnest(ids, states) AS n(id, state)
                    WHERE h.id = n.id AND n.id = ANY (over) AND n.id <> ALL (strange)
                    AND n.state NOT IN ('processed', 'failed', 'lost');
            END IF;

            INSERT INTO unfinished AS u (id, node, token, pipeline, state, stage, name, producer, claimed_at, slot,
                code, retry_of, replay_of, inode, size, definition, record)
                SELECT n.id, me, n.token, n.pipeline, n.state, n.stage, n.name, n.producer, n.claimed, n.slot, n.code,
                    n.retry, n.replay, n.inode, n.size, n.definition, n.record
                FROM unnest(ids, tokens, pipelines, states, stages, names, producers, claimed, slots, codes, retried,
                    replayed, inodes, sizes, definitions, records)
                    AS n(id, token, pipeline, state, stage, name, producer, claimed, slot, code, retry, replay, inode,
                        size, definition, record)
                WHERE n.state NOT IN ('processed', 'failed', 'lost') AND n.id <> ALL (strange)
                ON CONFLICT (id) DO UPDATE SET pipeline = excluded.pipeline, state = excluded.state,
                    stage = excluded.stage, slot = excluded.slot, code = excluded.code,
                    retry_of = coalesce(excluded.retry_of, u.retry_of),
                    replay_of = coalesce(excluded.replay_of, u.replay_of), definition = excluded.definition,
                    record = excluded.record
                WHERE u.node = me AND u.token = excluded.token;

            WITH gone AS (
                DELETE FROM unfinished u USING unnest(ids, states) AS n(id, state)
                WHERE u.id = n.id AND n.state IN ('processed', 'failed', 'lost') AND n.id <> ALL (strange)
                RETURNING u.id, u.name, u.producer, u.claimed_at, u.retry_of, u.replay_of
            ), ended AS (
                INSERT INTO history AS h (id, node, token, pipeline, state, name, producer, claimed_at, finished_at,
                    slot, code, open, retry_of, replay_of, original, inode, size, record)
                SELECT n.id, me, n.token, n.pipeline, n.state, coalesce(gone.name, n.name),
                    coalesce(gone.producer, n.producer), coalesce(gone.claimed_at, n.claimed), n.finished, n.slot,
                    n.code, CASE WHEN n.id = ANY (retried) THEN NULL ELSE n.open END,
                    coalesce(n.retry, gone.retry_of), coalesce(n.replay, gone.replay_of), n.original, n.inode, n.size,
                    n.record
                FROM unnest(ids, tokens, pipelines, states, names, producers, claimed, finished, slots, codes, opens,
                    retried, replayed, originals, inodes, sizes, records)
                    AS n(id, token, pipeline, state, name, producer, claimed, finished, slot, code, open, retry,
                        replay, original, inode, size, record)
                LEFT JOIN gone ON gone.id = n.id
                WHERE n.state IN ('processed', 'failed', 'lost') AND n.id <> ALL (strange)
                ON CONFLICT (id) DO UPDATE SET node = me, token = excluded.token, pipeline = excluded.pipeline,
                    state = excluded.state, finished_at = excluded.finished_at, slot = excluded.slot,
                    code = excluded.code,
                    open = CASE WHEN excluded.state = 'failed' AND h.state = 'failed' THEN h.open
                        ELSE excluded.open END,
                    dismissed = CASE WHEN excluded.state = 'failed' AND h.state = 'failed' THEN h.dismissed END,
                    retry_of = coalesce(excluded.retry_of, h.retry_of),
                    replay_of = coalesce(excluded.replay_of, h.replay_of), original = excluded.original,
                    record = excluded.record
                RETURNING h.id
            )
            INSERT INTO unsummed SELECT id FROM ended WHERE id <> ALL (over) ON CONFLICT DO NOTHING;

            -- A file that was sent in again leads to its job, and serves once.
            IF cardinality(new) > 0 AND EXISTS (SELECT FROM retries) THEN
                FOR again IN SELECT DISTINCT ON (n.id, r.replay) n.id, r.job, r.replay, r.inode, r.inbox
                    FROM unnest(ids, pipelines, inodes, sizes, modified) AS n(id, pipeline, inode, size, modified)
                    JOIN retries r ON r.inode = n.inode
                    JOIN (SELECT h.id, h.pipeline FROM history h UNION ALL SELECT u.id, u.pipeline FROM unfinished u)
                        AS earlier ON earlier.id = r.job
                    LEFT JOIN pipelines p ON p.name = n.pipeline
                        AND p.node = (SELECT nodes.name FROM nodes WHERE incarnation = me)
                    WHERE n.id = ANY (new) AND n.id <> ALL (strange) AND coalesce(r.size = n.size, true)
                    AND coalesce(r.modified = n.modified, true)
                    AND (coalesce(r.pipeline = n.pipeline, false)
                        OR coalesce(r.inbox = p.inbox, earlier.pipeline = n.pipeline))
                    ORDER BY n.id, r.replay, r.at DESC
                LOOP
                    IF again.replay THEN
                        UPDATE unfinished u SET replay_of = coalesce(u.replay_of, again.job) WHERE u.id = again.id;
                        UPDATE history h SET replay_of = coalesce(h.replay_of, again.job) WHERE h.id = again.id;
                    ELSE
                        UPDATE unfinished u SET retry_of = coalesce(u.retry_of, again.job)
                            WHERE u.id = again.id;
                        UPDATE history h SET retry_of = coalesce(h.retry_of, again.job) WHERE h.id = again.id;
                        retried := retried || again.job;
                    END IF;
                    DELETE FROM retries r WHERE r.inode = again.inode AND r.inbox = again.inbox;
                END LOOP;
            END IF;

            -- What is sent in again is nobody's to look at any more.
            IF EXISTS (SELECT FROM unnest(retried) AS n(id) WHERE id IS NOT NULL) THEN
                UPDATE history SET open = NULL, dismissed = NULL WHERE id = ANY (retried) AND open IS NOT NULL;
            END IF;
            RETURN QUERY SELECT unnest(strange);
        END $$
        """

    /// Lets a node write in the order in which it sends: what was given up and sent again on another connection may
    /// arrive late, and would undo what came after.
    static let turns = [
        """
        CREATE TABLE turns (
            incarnation text COLLATE "C" PRIMARY KEY,
            number bigint NOT NULL
        )
        """,
        """
        CREATE FUNCTION take_turn_1(me text, mine bigint) RETURNS text LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO turns AS t VALUES (me, mine)
                ON CONFLICT (incarnation) DO UPDATE SET number = mine WHERE t.number <= mine;
            IF NOT FOUND THEN RAISE EXCEPTION 'what is written comes late'; END IF;
            RETURN me;
        END $$
        """,
    ]

    /// Who was the first with some content but the asking job, which becomes it where there was none. Those who ask for
    /// the same take turns. A job without a row counts: it is not written down yet, or is not on record any more.
    static let first = """
        CREATE FUNCTION first_content_1(
            wanted text, asking text, of_pipeline text, of_node text, everywhere boolean, since bigint, at_time bigint
        ) RETURNS TABLE (job text, is_over boolean) LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended(wanted, \(lock)));
            RETURN QUERY SELECT c.job::text, coalesce(h.state = 'processed', c.over) FROM contents c
                LEFT JOIN history h ON h.id = c.job
                WHERE c.content = wanted AND c.job <> asking AND c.at >= since
                AND (everywhere OR c.pipeline = of_pipeline) AND coalesce(h.state NOT IN ('failed', 'lost'), true)
                ORDER BY c.job LIMIT 1;
            IF NOT FOUND THEN
                INSERT INTO contents (content, job, pipeline, node, at)
                    VALUES (wanted, asking, of_pipeline, of_node, at_time) ON CONFLICT DO NOTHING;
            END IF;
        END $$
        """

    /// Gives jobs of a dead node to another one, with the next token: of its pipelines, and with these definitions
    /// alone; without any, with all. Jobs that another node is taking at the moment are skipped.
    static let takingOver = """
        CREATE FUNCTION take_over_1(me text, dead text, of_pipelines text[], definitions text[], most integer)
        RETURNS TABLE (token bigint, record text, name bytea, producer text, claimed_at bigint, retry_of text,
            replay_of text) LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM FROM nodes WHERE incarnation = me AND dead_at IS NULL AND lease_until > clock_timestamp()
                FOR SHARE;
            IF NOT FOUND THEN RETURN; END IF;
            RETURN QUERY UPDATE unfinished u SET node = me, token = u.token + 1 FROM (
                SELECT w.id FROM unfinished w JOIN nodes n ON n.incarnation = w.node
                WHERE w.node = dead AND n.dead_at IS NOT NULL AND w.pipeline = ANY (of_pipelines)
                AND (definitions IS NULL OR w.definition = ANY (definitions))
                ORDER BY w.id LIMIT most FOR UPDATE OF w SKIP LOCKED
            ) AS wanted WHERE u.id = wanted.id
            RETURNING u.token, u.record, u.name, u.producer, u.claimed_at, u.retry_of::text, u.replay_of::text;
        END $$
        """
}
