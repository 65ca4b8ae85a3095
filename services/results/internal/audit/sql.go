package audit

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const listAudit = `-- name: ListAudit :many
SELECT r.id, r.created_at, r.actor_kind, r.actor_id, r.actor_name, r.action, r.object_kind, r.object_id, r.object_name, r.detail
FROM audit r WHERE r.account_id = `

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// ListAudit implements Store.
func (s SQL) ListAudit(
	ctx context.Context, account prism.AccountID, f Filter, page store.Page,
) (entries []Entry, more bool, err error) {
	l := sqldb.NewList("list_audit")
	l.Add(listAudit, account.UUID)
	if f.Key != nil {
		l.Add(" AND r.actor_id = ", f.Key.UUID)
	}
	if f.Kind != "" {
		l.Add(" AND r.actor_kind = ", string(f.Kind))
	}
	l.CreatedBetween(f.From, f.To)
	l.Newest(page)
	return sqldb.ReadPage(ctx, s.Database, l.Complete(), page.Limit, readEntry)
}

func readEntry(r *sqldb.Row) Entry {
	return Entry{
		ID: r.UUID(), At: r.Time(),
		Actor:  store.Actor{Kind: store.ActorKind(r.Text()), Key: prism.KeyID{UUID: r.UUID()}, Name: r.Text()},
		Action: store.Action(r.Text()),
		Object: store.Object{Kind: store.ObjectKind(r.Text()), ID: r.UUID(), Name: r.Text()},
		Detail: r.Bytes(),
	}
}
