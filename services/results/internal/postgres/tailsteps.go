package postgres

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"

	"github.com/prism-results/prism/services/results/internal/store"
)

// steps are the migrations that change tables with rows.
func steps() []*goose.Migration {
	return []*goose.Migration{
		goose.NewGoMigration(store.Baseline+2, &goose.GoFunc{RunDB: beginTail}, nil),
		goose.NewGoMigration(store.Baseline+3, &goose.GoFunc{RunDB: makeIndex}, nil),
		goose.NewGoMigration(store.Baseline+4, &goose.GoFunc{RunDB: searchDeletions}, nil),
		goose.NewGoMigration(store.Baseline+7, &goose.GoFunc{RunDB: makeComments}, nil),
		goose.NewGoMigration(store.Baseline+10, &goose.GoFunc{RunDB: countTerms}, nil),
		goose.NewGoMigration(store.Baseline+14, &goose.GoFunc{RunDB: indexExpiringKeys}, nil),
	}
}

// The parts of beginTail, each of which locks one table or view. Views count the tail before something writes to it. A result that the
// release before saves, or that is inserted by hand, is not tailed: triggers tell it, and count it as before.
var tailParts = []string{
	`CREATE OR REPLACE VIEW usage_now AS
SELECT account_id, day, prism_id, model, key_id, currency, results, failed, input_tokens, output_tokens, cost, cost_rest FROM usage
UNION ALL ` + unfoldedUsage + ` FROM usage_tail
UNION ALL ` + unfoldedUsage + ` FROM tail WHERE day IS NOT NULL`,

	`CREATE OR REPLACE VIEW stored_bytes_now AS
SELECT account_id, bytes FROM stored_bytes
UNION ALL SELECT account_id, bytes FROM stored_bytes_tail
UNION ALL SELECT account_id, bytes FROM usage_tail WHERE bytes IS NOT NULL
UNION ALL SELECT account_id, bytes FROM tail WHERE bytes IS NOT NULL`,

	`ALTER TABLE results ADD COLUMN IF NOT EXISTS tailed boolean;
COMMENT ON COLUMN results.tailed IS 'true: the statement that inserted it wrote its row of the tail';
DROP TRIGGER IF EXISTS count_result ON results;
CREATE TRIGGER count_result AFTER INSERT ON results FOR EACH ROW WHEN (NEW.tailed IS NULL AND NEW.call IS NULL)
	EXECUTE FUNCTION count_result();
DROP TRIGGER IF EXISTS store_result ON results;
CREATE TRIGGER store_result AFTER INSERT ON results FOR EACH ROW
	WHEN (NEW.tailed IS NULL AND (NEW.bytes IS NULL OR NEW.call IS NULL)) EXECUTE FUNCTION store_result();
DROP TRIGGER IF EXISTS tail_result ON results;
CREATE TRIGGER tail_result AFTER INSERT ON results FOR EACH ROW WHEN (NEW.tailed IS NULL) EXECUTE FUNCTION tail_result();
DROP TRIGGER IF EXISTS tail_retried ON results;
CREATE TRIGGER tail_retried AFTER UPDATE OF retried_by ON results FOR EACH ROW
	WHEN (NEW.retried_by IS NOT NULL AND OLD.retried_by IS DISTINCT FROM NEW.retried_by) EXECUTE FUNCTION tail_retried();
EXECUTE format($f$CREATE OR REPLACE FUNCTION remove_results() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    INSERT INTO %I.tail (account_id, prism_id, result_id, type, at, bytes)
    SELECT r.account_id, r.prism_id, r.id, 4, now(), -coalesce(r.bytes, coalesce(octet_length(r.ref::text), 0)
        + coalesce(octet_length(r.context::text), 0) + coalesce(octet_length(r.fields::text), 0)
        + coalesce(octet_length(r.error::text), 0) + coalesce(octet_length(r.answers::text), 0)
        + coalesce(octet_length(r.call::text), 0) + 256) FROM removed r;
    RETURN NULL;
END $t$
$f$, current_schema())`,

	`DROP TRIGGER IF EXISTS tail_label ON labels;
CREATE TRIGGER tail_label AFTER INSERT OR UPDATE OR DELETE ON labels FOR EACH ROW EXECUTE FUNCTION tail_label()`,
}

// unfoldedUsage are the columns of usage_now of a row that is not folded.
const unfoldedUsage = `SELECT account_id, day, prism_id, coalesce(model, '') AS model,
	coalesce(key_id, '00000000-0000-0000-0000-000000000000') AS key_id, coalesce(currency, '') AS currency, 1::bigint,
	(status = 'failed')::integer::bigint, coalesce(input_tokens, 0), coalesce(output_tokens, 0),
	coalesce(cost, 0) / 1000000000000, coalesce(cost, 0) % 1000000000000`

// beginTail has every change write its row of the tail.
func beginTail(ctx context.Context, db *sql.DB) error {
	for _, part := range tailParts {
		if err := changeTables(ctx, db, part); err != nil {
			return err
		}
	}
	return nil
}
