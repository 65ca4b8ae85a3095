package sqldb

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// What changes write beside what they change.
const (
	// insertEntry looks up the name of the acting key or member, so that no other statement has to read it.
	insertEntry = `INSERT INTO audit (account_id, id, created_at, actor_kind, actor_id, actor_name, action,
	object_kind, object_id, object_name, detail)
SELECT $1, $2, $3, $4, $5, coalesce((SELECT name FROM api_keys WHERE id = $5),
	(SELECT name FROM members WHERE account_id = $1 AND id = $5), $6), $7, $8, $9, $10, $11`

	tellEvent = `INSERT INTO event_tail (account_id, at, type, prism_id, subject_id, detail) VALUES ($1, $2, $3, $4, $5, $6)`
)

// NoDetail is the detail of an entry of the audit that needs none. The details of entries (spec: audit-actions) hold no text of a definition,
// no value and no key (spec: audit-holds-no-values).
type NoDetail struct{}

// Record adds an entry to the audit of an account, in the transaction of run.
func Record(
	ctx context.Context, run Run, account prism.AccountID, by store.By, action store.Action, object store.Object, detail any,
) error {
	encoded, err := Encode(detail)
	if err != nil {
		return err
	}
	return run(ctx, Statement{Text: insertEntry, Args: []any{
		account.UUID, by.Entry, by.At, string(by.Actor.Kind), optional(by.Actor.Key.UUID), by.Actor.Name, string(action),
		string(object.Kind), object.ID, object.Name, encoded,
	}}, NoRow)
}

// Tell tells of an event in the transaction of run, which makes it happen. Changes of results are events that are not told by it.
func Tell(ctx context.Context, run Run, account prism.AccountID, e store.NewEvent) error {
	detail, err := Encode(e.Detail)
	if err != nil {
		return err
	}
	return run(ctx, Statement{Text: tellEvent, Args: []any{
		account.UUID, e.At, string(e.Type), optional(e.Prism.UUID), optional(e.Subject), detail,
	}}, NoRow)
}

// optional is nil for the zero id.
func optional(id prism.UUID) *prism.UUID {
	if id.IsZero() {
		return nil
	}
	return &id
}
