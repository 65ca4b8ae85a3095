package sqlstore

import (
	"context"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// takeReading takes a file of the account with the fewest files that are being read, and of these the one that waited longest.
	takeReading = `-- name: TakeReading :one
UPDATE files SET leased_until = $2, lease_token = $3, readings = readings + 1
WHERE (account_id, id) = (
	SELECT f.account_id, f.id FROM files f LEFT JOIN (
		SELECT r.account_id, count(*) AS files FROM files r
		WHERE r.status = 'reading' AND r.leased_until > $1 AND r.lease_token IS NOT NULL GROUP BY r.account_id
	) b ON b.account_id = f.account_id
	WHERE f.status = 'reading' AND f.leased_until <= $1 ORDER BY coalesce(b.files, 0), f.leased_until LIMIT 1
) AND status = 'reading' AND leased_until <= $1
RETURNING account_id, ` + fileColumns

	whereLeased = `
WHERE account_id = $1 AND id = $2 AND lease_token = $3 AND status = 'reading'`
	renewReading = `UPDATE files SET leased_until = $4` + whereLeased + `
RETURNING id`
	returnReading = `UPDATE files SET leased_until = $4, lease_token = NULL, readings = readings - 1` + whereLeased
	endReading    = `UPDATE files SET status = $4, error = $5, row_count = $6, chunks = $7, layout = $8, copy_id = $9,
	copy_bytes = $10, leased_until = NULL, lease_token = NULL` + whereLeased + `
RETURNING id`

	readingQueue = `-- name: ReadingQueue :one
SELECT count(*), min(completed_at) FROM files WHERE status = 'reading'`

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
	var text strings.Builder
	text.WriteString("INSERT INTO file_chunks (account_id, file_id, number, first_row, row_count, position, bytes, line) VALUES")
	for i := range n {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString("\n($1, $2, " + parameters(3+6*i, 6) + ")")
	}
	return text.String()
}

// TakeReading implements store.Files. If two workers take at the same time, the second one sees the lease of the first.
func (s Store) TakeReading(ctx context.Context, token prism.UUID, now, until time.Time) (l store.FileLease, err error) {
	err = s.Transaction(ctx, "take_reading", func(run Run) error {
		args := []any{now, until, token}
		err := run(ctx, Statement{Text: takeReading, Args: args}, one(&l, func(r *Row) store.FileLease {
			return store.FileLease{Account: prism.AccountID{UUID: r.UUID()}, File: r.file(), Token: token}
		}))
		if err != nil {
			return err
		}
		return run(ctx, Statement{Text: forgetChunks, Args: []any{l.Account.UUID, l.File.ID.UUID}}, nothing)
	})
	return l, err
}

// RenewReading implements store.Files.
func (s Store) RenewReading(ctx context.Context, l store.FileLease, until time.Time, chunks []store.FileChunk) error {
	return s.Transaction(ctx, "renew_reading", func(run Run) error {
		if err := run(ctx, Statement{Text: renewReading, Args: leased(l, until)}, someRow); err != nil {
			return err
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
			if err := run(ctx, Statement{Text: insertChunks(n), Args: args}, nothing); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
}

// leased returns the arguments of whereLeased, and more.
func leased(l store.FileLease, more ...any) []any {
	return append([]any{l.Account.UUID, l.File.ID.UUID, l.Token}, more...)
}

// ReturnReading implements store.Files.
func (s Store) ReturnReading(ctx context.Context, l store.FileLease, at time.Time) error {
	return s.Run(ctx, Statement{"return_reading", returnReading, leased(l, at), false}, nothing)
}

// EndReading implements store.Files.
func (s Store) EndReading(ctx context.Context, l store.FileLease, f store.File) error {
	return s.Transaction(ctx, "end_reading", func(run Run) error {
		var copied *prism.UUID
		if !f.Copy.ID.IsZero() {
			copied = &f.Copy.ID
		}
		args := leased(l, string(f.Status), f.Error, f.Rows, f.Chunks, f.Layout, copied, f.Copy.Bytes)
		if err := run(ctx, Statement{Text: endReading, Args: args}, someRow); err != nil || f.Status == store.FileReady {
			return err
		}
		return run(ctx, Statement{Text: forgetChunks, Args: args[:2]}, nothing)
	})
}

// ReadingQueue implements store.Files.
func (s Store) ReadingQueue(ctx context.Context) (files int64, since time.Time, err error) {
	err = s.Run(ctx, Statement{"reading_queue", readingQueue, nil, true}, one(&files, func(r *Row) int64 {
		files := r.Int()
		since = r.Time()
		return files
	}))
	return files, since, err
}

// FileChunk implements store.Files.
func (s Store) FileChunk(
	ctx context.Context, account prism.AccountID, id prism.FileID, number int32,
) (c store.FileChunk, err error) {
	args := []any{account.UUID, id.UUID, number}
	err = s.Run(ctx, Statement{"file_chunk", selectChunk, args, true}, one(&c, (*Row).fileChunk))
	return c, err
}

// FileChunkOf implements store.Files.
func (s Store) FileChunkOf(
	ctx context.Context, account prism.AccountID, id prism.FileID, row int64,
) (c store.FileChunk, err error) {
	args := []any{account.UUID, id.UUID, row}
	err = s.Run(ctx, Statement{"file_chunk_of", selectChunkOf, args, true}, one(&c, (*Row).fileChunk))
	return c, err
}

func (r *Row) fileChunk() store.FileChunk {
	return store.FileChunk{
		Number: r.Int32(), FirstRow: r.Int(), Rows: r.Int32(), Offset: r.Int(), Bytes: r.Int(), Line: r.Int(),
	}
}
