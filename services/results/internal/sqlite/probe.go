package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
)

// The probe writes a result of 64 KiB, of no prism, and deletes it in the same transaction.
const (
	deferForeignKeys = `PRAGMA defer_foreign_keys = ON`
	insertProbe      = `
INSERT INTO results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at)
VALUES (x'00', x'01', x'02', 1, '', zeroblob(65536), 'failed', 'probe', 0, 0)`
	deleteProbe = `DELETE FROM results WHERE account_id = x'00' AND id = x'01'`
)

// ProbeWrite implements sqldb.Database.
func (d *database) ProbeWrite(ctx context.Context) error {
	if err := d.findRoom(ctx); err != nil {
		return err
	}
	return d.write(ctx, fair.Preferred, "probe write", func(conn *sqlite.Conn) error {
		for _, statement := range []string{deferForeignKeys, insertProbe, deleteProbe} {
			if err := execute(conn, statement); err != nil {
				return err
			}
		}
		return nil
	})
}
