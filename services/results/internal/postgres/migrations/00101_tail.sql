-- The tail: what happened to results and is not folded yet (spec: changes). Every change writes one row, in its own transaction: a save
-- in its statement, a retry, a label and a deletion by triggers. It takes the place of usage_tail, which the release before still writes.
--
-- A row counts in usage if it has a day, and in stored_bytes if it has bytes. The position is the order of what did not happen at the
-- same time. The tail has no index, and all its rows are deleted within seconds, as those of usage_tail.

-- +goose Up
CREATE TABLE tail (
    account_id    uuid           NOT NULL,
    prism_id      uuid           NOT NULL,
    result_id     uuid           NOT NULL,
    key_id        uuid,
    position      bigint         NOT NULL GENERATED ALWAYS AS IDENTITY,
    at            timestamptz(3) NOT NULL,
    input_tokens  bigint,
    output_tokens bigint,
    cost          bigint,
    type          integer        NOT NULL,
    day           integer,
    bytes         integer,
    status        text           COLLATE "C",
    model         text           COLLATE "C",
    currency      text           COLLATE "C"
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
COMMENT ON COLUMN tail.type IS '1 created, 2 retried, 3 labelled, 4 deleted';
ALTER TABLE tail REPLICA IDENTITY FULL;

-- The changes of results in the order in which they are told, which is an order of their commits, for 30 days, and the last one of each
-- account for good, which has the greatest number. change_counts has for each account the number of the last change, and of the last one
-- that was removed.
CREATE TABLE changes (
    account_id uuid           NOT NULL,
    seq        bigint         NOT NULL,
    at         timestamptz(3) NOT NULL,
    type       integer        NOT NULL,
    prism_id   uuid           NOT NULL,
    result_id  uuid           NOT NULL,
    CONSTRAINT changes_pkey PRIMARY KEY (account_id, seq)
);

CREATE VIEW change_counts AS
SELECT a.id AS account_id, coalesce((SELECT max(c.seq) FROM changes c WHERE c.account_id = a.id), 0) AS seq,
    coalesce((SELECT min(c.seq) FROM changes c WHERE c.account_id = a.id) - 1, 0) AS removed
FROM accounts a;

-- The functions of the triggers are as those of the baseline.
-- +goose StatementBegin
DO $do$ BEGIN
EXECUTE format($f$CREATE FUNCTION tail_result() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.tail (account_id, prism_id, result_id, type, at) VALUES (NEW.account_id, NEW.prism_id, NEW.id, 1, NEW.created_at);
    RETURN NULL;
END $t$
$f$, current_schema());
EXECUTE format($f$CREATE FUNCTION tail_retried() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.tail (account_id, prism_id, result_id, type, at) VALUES (NEW.account_id, NEW.prism_id, NEW.id, 2, now());
    RETURN NULL;
END $t$
$f$, current_schema());
EXECUTE format($f$CREATE FUNCTION tail_label() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO %1$I.tail (account_id, prism_id, result_id, type, at)
        VALUES (NEW.account_id, NEW.prism_id, NEW.result_id, 3, NEW.labelled_at);
    ELSE -- with its result, which is told already, or alone
        INSERT INTO %1$I.tail (account_id, prism_id, result_id, type, at)
        SELECT OLD.account_id, OLD.prism_id, OLD.result_id, 3, now()
        WHERE EXISTS (SELECT FROM %1$I.results r WHERE r.account_id = OLD.account_id AND r.id = OLD.result_id);
    END IF;
    RETURN NULL;
END $t$
$f$, current_schema());
END $do$;
-- +goose StatementEnd
