package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/fair"
)

// probeWrite writes a result of 64 KiB, more than the free space of a page, and takes it back. The commit still waits for
// the disk and the synchronous standby, because the transaction has an id.
const probeWrite = `BEGIN;
SAVEPOINT probe;
INSERT INTO results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at)
SELECT id AS account_id, id, id AS prism_id, 1, content, '[]', 'failed', 'probe', 0, now()
FROM (SELECT md5(random()::text)::uuid AS id) i,
	(SELECT string_agg(md5(random()::text), '') AS content FROM generate_series(1, 2048)) c;
ROLLBACK TO probe;
COMMIT`

// Full implements sqldb.Database. Postgres reserves nothing: what its full disk still does is for its operator.
func (d *database) Full() bool { return false }

// ProbeWrite implements sqldb.Database. Unlike a save it is cancelled when ctx ends, as nothing of it stays.
func (d *database) ProbeWrite(ctx context.Context) error {
	return d.read(ctx, fair.Preferred, "probe write", func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Conn().PgConn().Exec(ctx, probeWrite).ReadAll()
		return err
	})
}
