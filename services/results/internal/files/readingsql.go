package files

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// Whoever reads the file loses the lease.
	readAgain = `UPDATE files SET status = 'reading', layout = $4, error = '', row_count = 0, chunks = 0, copy_id = NULL, copy_bytes = 0,
	completed_at = $3, leased_until = $3, lease_token = NULL, readings = 0
WHERE account_id = $1 AND id = $2 AND status IN ('reading', 'ready', 'unusable')
RETURNING id`
	fileHasRun = `SELECT EXISTS (SELECT 1 FROM runs WHERE account_id = $1 AND file_id = $2)`

	takeReading = `-- name: TakeReading :one
UPDATE files SET leased_until = $4, lease_token = $5, readings = readings + 1
WHERE account_id = $1 AND id = $2 AND status = 'reading' AND leased_until <= $3
RETURNING ` + fileColumns

	whereLeased = `
WHERE account_id = $1 AND id = $2 AND lease_token = $3 AND status = 'reading'`
	renewReading = `UPDATE files SET leased_until = $4` + whereLeased + `
RETURNING id`
	returnReading = `UPDATE files SET leased_until = $4, lease_token = NULL, readings = readings - 1` + whereLeased
	endReading    = `UPDATE files SET status = $4, error = $5, row_count = $6, chunks = $7, layout = $8, copy_id = $9,
	copy_bytes = $10, leased_until = NULL, lease_token = NULL` + whereLeased + `
RETURNING id`

	// readingQueue finds the file of each account that waits longest, and counts all of them.
	readingQueue = `-- name: ReadingQueue :many
SELECT account_id, files, leased, since, CASE WHEN due = 1 THEN id END
FROM (
	SELECT account_id, id, due, count(*) OVER a AS files, sum(leased) OVER a AS leased, min(completed_at) OVER a AS since,
		row_number() OVER (PARTITION BY account_id ORDER BY due DESC, leased_until, id) AS place
	FROM (
		SELECT account_id, id, completed_at, leased_until, CASE WHEN leased_until <= $1 THEN 1 ELSE 0 END AS due,
			CASE WHEN leased_until > $1 AND lease_token IS NOT NULL THEN 1 ELSE 0 END AS leased
		FROM files WHERE status = 'reading' AND account_id` + sqldb.StaysHere + `
	) f
	WINDOW a AS (PARTITION BY account_id)
) q
WHERE place = 1`

	forgetChunks = `DELETE FROM file_chunks WHERE account_id = $1 AND file_id = $2`

	chunkColumns = `c.number, c.first_row, c.row_count, c.position, c.bytes, c.line`
	chunksOf     = `
SELECT ` + chunkColumns + ` FROM file_chunks c
JOIN files f ON f.account_id = c.account_id AND f.id = c.file_id AND f.status = 'ready'
WHERE c.account_id = $1 AND c.file_id = $2 AND `
	selectChunk = `-- name: FileChunk :one` + chunksOf + `c.number = $3`
	// Most chunks have contract.ChunkRows rows, and none has more. So the search begins at the right chunk or shortly before it,
	// and needs no index by row.
	selectChunkOf = `-- name: FileChunkOf :one` + chunksOf + `c.number >= ($3 - 1) / 200 AND c.first_row + c.row_count > $3
ORDER BY c.number LIMIT 1`
)

// chunkBlock is how many chunks one statement inserts, to save round trips.
const chunkBlock = 50

// insertChunks inserts n chunks.
func insertChunks(n int) string {
	return "INSERT INTO file_chunks (account_id, file_id, number, first_row, row_count, position, bytes, line) VALUES" +
		sqldb.Tuples(n, "$1, $2, ", 3, 6)
}

// ReadAgain implements Store.
func (s SQL) ReadAgain(ctx context.Context, account prism.AccountID, id prism.FileID, layout []byte, at time.Time) error {
	return s.Transaction(ctx, "read_again", func(run sqldb.Run) error {
		set := 0
		args := []any{account.UUID, id.UUID}
		err := run(ctx, sqldb.Statement{Text: readAgain, Args: append(args[:2:2], at, layout)}, sqldb.CountRows(&set))
		if err != nil {
			return err
		}
		// The row is locked now: a run that is created at the same time is either visible here, or will find the file in another state.
		var used bool
		if err := run(ctx, sqldb.Statement{Text: fileHasRun, Args: args}, sqldb.ReadRow(&used, (*sqldb.Row).Bool)); err != nil {
			return err
		}
		if used {
			return store.ErrFileUsed
		}
		if set > 0 {
			return nil
		}
		if err := run(ctx, sqldb.Statement{Text: selectFile, Args: args}, sqldb.SomeRow); err != nil {
			return err
		}
		return store.ErrFileState
	})
}

// TakeReading implements Store. If two workers take at the same time, the second one sees the lease of the first.
func (s SQL) TakeReading(
	ctx context.Context, f store.FileOwner, token prism.UUID, now, until time.Time,
) (l Lease, err error) {
	err = s.Transaction(ctx, "take_reading", func(run sqldb.Run) error {
		l = Lease{Account: f.Account, Token: token}
		args := []any{f.Account.UUID, f.ID.UUID}
		take := sqldb.Statement{Text: takeReading, Args: append(args[:2:2], now, until, token)}
		if err := run(ctx, take, sqldb.ReadRow(&l.File, readFile)); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: forgetChunks, Args: args}, sqldb.NoRow)
	})
	return l, err
}

// RenewReading implements Store.
func (s SQL) RenewReading(ctx context.Context, l Lease, until time.Time, chunks []store.FileChunk) error {
	return s.Transaction(ctx, "renew_reading", func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: renewReading, Args: leased(l, until)}, sqldb.SomeRow); err != nil {
			return err
		}
		if len(chunks) > 0 && chunks[0].Number == 0 {
			forget := sqldb.Statement{Text: forgetChunks, Args: []any{l.Account.UUID, l.File.ID.UUID}}
			if err := run(ctx, forget, sqldb.NoRow); err != nil {
				return err
			}
		}
		for rest := chunks; len(rest) > 0; {
			n := chunkBlock
			if len(rest) < n {
				n = 1
			}
			args := []any{l.Account.UUID, l.File.ID.UUID}
			for _, c := range rest[:n] {
				args = append(args, c.Number, c.FirstRow, c.Rows, c.Offset, c.Bytes, c.Line)
			}
			if err := run(ctx, sqldb.Statement{Text: insertChunks(n), Args: args}, sqldb.NoRow); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
}

// leased returns the arguments of whereLeased, and more.
func leased(l Lease, more ...any) []any {
	return append([]any{l.Account.UUID, l.File.ID.UUID, l.Token}, more...)
}

// ReturnReading implements Store.
func (s SQL) ReturnReading(ctx context.Context, l Lease, at time.Time) error {
	return s.Run(ctx, sqldb.Change("return_reading", returnReading, leased(l, at)...), sqldb.NoRow)
}

// EndReading implements Store.
func (s SQL) EndReading(ctx context.Context, l Lease, f File) error {
	return s.Transaction(ctx, "end_reading", func(run sqldb.Run) error {
		var copied *prism.UUID
		if !f.Copy.ID.IsZero() {
			copied = &f.Copy.ID
		}
		args := leased(l, string(f.Status), f.Error, f.Rows, f.Chunks, f.Layout, copied, f.Copy.Bytes)
		if err := run(ctx, sqldb.Statement{Text: endReading, Args: args}, sqldb.SomeRow); err != nil || f.Status == prism.FileReady {
			return err
		}
		return run(ctx, sqldb.Statement{Text: forgetChunks, Args: args[:2]}, sqldb.NoRow)
	})
}

// ReadingQueue implements Store.
func (s SQL) ReadingQueue(ctx context.Context, now time.Time) (queue []ReadingQueue, err error) {
	err = s.Run(ctx, sqldb.Query("reading_queue", readingQueue, now), sqldb.ReadRows(&queue, func(r *sqldb.Row) ReadingQueue {
		return ReadingQueue{
			Account: prism.AccountID{UUID: r.UUID()}, Files: r.Int(), Leased: r.Int(), Since: r.Time(), Next: prism.FileID{UUID: r.UUID()},
		}
	}))
	return queue, err
}

// FileChunk implements Store.
func (s SQL) FileChunk(
	ctx context.Context, account prism.AccountID, id prism.FileID, number int32,
) (c store.FileChunk, err error) {
	args := []any{account.UUID, id.UUID, number}
	err = s.Run(ctx, sqldb.Query("file_chunk", selectChunk, args...), sqldb.ReadRow(&c, readFileChunk))
	return c, err
}

// FileChunkOf implements Store.
func (s SQL) FileChunkOf(
	ctx context.Context, account prism.AccountID, id prism.FileID, row int64,
) (c store.FileChunk, err error) {
	args := []any{account.UUID, id.UUID, row}
	err = s.Run(ctx, sqldb.Query("file_chunk_of", selectChunkOf, args...), sqldb.ReadRow(&c, readFileChunk))
	return c, err
}

func readFileChunk(r *sqldb.Row) store.FileChunk {
	return store.FileChunk{
		Number: r.Int32(), FirstRow: r.Int(), Rows: r.Int32(), Offset: r.Int(), Bytes: r.Int(), Line: r.Int(),
	}
}
