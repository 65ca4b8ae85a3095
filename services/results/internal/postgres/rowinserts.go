package postgres

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// insertRows inserts many results in one statement, whose parameters are arrays with an element for each result. A result that is
// retried is marked first, and only the first retry of it is one. So its idempotency key is free when the retry takes it.
const insertRows = `-- name: InsertRows :many
WITH sent AS (
	SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
		$11::bigint[], $12::text[], $13::uuid[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::text[],
		$19::text[], $20::text[], $21::uuid[], $22::uuid[], $23::bigint[], $24::integer[]) AS s (id, prism_id, version, ref, context, fields, status,
		error, took_ms, answers, key_id, model, input_tokens, output_tokens, cost, currency, call, idempotency_key, retry_of, run_id,
		run_row, bytes)
), marked AS (
	UPDATE results m SET retried_by = sent.id, idempotency_key = NULL FROM sent
	WHERE m.account_id = $1 AND m.id = sent.retry_of AND m.status = 'failed' AND m.retried_by IS NULL
	RETURNING m.id
), inserted AS (
	INSERT INTO results (` + sqldb.InsertColumns + sqldb.RunColumns + tailedColumns + `)
	SELECT $1, s.id, s.prism_id, s.version, s.ref, s.context, s.fields::json, s.status, s.error, s.took_ms, $2::timestamptz, s.answers::json,
		s.key_id, s.model, s.input_tokens, s.output_tokens, s.cost, s.currency, s.call::json, s.idempotency_key, m.id, s.run_id, s.run_row,
		s.bytes, true
	FROM sent s LEFT JOIN marked m ON m.id = s.retry_of
	ON CONFLICT DO NOTHING
	RETURNING ` + insertedColumns + `
)` + tailInserted

// insertResults is insertResult of several results of any accounts. Its parameters are arrays with an element for each result, and
// it returns a row for each, in their order.
const insertResults = `-- name: SaveResults :many
WITH sent AS (
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
		$10::bigint[], $11::timestamptz[], $12::text[], $13::uuid[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[],
		$18::text[], $19::text[], $20::text[], $21::integer[]) WITH ORDINALITY AS s (account_id, id, prism_id, version, ref, context, fields,
		status, error, took_ms, created_at, answers, key_id, model, input_tokens, output_tokens, cost, currency, call,
		idempotency_key, bytes, position)
), inserted AS (
	INSERT INTO results (` + sqldb.InsertColumns + tailedColumns + `)
	SELECT s.account_id, s.id, s.prism_id, s.version, s.ref, s.context, s.fields::json, s.status, s.error, s.took_ms, s.created_at,
		s.answers::json, s.key_id, s.model, s.input_tokens, s.output_tokens, s.cost, s.currency, s.call::json, s.idempotency_key, NULL,
		s.bytes, true
	FROM sent s JOIN prisms p ON p.account_id = s.account_id AND p.id = s.prism_id AND p.latest_version >= s.version
	ORDER BY s.position
	ON CONFLICT DO NOTHING
	RETURNING ` + insertedColumns + `
), used AS (` + tailInserted + `
)
SELECT i.id IS NOT NULL, ` + sqldb.PrismState + `
FROM sent s
LEFT JOIN prisms p ON p.account_id = s.account_id AND p.id = s.prism_id
LEFT JOIN inserted i ON i.account_id = s.account_id AND i.id = s.id
ORDER BY s.position`

// rowColumns are the columns of sqldb.Arguments that insertRows has as arrays, by position.
var rowColumns = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19}

// InsertRows implements sqldb.Database.
func (d *database) InsertRows(ctx context.Context, run sqldb.Run, rows sqldb.Rows) error {
	values := make([][]any, len(rows.Results))
	for i, r := range rows.Results {
		var err error
		if values[i], err = arguments(rows.Account, r, sqldb.Nullable(r.IdempotencyKey)); err != nil {
			return err
		}
	}
	args := []any{rows.Account.UUID, rows.Results[0].CreatedAt}
	for _, at := range rowColumns {
		args = append(args, array{values, at})
	}
	args = append(args, rows.RetryOf, rows.Runs, rows.Numbers, array{values, len(values[0]) - 1})
	return run(ctx, sqldb.Statement{Text: insertRows, Args: args}, func(iter.Seq[*sqldb.Row]) error { return nil })
}

// Snapshot implements sqldb.Database. A transaction that waited for another one is refused then, and repeated.
func (d *database) Snapshot(ctx context.Context, run sqldb.Run) error {
	set := sqldb.Statement{Text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"}
	return run(ctx, set, func(iter.Seq[*sqldb.Row]) error { return nil })
}

// Size implements sqldb.Database.
func (d *database) Size(columns ...string) string {
	return "coalesce(octet_length(CAST(" + strings.Join(columns, " AS text)), 0) + coalesce(octet_length(CAST(") + " AS text)), 0)"
}

// EndAfter implements sqldb.Database. Postgres would send all rows, and the driver would read them. The size of a row counts for
// the second row behind it: a first row that is too large is followed by one that shows that there are more. A window without an
// order has the rows in the order of the statement.
func (d *database) EndAfter(text string, bytes int, wide ...string) string {
	if len(wide) == 0 {
		return text
	}
	var name string // of the operation, which sqlc's comment in front of the statement has
	if strings.HasPrefix(text, "--") {
		name, text, _ = strings.Cut(text, "\n")
	}
	return name + `
SELECT * FROM (
	SELECT q.*, sum(` + d.Size(wide...) + `) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
	FROM (` + text + `) q
) p WHERE bytes_before IS NULL OR bytes_before <= ` + strconv.Itoa(bytes)
}

// Locking implements sqldb.Database.
func (d *database) Locking(skip bool) string {
	if skip {
		return " FOR UPDATE SKIP LOCKED"
	}
	return " FOR UPDATE"
}

// Sharing implements sqldb.Database.
func (d *database) Sharing() string { return " FOR KEY SHARE OF r" }
