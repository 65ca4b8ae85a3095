package postgres

import (
	"context"
	"database/sql"
	"errors"
)

// addRecords is migration 7. A result has the call of its model and the API key that made the call (spec: record-members). They
// are null for results that were saved before, or that the previous release saves. The columns do not make Postgres write the rows.
//
// What results used is counted by a trigger, so that a save of the previous release is counted too (spec: usage-is-exact). Calls
// go on meanwhile. The migration begins anew after an interruption: without the trigger, and with empty tables.
func addRecords(ctx context.Context, db *sql.DB) error {
	const columns = `ALTER TABLE results ADD COLUMN IF NOT EXISTS key_id uuid, ADD COLUMN IF NOT EXISTS model text COLLATE "C",
	ADD COLUMN IF NOT EXISTS input_tokens bigint, ADD COLUMN IF NOT EXISTS output_tokens bigint, ADD COLUMN IF NOT EXISTS cost bigint,
	ADD COLUMN IF NOT EXISTS currency text COLLATE "C", ADD COLUMN IF NOT EXISTS call json`
	if err := alter(ctx, db, columns+"; "+dropTrigger); err != nil {
		return err
	}
	if err := alter(ctx, db, dropUsage+"; "+createUsage); err != nil {
		return err
	}
	const countSaved = "INSERT INTO usage (" + usageColumns + ") " + sumsOf + dayOfResult + sumsBehind + "results" + sumsAfter
	return countFrom(ctx, db, "results", createTrigger, countSaved)
}

// dropRecords undoes addRecords.
func dropRecords(ctx context.Context, db *sql.DB) error {
	err := alter(ctx, db, dropTrigger+`; ALTER TABLE results DROP COLUMN IF EXISTS key_id, DROP COLUMN IF EXISTS model,
	DROP COLUMN IF EXISTS input_tokens, DROP COLUMN IF EXISTS output_tokens, DROP COLUMN IF EXISTS cost,
	DROP COLUMN IF EXISTS currency, DROP COLUMN IF EXISTS call`)
	if err != nil {
		return err
	}
	return alter(ctx, db, dropUsage)
}

const (
	dropTrigger = "DROP TRIGGER IF EXISTS count_result ON results"
	// createTrigger counts the results of the previous release, which have no call. This release counts its own by itself
	// (countInserted).
	createTrigger = `CREATE TRIGGER count_result AFTER INSERT ON results FOR EACH ROW WHEN (NEW.call IS NULL)
	EXECUTE FUNCTION count_result()`

	dropUsage = `DROP VIEW IF EXISTS usage_now; DROP TABLE IF EXISTS usage, usage_tail; DROP FUNCTION IF EXISTS count_result()`

	// createUsage makes the sums, usage, and what is not added to them yet, usage_tail; usage_now is both. The trigger inserts one
	// row in the tail, which has no index and no two saves fight for. It does so as the role that migrates: the services of the
	// previous release may have no right to the new tables. So the function names the schema of all that it uses, and
	// is safe from other search paths.
	//
	// All rows of the tail are deleted within seconds, so it is vacuumed after a number of rows. Without a key, it can be
	// replicated logically only if its rows are written to the log in full. An update of usage changes no column of its index,
	// and finds room on the page of the row.
	createUsage = `
CREATE TABLE usage (
    account_id    uuid    NOT NULL,
    day           integer NOT NULL,
    prism_id      uuid    NOT NULL,
    model         text    NOT NULL COLLATE "C",
    key_id        uuid    NOT NULL,
    currency      text    NOT NULL COLLATE "C",
    results       bigint  NOT NULL,
    failed        bigint  NOT NULL,
    input_tokens  bigint  NOT NULL,
    output_tokens bigint  NOT NULL,
    cost          bigint  NOT NULL,
    cost_rest     bigint  NOT NULL,
    CONSTRAINT usage_pkey PRIMARY KEY (` + usageKey + `)
) WITH (fillfactor = 70);
COMMENT ON COLUMN usage.day IS 'days since 1970-01-01, in UTC';
COMMENT ON COLUMN usage.cost_rest IS 'what exceeds the whole units in cost, in 10^-12 of the currency';
CREATE TABLE usage_tail (
    account_id    uuid    NOT NULL,
    day           integer NOT NULL,
    prism_id      uuid    NOT NULL,
    status        text    NOT NULL COLLATE "C",
    key_id        uuid,
    model         text    COLLATE "C",
    input_tokens  bigint,
    output_tokens bigint,
    cost          bigint,
    currency      text    COLLATE "C"
) WITH (` + vacuumTail + `);
ALTER TABLE usage_tail REPLICA IDENTITY FULL;
CREATE VIEW usage_now AS SELECT ` + usageColumns + ` FROM usage UNION ALL ` + tailRows + `;
EXECUTE format($f$CREATE FUNCTION count_result() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $t$
BEGIN
    INSERT INTO %I.usage_tail VALUES (NEW.account_id,
        (NEW.created_at AT TIME ZONE 'UTC')::date OPERATOR(pg_catalog.-) DATE '1970-01-01',
        NEW.prism_id, NEW.status, NEW.key_id, NEW.model, NEW.input_tokens, NEW.output_tokens, NEW.cost, NEW.currency);
    RETURN NULL;
END $t$
$f$, current_schema())`
)

// vacuumTail has the tail of sums vacuumed after a number of rows.
const vacuumTail = `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0`

// usageKey and usageColumns are the columns of usage, tailRows the rows of the tail with these columns, and sumsOf to sumsAfter
// the sums over rows of results or of the tail. An unknown model, key or currency is empty or the zero id, not null: it is
// part of the key.
const (
	usageKey     = `account_id, day, prism_id, model, key_id, currency`
	usageColumns = usageKey + `, results, failed, input_tokens, output_tokens, cost, cost_rest`

	dayOfResult = `(created_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01'`
	restOfKey   = `prism_id, coalesce(model, '') AS model,
	coalesce(key_id, '00000000-0000-0000-0000-000000000000') AS key_id, coalesce(currency, '') AS currency`

	tailRows = `SELECT account_id, day, ` + restOfKey + `, 1::bigint, (status = 'failed')::integer::bigint, coalesce(input_tokens, 0),
	coalesce(output_tokens, 0), coalesce(cost, 0) / 1000000000000, coalesce(cost, 0) % 1000000000000 FROM usage_tail`

	// sumsOf and sumsBehind stand around a day and a table.
	sumsOf     = `SELECT account_id, `
	sumsBehind = `, ` + restOfKey + `, count(*), count(*) FILTER (WHERE status = 'failed'),
	coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
	div(coalesce(sum(cost), 0), 1000000000000)::bigint, mod(coalesce(sum(cost), 0), 1000000000000)::bigint
FROM `
	sumsAfter = ` GROUP BY 1, 2, 3, 4, 5, 6`
)

// countFrom counts what tables have, and creates the triggers that count what comes then.
func countFrom(ctx context.Context, db *sql.DB, tables, triggers, count string) error {
	var before *sql.Tx
	err := untilLocked(ctx, func() (err error) {
		before, err = startCounting(ctx, db, tables, triggers)
		return err
	})
	if err != nil {
		return err
	}
	_, err = before.ExecContext(ctx, count)
	return end(before, err)
}

// startCounting creates the triggers, and returns a transaction that sees exactly the rows that the triggers do not count.
//
// The lock waits for the changes under way, and lets none begin, for the few milliseconds until the transaction ends. Reads go on.
// The other transaction takes its snapshot within.
func startCounting(ctx context.Context, db *sql.DB, tables, triggers string) (_ *sql.Tx, err error) {
	// The connection is there before the lock.
	before, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = end(before, err)
		}
	}()
	locking, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	steps := []struct {
		tx   *sql.Tx
		text string
	}{
		{locking, "SET LOCAL lock_timeout = '" + lockTimeout + "'"},
		{locking, "LOCK TABLE " + tables + " IN SHARE ROW EXCLUSIVE MODE"},
		{before, "SELECT"}, // takes the snapshot
		{locking, triggers},
	}
	for _, s := range steps {
		if _, err := s.tx.ExecContext(ctx, s.text); err != nil {
			return nil, end(locking, err)
		}
	}
	return before, end(locking, nil)
}

// end commits a transaction, or rolls it back after an error.
func end(tx *sql.Tx, err error) error {
	if err == nil {
		return tx.Commit()
	}
	return errors.Join(err, tx.Rollback())
}
