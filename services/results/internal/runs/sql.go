package runs

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

const (
	// lockReadyFile keeps a file from being deleted until the transaction ends.
	lockReadyFile = `SELECT row_count, chunks FROM files WHERE account_id = $1 AND id = $2 AND status = 'ready'`
	fileExists    = `SELECT 1 FROM files WHERE account_id = $1 AND id = $2 AND status <> 'deleted'`

	countRunsNotOver = `-- name: CountRunsNotOver :one
SELECT count(*) FROM (SELECT 1 FROM runs WHERE account_id = $1 AND status NOT IN ('finished', 'cancelled') LIMIT $2) AS not_over`

	insertRun = `INSERT INTO runs (account_id, id, prism_id, version, file_id, name, mapping, status, reason, key_id, idempotency_key,
	pause_at, rows_per_second, concurrency, row_count, chunks, attempt, created_at, leased_at, watched_from)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'queued', '', $8, $9, $10, $11, $12, $13, $14, 1, $15, $15, $15)
ON CONFLICT DO NOTHING
RETURNING id`

	// insertRunChunks takes the letters of each chunk from $4, which has at least as many as a chunk has rows.
	insertRunChunks = `INSERT INTO run_chunks (account_id, run_id, number, first_row, row_count, attempt, states, pending,
	ok, failed, invalid, cancelled, outcomes, granted, input_tokens, output_tokens, cost, cost_rest, currency)
SELECT f.account_id, $3, f.number, f.first_row, f.row_count, 1, substr($4, 1, f.row_count), f.row_count,
	0, 0, 0, 0, '', 0, 0, 0, 0, 0, ''
FROM file_chunks f WHERE f.account_id = $1 AND f.file_id = $2`

	runColumns = `r.id, r.prism_id, p.slug, r.version, r.file_id, r.name, r.mapping, r.status, r.reason, r.key_id, r.idempotency_key,
	r.pause_at, r.rows_per_second, r.concurrency, r.row_count, r.chunks, r.created_at, r.started_at, r.finished_at`

	selectBareRun = `SELECT ` + runColumns + `
FROM runs r JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE r.account_id = $1 AND r.id = $2`

	// selectRuns and countRuns are the statement before and after the conditions on the runs r of an account, $1.
	selectRuns = `-- name: Runs :many
WITH page AS (SELECT r.id, r.folded FROM runs r WHERE r.account_id = `
	countRuns = `)
SELECT ` + runColumns + `, r.ok + coalesce(s.ok, 0), r.failed + coalesce(s.failed, 0), r.invalid + coalesce(s.invalid, 0),
	r.cancelled + coalesce(s.cancelled, 0), r.input_tokens + coalesce(s.input_tokens, 0),
	r.output_tokens + coalesce(s.output_tokens, 0), r.cost + coalesce(s.cost, 0), r.cost_rest + coalesce(s.cost_rest, 0),
	` + joinedCurrency + `, r.labels + coalesce(s.labels, 0), r.invalid_labels + coalesce(s.invalid_labels, 0)
FROM page
JOIN runs r ON r.account_id = $1 AND r.id = page.id
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
LEFT JOIN (
	SELECT c.run_id, ` + sumOfChunks + `
	FROM page JOIN run_chunks c ON c.account_id = $1 AND c.run_id = page.id AND c.number >= page.folded
		AND (c.pending < c.row_count OR c.saved_at IS NOT NULL)
	GROUP BY c.run_id
) s ON s.run_id = r.id
ORDER BY r.id DESC`

	// sumOfChunks are the sums of the chunks c, and joinedCurrency the currency of such sums s and those of the run r.
	sumOfChunks = `sum(c.ok) AS ok, sum(c.failed) AS failed, sum(c.invalid) AS invalid, sum(c.cancelled) AS cancelled,
		CAST(sum(c.input_tokens) AS bigint) AS input_tokens, CAST(sum(c.output_tokens) AS bigint) AS output_tokens,
		CAST(sum(c.cost) AS bigint) AS cost, CAST(sum(c.cost_rest) AS bigint) AS cost_rest,
		CAST(sum(c.labels) AS bigint) AS labels, CAST(sum(c.invalid_labels) AS bigint) AS invalid_labels,
		min(nullif(c.currency, '')) AS first_currency, max(nullif(c.currency, '')) AS last_currency`
	joinedCurrency = `CASE WHEN s.first_currency IS NULL THEN r.currency
		WHEN s.first_currency <> s.last_currency OR r.currency NOT IN ('', s.first_currency) THEN '*' ELSE s.first_currency END`

	selectRunChunks = `-- name: RunChunks :many
SELECT number, first_row, attempt, states, messages FROM run_chunks
WHERE account_id = $1 AND run_id = $2 AND number >= $3
ORDER BY number LIMIT $4`

	runResults = `-- name: RunResults :many
SELECT r.run_row, r.prism_id, ` + sqldb.Fixed + `
FROM results r
WHERE r.account_id = $1 AND r.run_id = $2 AND r.run_row >= $3 AND r.retried_by IS NULL
ORDER BY r.run_row LIMIT $4`

	savedSince = `-- name: SavedSince :many
SELECT number, outcomes FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND saved_at > $3 ORDER BY saved_at DESC`

	queueOfRuns = `-- name: QueueOfRuns :one
SELECT coalesce(sum(q.served), 0), CAST(coalesce(sum(q.pending), 0) AS bigint), min(q.waiting_since),
	CAST(coalesce(sum(q.leases), 0) AS bigint)
FROM (
	SELECT u.served, u.leases, CASE WHEN u.served = 1 THEN (
		SELECT sum(c.pending) FROM run_chunks c WHERE c.account_id = u.account_id AND c.run_id = u.id AND c.pending > 0
	) END AS pending, CASE WHEN u.served = 1 AND NOT EXISTS (
		SELECT 1 FROM run_chunks c WHERE c.account_id = u.account_id AND c.run_id = u.id AND c.token IS NOT NULL
	) THEN u.leased_at END AS waiting_since
	FROM (
		SELECT r.account_id, r.id, r.leased_at, CASE WHEN r.status IN ('queued', 'running') THEN 1 ELSE 0 END AS served, (
			SELECT count(*) FROM run_chunks c
			WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.token IS NOT NULL AND c.leased_until > $1
		) AS leases
		FROM runs r WHERE r.status IN ('queued', 'running', 'pausing', 'cancelling') AND r.account_id` + sqldb.StaysHere + `
	) u
	UNION ALL
	SELECT 1, (
		SELECT count(*) FROM retry_chunks c
		WHERE c.account_id = t.account_id AND c.retry_id = t.id AND c.token IS NOT NULL AND c.leased_until > $1
	), (SELECT sum(c.pending) FROM retry_chunks c WHERE c.account_id = t.account_id AND c.retry_id = t.id), CASE WHEN NOT EXISTS (
		SELECT 1 FROM retry_chunks c WHERE c.account_id = t.account_id AND c.retry_id = t.id AND c.token IS NOT NULL
	) THEN t.leased_at END
	FROM retries t WHERE t.account_id` + sqldb.StaysHere + `
) q`
)

type runDetail struct {
	Version int32 `json:"version"`
	Rows    int64 `json:"rows"`
}

// CreateRun implements Store.
func (s SQL) CreateRun(ctx context.Context, account prism.AccountID, r Run, by store.By) (created Run, err error) {
	err = s.Transaction(ctx, "create_run", func(run sqldb.Run) error {
		created = r
		if err := roomForRun(ctx, run, account); err != nil {
			return err
		}
		err := run(ctx, sqldb.Statement{Text: lockReadyFile + s.Locking(false), Args: []any{account.UUID, r.File.UUID}},
			sqldb.ReadRow(&created, func(row *sqldb.Row) Run {
				created.Rows, created.Chunks = row.Int(), row.Int32()
				return created
			}))
		if errors.Is(err, store.ErrNotFound) {
			err = run(ctx, sqldb.Statement{Text: fileExists, Args: []any{account.UUID, r.File.UUID}}, sqldb.SomeRow)
			if err == nil {
				err = store.ErrFileState
			}
		}
		if err != nil {
			return err
		}
		created.Status, created.CreatedAt = prism.RunQueued, by.At
		err = run(ctx, sqldb.Statement{Text: insertRun, Args: []any{
			account.UUID, r.ID.UUID, r.Prism.UUID, r.Version, r.File.UUID, r.Name, r.Mapping, r.Key.UUID, sqldb.Nullable(r.IdempotencyKey),
			r.PauseAt, r.RowsPerSecond, r.Concurrency, created.Rows, created.Chunks, by.At,
		}}, sqldb.SomeRow)
		if errors.Is(err, store.ErrNotFound) { // the key is another run's, or this run was stored before
			created.ID = prism.RunID{}
			return nil
		}
		if err != nil {
			return err
		}
		pending := strings.Repeat(string(RowPendingState), contract.ChunkRows)
		args := []any{account.UUID, r.File.UUID, r.ID.UUID, pending}
		if err := run(ctx, sqldb.Statement{Text: insertRunChunks, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		return recordRun(ctx, run, account, by, store.RunCreate, created, runDetail{r.Version, created.Rows})
	})
	if err == nil && created.ID.IsZero() {
		if created, err = s.ReadRun(ctx, account, r.ID); errors.Is(err, store.ErrNotFound) {
			return s.RunOfKey(ctx, account, r.IdempotencyKey)
		}
	}
	return created, err
}

// roomForRun returns store.ErrTooManyRuns if the account may have no further run. The lock of the account makes concurrent calls count
// one after the other.
func roomForRun(ctx context.Context, run sqldb.Run, account prism.AccountID) error {
	return keys.Room(ctx, run, account, countRunsNotOver, MaxRuns, store.ErrTooManyRuns)
}

// recordRun records what was done to a run.
func recordRun(
	ctx context.Context, run sqldb.Run, account prism.AccountID, by store.By, action store.Action, r Run, detail any,
) error {
	return sqldb.Record(ctx, run, account, by, action, store.Object{Kind: store.RunObject, ID: r.ID.UUID, Name: r.Name}, detail)
}

// ReadRun implements Store.
func (s SQL) ReadRun(ctx context.Context, account prism.AccountID, id prism.RunID) (Run, error) {
	return s.findRun(ctx, "read_run", account, func(l *sqldb.List) { l.Add(" AND r.id = ", id.UUID) })
}

// RunOfKey implements Store. The call may be the repeat of one that has created the run and whose response was lost: the run
// must be as durable as that response promised.
func (s SQL) RunOfKey(ctx context.Context, account prism.AccountID, key string) (Run, error) {
	r, err := s.findRun(ctx, "run_of_key", account, func(l *sqldb.List) { l.Add(" AND r.idempotency_key = ", key) })
	if err == nil {
		err = s.ConfirmAll(ctx, account)
	}
	return r, err
}

func (s SQL) findRun(
	ctx context.Context, operation string, account prism.AccountID, where func(*sqldb.List),
) (r Run, err error) {
	err = s.Run(ctx, runsOf(operation, account, where), sqldb.ReadRow(&r, readCountedRun))
	return r, err
}

// ListRuns implements Store.
func (s SQL) ListRuns(
	ctx context.Context, account prism.AccountID, f Filter, page store.Page,
) (runs []Run, more bool, err error) {
	statement := runsOf("list_runs", account, func(l *sqldb.List) {
		if !f.Prism.IsZero() {
			l.Add(" AND r.prism_id = ", f.Prism.UUID)
		}
		if f.Status != "" {
			l.Add(" AND r.status = ", string(f.Status))
		}
		l.Newest(page)
	})
	return sqldb.ReadPage(ctx, s.Database, statement, page.Limit, readCountedRun, "mapping")
}

// runsOf finds the runs of an account that match what where adds, with their counts.
func runsOf(operation string, account prism.AccountID, where func(*sqldb.List)) sqldb.Statement {
	l := sqldb.NewList(operation)
	l.Add(selectRuns, account.UUID)
	where(&l)
	l.Write(countRuns)
	return l.Complete()
}

// readCountedRun reads runColumns and the counts behind them.
func readCountedRun(r *sqldb.Row) Run {
	run := readRun(r)
	run.OK, run.Failed, run.Invalid, run.Cancelled = r.Int(), r.Int(), r.Int(), r.Int()
	u := &run.Usage
	u.InputTokens, u.OutputTokens, u.Cost = r.Int(), r.Int(), prism.Cost{Whole: r.Int(), Rest: r.Int()}
	u.Currency = r.Text()
	run.Labels, run.InvalidLabels = r.Int(), r.Int()
	return run
}

// readRun reads runColumns.
func readRun(r *sqldb.Row) Run {
	run := Run{
		ID: prism.RunID{UUID: r.UUID()}, Prism: prism.PrismID{UUID: r.UUID()}, Slug: r.Text(), Version: r.Int32(),
		File: prism.FileID{UUID: r.UUID()}, Name: r.Text(), Mapping: r.Bytes(), Status: prism.RunStatus(r.Text()),
		Reason: r.Text(), Key: prism.KeyID{UUID: r.UUID()}, IdempotencyKey: r.Text(), PauseAt: r.Float(),
	}
	run.RowsPerSecond, run.Concurrency = r.Float(), r.Int32()
	run.Rows, run.Chunks, run.CreatedAt = r.Int(), r.Int32(), r.Time()
	run.StartedAt, run.FinishedAt = r.OptionalTime(), r.OptionalTime()
	return run
}

// RunChunks implements Store.
func (s SQL) RunChunks(
	ctx context.Context, account prism.AccountID, id prism.RunID, from int32, limit int,
) (chunks []Chunk, err error) {
	args := []any{account.UUID, id.UUID, from, int64(limit)}
	err = s.Run(ctx, sqldb.Query("run_chunks", selectRunChunks, args...), sqldb.ReadPiece(&chunks, func(r *sqldb.Row) Chunk {
		c := Chunk{Number: r.Int32(), FirstRow: r.Int(), Attempt: r.Int32(), States: shown(r.Text())}
		c.Invalid = sqldb.Decode[map[int64]string](r)
		return c
	}))
	return chunks, err
}

// shown replaces the states that only this package distinguishes.
func shown(states string) []byte {
	return []byte(strings.ReplaceAll(states, string(pendingLater), string(RowPendingState)))
}

// RunResults implements Store.
func (s SQL) RunResults(
	ctx context.Context, account prism.AccountID, id prism.RunID, first int64, limit int,
) (results []RowResult, err error) {
	args := []any{account.UUID, id.UUID, first, int64(limit)}
	err = s.Run(ctx, sqldb.Query("run_results", runResults, args...), sqldb.ReadPiece(&results, func(r *sqldb.Row) RowResult {
		row := r.Int()
		return RowResult{Row: row, Result: r.Result(prism.PrismID{UUID: r.UUID()}, store.WithoutInput)}
	}))
	return results, err
}

// RowsSince implements Store.
func (s SQL) RowsSince(
	ctx context.Context, account prism.AccountID, id prism.RunID, since time.Time,
) (rows int64, err error) {
	args := []any{account.UUID, id.UUID, since}
	err = s.Run(ctx, sqldb.Query("rows_since", savedSince, args...), func(found iter.Seq[*sqldb.Row]) error {
		rows = 0
		for r := range found {
			for _, b := range readBatches(r, since) {
				rows += int64(len(b.letters))
			}
		}
		return nil
	})
	return rows, err
}

// QueueOfRuns implements Store.
func (s SQL) QueueOfRuns(ctx context.Context, now time.Time) (q Queue, err error) {
	err = s.Run(ctx, sqldb.Query("queue_of_runs", queueOfRuns, now), sqldb.ReadRow(&q, func(r *sqldb.Row) Queue {
		return Queue{Runs: r.Int(), PendingRows: r.Int(), OldestSince: r.Time(), Leases: r.Int()}
	}))
	return q, err
}
