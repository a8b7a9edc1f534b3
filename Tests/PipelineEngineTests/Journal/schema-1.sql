-- 1 nodes

CREATE TABLE nodes (
    incarnation text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease interval NOT NULL,
    lease_until timestamptz NOT NULL,
    dead_at timestamptz
);

-- 1 unfinished

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
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

CREATE INDEX unfinished_of_node ON unfinished (node, id);

-- 1 history

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
) PARTITION BY RANGE (id);

CREATE TABLE history_other PARTITION OF history DEFAULT;

CREATE INDEX history_claimed_at ON history (claimed_at);

CREATE INDEX history_of_pipeline ON history (pipeline, claimed_at);

CREATE INDEX history_finished_at ON history (finished_at, id);

CREATE INDEX history_of_name ON history (name, claimed_at);

CREATE INDEX history_of_producer ON history (producer, claimed_at) WHERE producer IS NOT NULL;

CREATE INDEX history_of_code ON history (code, claimed_at) WHERE code IS NOT NULL;

CREATE INDEX history_open ON history (pipeline, code, open) WHERE open IS NOT NULL;

CREATE INDEX history_retry_of ON history (retry_of) WHERE retry_of IS NOT NULL;

CREATE INDEX history_replay_of ON history (replay_of) WHERE replay_of IS NOT NULL;

CREATE INDEX history_of_original ON history (original) WHERE state = 'failed';

CREATE INDEX history_of_slot ON history (slot) WHERE slot IS NOT NULL;

CREATE TABLE unsummed (id text COLLATE "C" PRIMARY KEY);

CREATE TABLE figures (pipeline text PRIMARY KEY, value text NOT NULL);

-- 1 totals

CREATE TABLE totals (pipeline text NOT NULL, state text NOT NULL, count bigint NOT NULL);

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
END $$;

CREATE TRIGGER history_added AFTER INSERT ON history REFERENCING NEW TABLE AS after
FOR EACH STATEMENT EXECUTE FUNCTION count_history();

CREATE TRIGGER history_changed AFTER UPDATE ON history REFERENCING OLD TABLE AS before NEW TABLE AS after
FOR EACH STATEMENT EXECUTE FUNCTION count_history();

CREATE TRIGGER history_removed AFTER DELETE ON history REFERENCING OLD TABLE AS before
FOR EACH STATEMENT EXECUTE FUNCTION count_history();

-- 1 notes

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
);

CREATE TABLE contents (
    content text COLLATE "C" NOT NULL,
    job text COLLATE "C" NOT NULL,
    pipeline text NOT NULL,
    node text NOT NULL,
    at bigint NOT NULL,
    over boolean NOT NULL DEFAULT false,
    PRIMARY KEY (content, job)
);

CREATE INDEX contents_at ON contents (at);

CREATE INDEX contents_of_job ON contents (job);

-- 1 people

CREATE TABLE runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node text NOT NULL,
    incarnation text NOT NULL,
    value text NOT NULL,
    ended_at bigint
);

CREATE TABLE pipelines (
    node text NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    inbox bytea NOT NULL,
    updated_at bigint NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (node, name)
);

CREATE TABLE roots (
    node text NOT NULL,
    pipeline text NOT NULL,
    host text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    value text NOT NULL,
    PRIMARY KEY (node, pipeline)
);

CREATE TABLE holds (pipeline text PRIMARY KEY, since bigint NOT NULL, value text NOT NULL);

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
);

CREATE TABLE outbox (
    id text PRIMARY KEY,
    rule text NOT NULL,
    event text NOT NULL,
    pipeline text NOT NULL,
    content text NOT NULL,
    since bigint NOT NULL,
    tries bigint NOT NULL,
    next bigint NOT NULL
);

CREATE TABLE notified (
    rule text NOT NULL,
    event text NOT NULL,
    pipeline text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (rule, event, pipeline)
);

CREATE TABLE archives (
    node text PRIMARY KEY,
    path bytea NOT NULL,
    folder bigint NOT NULL,
    inode bigint NOT NULL,
    length bigint NOT NULL,
    is_open boolean NOT NULL
);

-- 1 writing

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
END $$;

-- 1 first

CREATE FUNCTION first_content_1(
    wanted text, asking text, of_pipeline text, of_node text, everywhere boolean, since bigint, at_time bigint
) RETURNS TABLE (job text, is_over boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(wanted, 1685221232));
    RETURN QUERY SELECT c.job::text, coalesce(h.state = 'processed', c.over) FROM contents c
        LEFT JOIN history h ON h.id = c.job
        WHERE c.content = wanted AND c.job <> asking AND c.at >= since
        AND (everywhere OR c.pipeline = of_pipeline) AND coalesce(h.state NOT IN ('failed', 'lost'), true)
        ORDER BY c.job LIMIT 1;
    IF NOT FOUND THEN
        INSERT INTO contents (content, job, pipeline, node, at)
            VALUES (wanted, asking, of_pipeline, of_node, at_time) ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- 1 taking over

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
END $$;

-- 1 sharing

CREATE TABLE shares (
    pipeline text NOT NULL,
    incarnation text COLLATE "C" NOT NULL,
    token text NOT NULL,
    PRIMARY KEY (pipeline, incarnation)
);

CREATE FUNCTION share_1(me text, of_pipeline text, proposed text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    agreed text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(of_pipeline, 1685221232));
    DELETE FROM shares s WHERE NOT EXISTS (
        SELECT FROM nodes n WHERE n.incarnation = s.incarnation AND dead_at IS NULL);
    SELECT token INTO agreed FROM shares s WHERE s.pipeline = of_pipeline AND s.incarnation <> me LIMIT 1;
    agreed := coalesce(agreed, proposed);
    INSERT INTO shares VALUES (of_pipeline, me, agreed)
        ON CONFLICT (pipeline, incarnation) DO UPDATE SET token = excluded.token;
    RETURN agreed;
END $$;

CREATE TABLE duties (
    name text PRIMARY KEY,
    incarnation text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL
);

-- 1 files

CREATE TABLE files (
    job text COLLATE "C" PRIMARY KEY,
    pipeline text NOT NULL,
    place text NOT NULL,
    root bytea NOT NULL,
    since bigint NOT NULL,
    bytes bigint NOT NULL,
    path bytea NOT NULL,
    state text NOT NULL,
    rule text
);

CREATE INDEX files_in_order ON files (pipeline, place, root, since, job);

CREATE INDEX files_at ON files (path);

CREATE INDEX files_leaving ON files (pipeline, place, root, since) WHERE rule IS NOT NULL;

CREATE TABLE kept (
    pipeline text NOT NULL,
    place text NOT NULL,
    root bytea NOT NULL,
    files bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    changed bigint NOT NULL DEFAULT 0,
    mark text,
    collected bigint,
    PRIMARY KEY (pipeline, place, root)
);

CREATE TABLE made_folders (
    pipeline text NOT NULL,
    place text NOT NULL,
    root bytea NOT NULL,
    path bytea NOT NULL,
    inode bigint NOT NULL,
    PRIMARY KEY (pipeline, place, root, path)
);

-- 1 days

CREATE FUNCTION make_day_1(day text, low text, high text) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF day !~ '^history_[0-9]{8}$' THEN RAISE EXCEPTION '% is no day', day; END IF;
    IF to_regclass(day) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(1685221232, 3);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF history FOR VALUES FROM (%L) TO (%L)',
        day, low, high);
END $$;

CREATE FUNCTION drop_day_1(before text) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    day text;
    is_empty boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(1685221232, 3);
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
END $$;

REVOKE ALL ON FUNCTION make_day_1 FROM PUBLIC;

REVOKE ALL ON FUNCTION drop_day_1 FROM PUBLIC;
