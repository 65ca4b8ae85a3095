package sqldb

import (
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// What the statements have in common that find the caller with an API key k, unless that is unknown or revoked.
const (
	// CallerColumns are the columns which Row.Caller reads. The id of a session's key is that of its member.
	CallerColumns = `k.account_id, coalesce(k.member_id, k.id), k.role, k.expires_at`
	// WhereKey finds the key by its digest, $1.
	WhereKey = `
WHERE k.digest = $1 AND k.revoked_at IS NULL`
)

// Caller reads the CallerColumns.
func (r *Row) Caller() store.Caller {
	return store.Caller{
		Account: prism.AccountID{UUID: r.UUID()}, Key: prism.KeyID{UUID: r.UUID()}, Role: prism.Role(r.Text()),
		ExpiresAt: r.OptionalTime(),
	}
}
