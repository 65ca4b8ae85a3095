-- Moves of accounts between several databases (spec: account-moves). With one database the tables are empty.
--
-- moved_accounts: of the database that an account has left, where it is now; its row is the switch. epoch is that of directory_accounts.
-- arriving_rows: of the database that an account comes to, the rows that workers or sign-ins would act on, as JSON in the order in which
-- they are inserted, until the switch of their epoch. moves: of home, the moves under way, and how far they are.

-- +goose Up
CREATE TABLE moved_accounts (
    account_id uuid           NOT NULL,
    database   text           NOT NULL COLLATE "C",
    epoch      bigint         NOT NULL,
    moved_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT moved_accounts_pkey PRIMARY KEY (account_id)
);
CREATE INDEX moved_accounts_by_time ON moved_accounts (moved_at);

CREATE TABLE arriving_rows (
    account_id uuid   NOT NULL,
    number     bigint NOT NULL,
    epoch      bigint NOT NULL,
    table_name text   NOT NULL COLLATE "C",
    "row"      json   NOT NULL,
    CONSTRAINT arriving_rows_pkey PRIMARY KEY (account_id, number)
);

CREATE TABLE moves (
    account_id  uuid           NOT NULL,
    source      text           NOT NULL COLLATE "C",
    target      text           NOT NULL COLLATE "C",
    epoch       bigint         NOT NULL,
    step        text           NOT NULL COLLATE "C",
    started_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    switched_at timestamptz(3),
    CONSTRAINT moves_pkey PRIMARY KEY (account_id)
);
COMMENT ON COLUMN moves.epoch IS 'that the account has in the target';

-- move_lock is the key of the advisory lock that the switch of an account takes exclusively, and that writes share.
CREATE FUNCTION move_lock(account uuid) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN hashtextextended('prism: move ' || account::text, 0);

-- The functions below write as those of the baseline, as the role that migrates.
-- +goose StatementBegin
DO $do$ BEGIN
-- A trigger of an account that moves, which is its argument: FOR EACH ROW, BEFORE a change. The first statement of the function has the lock
-- before the second takes its snapshot, so a write either comes before the switch, or sees it.
EXECUTE format($f$CREATE FUNCTION refuse_moved() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(%1$I.move_lock(TG_ARGV[0]::uuid)) THEN
        RAISE EXCEPTION 'the account is being moved' USING ERRCODE = 'PM001', DETAIL = TG_ARGV[0];
    END IF;
    IF EXISTS (SELECT FROM %1$I.moved_accounts m WHERE m.account_id = TG_ARGV[0]::uuid) THEN
        RAISE EXCEPTION 'the account has moved' USING ERRCODE = 'PM002', DETAIL = TG_ARGV[0];
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $t$
$f$, current_schema());
-- Makes the rows of an account that has come here in an epoch, once, and tells whether it did. Columns that Postgres numbers are numbered
-- anew, in the order of the rows. A trigger counts the bytes of files, which are counted already in what comes last, if only by no row.
EXECUTE format($f$CREATE FUNCTION activate_account(account uuid, in_epoch bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
DECLARE
    part record;
BEGIN
    PERFORM pg_advisory_xact_lock(%1$I.move_lock(account));
    FOR part IN
        SELECT t.oid::regclass AS name, t.relname = 'stored_bytes_tail' AS is_last, a.table_name,
            (SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) FROM pg_attribute c
            WHERE c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped AND c.attidentity = '' AND c.attgenerated = '') AS columns
        FROM (SELECT r.table_name, min(r.number) AS first FROM (
            SELECT table_name, number FROM %1$I.arriving_rows WHERE account_id = account AND epoch = in_epoch
            UNION ALL SELECT 'stored_bytes_tail', NULL
            WHERE EXISTS (SELECT FROM %1$I.arriving_rows WHERE account_id = account AND epoch = in_epoch)
        ) r GROUP BY r.table_name) a
        JOIN pg_class t ON t.oid = format('%%I.%%I', %1$L, a.table_name)::regclass
        ORDER BY is_last, a.first
    LOOP
        IF part.is_last THEN
            DELETE FROM %1$I.stored_bytes_tail s WHERE s.account_id = account;
        END IF;
        EXECUTE format('INSERT INTO %%1$s (%%2$s) SELECT %%2$s FROM (SELECT made.*
            FROM %1$I.arriving_rows r, json_populate_record(NULL::%%1$s, r."row") made
            WHERE r.account_id = $1 AND r.epoch = $2 AND r.table_name = $3 ORDER BY r.number) made', part.name, part.columns)
        USING account, in_epoch, part.table_name;
    END LOOP;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM %1$I.arriving_rows r WHERE r.account_id = account;
    DELETE FROM %1$I.moved_accounts m WHERE m.account_id = account AND m.epoch < in_epoch;
    RETURN true;
END $t$
$f$, current_schema());
END $do$;
-- +goose StatementEnd
