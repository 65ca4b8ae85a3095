package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/fair"
)

// foldedRows bounds a statement that folds: a tail that grew long, while no process folded it, is moved in several.
const foldedRows = 50_000

// usageKey and usageColumns are the columns of usage, and sumsOf and sumsAfter stand around the rows whose sums they are. An unknown
// model, key or currency is empty or the zero id, not null: it is part of the key.
const (
	usageKey     = `account_id, day, prism_id, model, key_id, currency`
	usageColumns = usageKey + `, results, failed, input_tokens, output_tokens, cost, cost_rest`

	sumsOf = `SELECT account_id, day, prism_id, coalesce(model, '') AS model,
	coalesce(key_id, '00000000-0000-0000-0000-000000000000') AS key_id, coalesce(currency, '') AS currency,
	count(*), count(*) FILTER (WHERE status = 'failed'),
	coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
	div(coalesce(sum(cost), 0), 1000000000000)::bigint, mod(coalesce(sum(cost), 0), 1000000000000)::bigint
FROM `
	sumsAfter = ` GROUP BY 1, 2, 3, 4, 5, 6`
)

// folding adds rows of a tail to its sums and deletes them: insert adds the rows of moved. One process at a time does: its lock costs
// less than a lock of each row, and no two fold in different orders, in which they could wait for each other. The others have
// nothing to do.
//
// A process that gets the lock after another one may still see, in its older snapshot, rows that the other one deleted. Postgres
// deletes and returns none of these.
//
// The two folds share the lock: that of usage_tail adds to both sums, as its trigger fold_bytes adds the bytes.
func folding(tail, insert string) string {
	return `-- name: FoldUsage :one
WITH lock AS MATERIALIZED (
	SELECT pg_try_advisory_xact_lock(8102654024067625077) AS held -- a number of our own: "prism: u"
), moved AS (
	DELETE FROM ` + tail + `
	WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM ` + tail + ` t WHERE (SELECT held FROM lock) LIMIT $1))
	RETURNING *
), folded AS (
	` + insert + `
)
SELECT count(*) FROM moved`
}

var (
	foldUsage = folding("usage_tail", `INSERT INTO usage AS u (`+usageColumns+`)
	`+sumsOf+`moved`+sumsAfter+`
	ON CONFLICT (`+usageKey+`) DO UPDATE SET
		results = u.results + excluded.results, failed = u.failed + excluded.failed,
		input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
		cost = u.cost + excluded.cost + (u.cost_rest + excluded.cost_rest) / 1000000000000,
		cost_rest = (u.cost_rest + excluded.cost_rest) % 1000000000000`)

	foldBytes = folding("stored_bytes_tail", `INSERT INTO stored_bytes AS s (account_id, bytes)
	SELECT account_id, sum(bytes) FROM moved GROUP BY account_id
	ON CONFLICT (account_id) DO UPDATE SET bytes = s.bytes + excluded.bytes`)
)

// FoldUsage implements store.Usage.
func (d *database) FoldUsage(ctx context.Context) error {
	for _, fold := range []string{foldUsage, foldBytes} {
		for moved := int64(foldedRows); moved == foldedRows; {
			err := d.do(ctx, fair.Yielding, "fold usage", func(ctx context.Context, conn *pgxpool.Conn) error {
				return conn.QueryRow(ctx, fold, foldedRows).Scan(&moved)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
