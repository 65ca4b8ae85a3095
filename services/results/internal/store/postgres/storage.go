package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store/sqlstore"
)

// addStorage is migration 17: how many bytes the results and files of each account have (spec: stored-bytes), and how many they may
// have. Calls go on meanwhile. The bytes of the results that this release saves are in their rows of usage_tail (countInserted), and
// a trigger adds them to the sums when a row is folded, by whichever release. Triggers count files, deletions of results, and results
// without bytes or without a call in their tail, as those of the previous release are. The migration begins anew after an
// interruption: without the triggers, and with empty tables.
func addStorage(ctx context.Context, db *sql.DB) error {
	for _, statements := range []string{
		"ALTER TABLE results ADD COLUMN IF NOT EXISTS bytes integer; " + dropResultTriggers,
		dropFileTrigger + "; CREATE INDEX IF NOT EXISTS files_uploading ON files (account_id) WHERE status = 'uploading'",
		"ALTER TABLE account_limits ADD COLUMN IF NOT EXISTS stored_bytes bigint NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0)",
		dropStorage + "; ALTER TABLE usage_tail ADD COLUMN IF NOT EXISTS bytes integer; UPDATE usage_tail SET bytes = NULL; " + createStorage,
	} {
		if err := alter(ctx, db, statements); err != nil {
			return err
		}
	}
	return countFrom(ctx, db, "results, files", createStorageTriggers, countStorage)
}

// removeStorage undoes addStorage.
func removeStorage(ctx context.Context, db *sql.DB) error {
	for _, statements := range []string{
		dropResultTriggers + "; ALTER TABLE results DROP COLUMN IF EXISTS bytes",
		dropFileTrigger + "; DROP INDEX IF EXISTS files_uploading",
		"ALTER TABLE account_limits DROP COLUMN IF EXISTS stored_bytes",
		dropStorage + "; ALTER TABLE usage_tail DROP COLUMN IF EXISTS bytes",
	} {
		if err := alter(ctx, db, statements); err != nil {
			return err
		}
	}
	return nil
}

const (
	dropResultTriggers = "DROP TRIGGER IF EXISTS store_result ON results; DROP TRIGGER IF EXISTS remove_results ON results"
	dropFileTrigger    = "DROP TRIGGER IF EXISTS store_file ON files"
	dropStorage        = `DROP VIEW IF EXISTS stored_bytes_now; DROP TRIGGER IF EXISTS fold_bytes ON usage_tail;
DROP TABLE IF EXISTS stored_bytes, stored_bytes_tail;
DROP FUNCTION IF EXISTS store_result(), remove_results(), store_file(), fold_bytes()`

	createStorageTriggers = `CREATE TRIGGER store_result AFTER INSERT ON results FOR EACH ROW WHEN (NEW.bytes IS NULL OR NEW.call IS NULL)
	EXECUTE FUNCTION store_result();
CREATE TRIGGER remove_results AFTER DELETE ON results REFERENCING OLD TABLE AS removed FOR EACH STATEMENT
	EXECUTE FUNCTION remove_results();
CREATE TRIGGER store_file AFTER INSERT OR DELETE OR UPDATE OF status, copy_bytes ON files FOR EACH ROW
	EXECUTE FUNCTION store_file()`
)

var (
	// createStorage makes the sums, stored_bytes, and what is not added to them yet beside usage_tail, stored_bytes_tail;
	// stored_bytes_now is all. They are as usage, its tail and its view (createUsage), and their functions too.
	createStorage = `
CREATE TABLE stored_bytes (
    account_id uuid   NOT NULL,
    bytes      bigint NOT NULL,
    CONSTRAINT stored_bytes_pkey PRIMARY KEY (account_id)
) WITH (fillfactor = 50);
CREATE TABLE stored_bytes_tail (
    account_id uuid   NOT NULL,
    bytes      bigint NOT NULL
) WITH (` + vacuumTail + `);
ALTER TABLE stored_bytes_tail REPLICA IDENTITY FULL;
CREATE VIEW stored_bytes_now AS SELECT account_id, bytes FROM stored_bytes UNION ALL SELECT account_id, bytes FROM stored_bytes_tail
	UNION ALL SELECT account_id, bytes FROM usage_tail WHERE bytes IS NOT NULL;
` + triggerFunction("store_result", `INSERT INTO %I.stored_bytes_tail VALUES (NEW.account_id, coalesce(NEW.bytes, `+bytesOf("NEW")+`))`) + "; " +
		triggerFunction("remove_results", `INSERT INTO %I.stored_bytes_tail
	SELECT r.account_id, -sum(coalesce(r.bytes, `+bytesOf("r")+`)) FROM removed r GROUP BY r.account_id`) + "; " +
		triggerFunction("store_file", `INSERT INTO %I.stored_bytes_tail
	SELECT f.account_id, sum(f.bytes) FROM (
		SELECT NEW.account_id, NEW.bytes + NEW.copy_bytes WHERE NEW.status <> 'deleted'
		UNION ALL SELECT OLD.account_id, -OLD.bytes - OLD.copy_bytes WHERE OLD.status <> 'deleted'
	) f (account_id, bytes) GROUP BY f.account_id HAVING sum(f.bytes) <> 0`) + "; " +
		triggerFunction("fold_bytes", `INSERT INTO %I.stored_bytes AS s
	SELECT m.account_id, sum(m.bytes) FROM moved m WHERE m.bytes IS NOT NULL GROUP BY m.account_id
	ON CONFLICT (account_id) DO UPDATE SET bytes = s.bytes + excluded.bytes`) + `;
CREATE TRIGGER fold_bytes AFTER DELETE ON usage_tail REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION fold_bytes()`

	// countStorage counts what was stored before.
	countStorage = `INSERT INTO stored_bytes SELECT s.account_id, sum(s.bytes) FROM (
	SELECT r.account_id, coalesce(r.bytes, ` + bytesOf("r") + `) FROM results r
	UNION ALL SELECT account_id, bytes + copy_bytes FROM files WHERE status <> 'deleted'
) s (account_id, bytes) GROUP BY s.account_id`
)

// triggerFunction creates a function that executes a statement, in which %I is the schema, as the role that migrates.
func triggerFunction(name, statement string) string {
	return `EXECUTE format($f$CREATE FUNCTION ` + name + `() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    ` + statement + `;
    RETURN NULL;
END $t$
$f$, current_schema())`
}

// rowBytes is what a result counts for its row and its index entries (spec: stored-bytes).
const rowBytes = 256

// bytesOf is what a row of results counts that was saved without its bytes, as arguments adds them up.
func bytesOf(row string) string {
	var size strings.Builder
	for _, column := range []string{"ref", "context", "fields", "error", "answers", "call"} {
		fmt.Fprintf(&size, "coalesce(octet_length(%s.%s::text), 0) + ", row, column)
	}
	return fmt.Sprintf("%s%d", &size, rowBytes)
}

// arguments are sqlstore.Arguments and what the result counts.
func arguments(account prism.AccountID, r prism.Result, more any) ([]any, error) {
	args, err := sqlstore.Arguments(account, r, more)
	if err != nil {
		return nil, err
	}
	size := rowBytes
	for _, column := range []int{4, 5, 6, 8, 11, 18} { // as bytesOf
		switch value := args[column].(type) {
		case string:
			size += len(value)
		case []byte:
			size += len(value)
		case *string:
			if value != nil {
				size += len(*value)
			}
		}
	}
	return append(args, int32(size)), nil // a few MiB
}
