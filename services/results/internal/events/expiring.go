package events

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// expiresWithin is how long before its end a key is told (spec: event-types).
	expiresWithin = 7 * 24 * time.Hour
	// expiringAtOnce bounds how many keys TellExpiring tells.
	expiringAtOnce = 100

	// expiringKeys finds keys whose end was not told, but those of sessions, which end within hours.
	expiringKeys = `-- name: ExpiringKeys :many
SELECT k.account_id, k.id, k.expires_at FROM api_keys k
LEFT JOIN expiring_keys x ON x.account_id = k.account_id AND x.key_id = k.id
WHERE k.expires_at > $1 AND k.expires_at <= $2 AND k.revoked_at IS NULL AND k.session_id IS NULL
	AND (x.expires_at IS NULL OR x.expires_at <> k.expires_at) AND k.account_id` + sqldb.StaysHere + `
ORDER BY k.expires_at LIMIT $3`
	// noteExpiring returns a row unless another process has told the end.
	noteExpiring = `INSERT INTO expiring_keys AS x (account_id, key_id, expires_at) VALUES ($1, $2, $3)
ON CONFLICT (account_id, key_id) DO UPDATE SET expires_at = excluded.expires_at WHERE x.expires_at <> excluded.expires_at
RETURNING key_id`
	forgetExpired = `DELETE FROM expiring_keys WHERE expires_at <= $1 AND account_id` + sqldb.StaysHere
)

// expiringKey is a key that ends soon.
type expiringKey struct {
	account prism.AccountID
	key     prism.KeyID
	ends    time.Time
}

// TellExpiring implements Store.
func (s SQL) TellExpiring(ctx context.Context, now time.Time) (more bool, err error) {
	var expiring []expiringKey
	st := sqldb.Query("expiring_keys", expiringKeys, now, now.Add(expiresWithin), int64(expiringAtOnce))
	err = s.Run(ctx, st, sqldb.ReadRows(&expiring, func(r *sqldb.Row) expiringKey {
		return expiringKey{prism.AccountID{UUID: r.UUID()}, prism.KeyID{UUID: r.UUID()}, r.Time()}
	}))
	if err != nil {
		return false, err
	}
	for _, k := range expiring {
		err := s.Transaction(ctx, "tell_expiring", func(run sqldb.Run) error {
			noted := 0
			note := sqldb.Statement{Text: noteExpiring, Args: []any{k.account.UUID, k.key.UUID, k.ends}}
			if err := run(ctx, note, sqldb.CountRows(&noted)); err != nil || noted == 0 {
				return err
			}
			expiring := store.NewEvent{Type: api.KeyExpiring, At: now, Subject: k.key.UUID, Detail: store.EventDetail{ExpiresAt: k.ends}}
			return sqldb.Tell(ctx, run, k.account, expiring)
		})
		if err != nil {
			return false, err
		}
	}
	return len(expiring) == expiringAtOnce, s.Run(ctx, sqldb.Change("forget_expired", forgetExpired, now), sqldb.NoRow)
}
