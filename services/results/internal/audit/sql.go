package audit

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// insertEntry looks up the name of the acting key or member, so that no other statement has to read it.
	insertEntry = `INSERT INTO audit (account_id, id, created_at, actor_kind, actor_id, actor_name, action,
	object_kind, object_id, object_name, detail)
VALUES ($1, $2, $3, $4, $5, coalesce((SELECT name FROM api_keys WHERE id = $5),
	(SELECT name FROM members WHERE account_id = $1 AND id = $5), $6), $7, $8, $9, $10, $11)`

	listAudit = `-- name: ListAudit :many
SELECT r.id, r.created_at, r.actor_kind, r.actor_id, r.actor_name, r.action, r.object_kind, r.object_id, r.object_name, r.detail
FROM audit r WHERE r.account_id = `
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// NoDetail is the detail of an entry that needs none. The details of entries (spec: audit-actions) hold no text of a definition, no value and
// no key
// (spec: audit-holds-no-values).
type (
	NoDetail struct{}
)

// Record adds an entry to the audit of an account, in the transaction of run.
func Record(
	ctx context.Context, run sqldb.Run, account prism.AccountID, by store.By, action store.Action, object store.Object, detail any,
) error {
	encoded, err := sqldb.Encode(detail)
	if err != nil {
		return err
	}
	var key *prism.UUID
	if !by.Actor.Key.IsZero() {
		key = &by.Actor.Key.UUID
	}
	return run(ctx, sqldb.Statement{Text: insertEntry, Args: []any{
		account.UUID, by.Entry, by.At, string(by.Actor.Kind), key, by.Actor.Name, string(action),
		string(object.Kind), object.ID, object.Name, encoded,
	}}, sqldb.NoRow)
}

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
