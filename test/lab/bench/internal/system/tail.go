package system

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5" //nolint:depguard // a session that holds a lock
)

// foldLock is the number of the lock of the process that adds up what results used (store/postgres/usage.go).
const foldLock = 8102654024067625077

// Held is a session that keeps every process from adding up what results used.
type Held struct{ conn *pgx.Conn }

// HoldFold takes the lock of the process that adds up, and stores rows to be added up: copies of what results used.
func HoldFold(ctx context.Context, url string, rows int) (*Held, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	h := &Held{conn}
	for _, statement := range []string{
		fmt.Sprintf("SELECT pg_advisory_lock(%d)", foldLock),
		fmt.Sprintf(`INSERT INTO tail (account_id, result_id, type, at, day, prism_id, status, key_id, model, input_tokens, output_tokens)
			SELECT account_id, id, 1, created_at, created_at::date - DATE '1970-01-01', prism_id, status, key_id, model, input_tokens, output_tokens
			FROM results ORDER BY id DESC LIMIT %d`, rows),
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
	}
	return h, nil
}

// Close ends the session and its lock.
func (h *Held) Close() { _ = h.conn.Close(context.Background()) } // nothing is kept
