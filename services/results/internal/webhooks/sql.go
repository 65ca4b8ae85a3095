package webhooks

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

const (
	webhookColumns = `w.id, w.url, w.settings, w.enabled, w.disabled_reason, w.waiting, w.previous_until, w.created_at`
	ofAccount      = ` WHERE account_id = $1 AND id = $2 AND NOT deleted`

	countWebhooks = `-- name: CountWebhooks :one
SELECT count(*) FROM (SELECT 1 FROM webhooks WHERE account_id = $1 AND NOT deleted LIMIT $2) AS counted`
	insertWebhook = `INSERT INTO webhooks (account_id, id, url, settings, enabled, created_at, secret, change, other, last_id,
	deleted, disabled_reason, generation, waiting, healthy, aside_first, leftover)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $2, false, '', 1, 0, true, false, false)`
	listWebhooks = `-- name: ListWebhooks :many
SELECT ` + webhookColumns + ` FROM webhooks w WHERE w.account_id = $1 AND NOT w.deleted AND w.id < $2 ORDER BY w.id DESC LIMIT $3`
	selectWebhook = `-- name: Webhook :one
SELECT ` + webhookColumns + ` FROM webhooks w WHERE w.account_id = $1 AND w.id = $2 AND NOT w.deleted`

	// lockWebhook locks the row of a webhook until the transaction ends.
	lockWebhook    = `UPDATE webhooks SET url = url` + ofAccount + ` RETURNING url`
	replaceWebhook = `UPDATE webhooks SET url = $3, settings = $4` + ofAccount
	enableWebhook  = `UPDATE webhooks SET enabled = true, disabled_reason = '', change = $3, other = $4, healthy = true` + ofAccount
	// disableWebhook ends the lease, and has all that waits count as failed.
	disableWebhook = `UPDATE webhooks SET enabled = false, disabled_reason = $3, generation = generation + 1,
	leftover = leftover OR waiting > 0, waiting = 0, token = NULL, due_at = NULL` + ofAccount
	deleteWebhook = `UPDATE webhooks SET deleted = true, enabled = false, url = '', settings = $4, secret = $3, previous_secret = NULL,
	previous_until = NULL, leftover = true, waiting = 0, token = NULL, due_at = NULL` + ofAccount
	rotateWebhook = `UPDATE webhooks SET previous_secret = secret, previous_until = $4, secret = $3` + ofAccount

	selectSlugs = `-- name: SlugsOfWebhooks :many
SELECT id, slug FROM prisms WHERE account_id = $1 AND id IN (`
)

// webhookDetail is the detail of an entry. A URL may have a secret in its path, so it is not recorded.
type webhookDetail struct {
	Events  []api.EventType    `json:"events,omitzero"`
	Enabled *bool              `json:"enabled,omitzero"`
	Reason  api.DisabledReason `json:"reason,omitzero"`
}

// record adds an entry to the audit. The name of a webhook is the origin of its URL.
func record(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.WebhookID, address string, action store.Action, detail any, by store.By,
) error {
	name := ""
	if u, err := url.Parse(address); err == nil {
		name = u.Scheme + "://" + u.Host
	}
	return sqldb.Record(ctx, run, account, by, action, store.Object{Kind: store.WebhookObject, ID: id.UUID, Name: name}, detail)
}

// CreateWebhook implements Store.
func (s SQL) CreateWebhook(
	ctx context.Context, account prism.AccountID, w Webhook, secret []byte, behind events.Cursor, limit int64, by store.By,
) error {
	settings, err := sqldb.Encode(w.Settings)
	if err != nil {
		return err
	}
	return s.Transaction(ctx, "create_webhook", func(run sqldb.Run) error {
		if err := keys.Room(ctx, run, account, countWebhooks, limit, store.ErrTooManyWebhooks); err != nil {
			return err
		}
		args := []any{account.UUID, w.ID.UUID, w.URL, settings, w.Enabled, w.CreatedAt, secret, behind.Change, behind.Other}
		if err := run(ctx, sqldb.Statement{Text: insertWebhook, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		return record(ctx, run, account, w.ID, w.URL, store.WebhookCreate, webhookDetail{Events: w.Events, Enabled: &w.Enabled}, by)
	})
}

// ListWebhooks implements Store.
func (s SQL) ListWebhooks(ctx context.Context, account prism.AccountID, page store.Page) (listed []Webhook, more bool, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit) + 1}
	listed, more, err = sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_webhooks", listWebhooks, args...), page.Limit, readWebhook, "url", "settings")
	if err == nil {
		err = addSlugs(ctx, s.Run, account, listed)
	}
	return listed, more, err
}

// Webhook implements Store.
func (s SQL) Webhook(ctx context.Context, account prism.AccountID, id prism.WebhookID) (Webhook, error) {
	return webhook(ctx, s.Run, account, id)
}

func webhook(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.WebhookID) (Webhook, error) {
	single := make([]Webhook, 1)
	st := sqldb.Query("webhook", selectWebhook, account.UUID, id.UUID)
	err := run(ctx, st, sqldb.ReadRow(&single[0], readWebhook))
	if err == nil {
		err = addSlugs(ctx, run, account, single)
	}
	return single[0], err
}

// addSlugs looks up the slugs of the prisms of webhooks.
func addSlugs(ctx context.Context, run sqldb.Run, account prism.AccountID, webhooks []Webhook) error {
	var ids []prism.UUID
	for _, w := range webhooks {
		for _, id := range w.Prisms {
			ids = append(ids, id.UUID)
		}
	}
	slices.SortFunc(ids, sqldb.CompareIDs)
	type slug struct {
		prism prism.UUID
		text  string
	}
	find := sqldb.Query("slugs_of_webhooks", selectSlugs+sqldb.Parameters(2, sqldb.PartSize)+")", account.UUID)
	rows, err := sqldb.ReadParts(ctx, run, find, slices.Compact(ids), func(r *sqldb.Row) slug { return slug{r.UUID(), r.Text()} })
	slugs := make(map[prism.UUID]string, len(rows))
	for _, row := range rows {
		slugs[row.prism] = row.text
	}
	for i := range webhooks {
		w := &webhooks[i]
		w.Slugs = nil
		for _, id := range w.Prisms {
			w.Slugs = append(w.Slugs, slugs[id.UUID])
		}
	}
	return err
}

// change locks a webhook, and has fn change it in a transaction. It returns what is then stored.
func (s SQL) change(
	ctx context.Context, operation string, account prism.AccountID, id prism.WebhookID, fn func(run sqldb.Run, was Webhook) error,
) (changed Webhook, err error) {
	err = s.Transaction(ctx, operation, func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: lockWebhook, Args: []any{account.UUID, id.UUID}}, sqldb.SomeRow); err != nil {
			return err
		}
		was, err := webhook(ctx, run, account, id)
		if err == nil {
			err = fn(run, was)
		}
		if err == nil {
			changed, err = webhook(ctx, run, account, id)
		}
		return err
	})
	return changed, err
}

// ReplaceWebhook implements Store.
func (s SQL) ReplaceWebhook(
	ctx context.Context, account prism.AccountID, w Webhook, behind events.Cursor, by store.By,
) (Webhook, error) {
	settings, err := sqldb.Encode(w.Settings)
	if err != nil {
		return Webhook{}, err
	}
	id := []any{account.UUID, w.ID.UUID}
	return s.change(ctx, "replace_webhook", account, w.ID, func(run sqldb.Run, was Webhook) error {
		if w.URL == was.URL && w.Enabled == was.Enabled && reflect.DeepEqual(w.Settings, was.Settings) {
			return nil
		}
		err := run(ctx, sqldb.Statement{Text: replaceWebhook, Args: append(id[:2:2], w.URL, settings)}, sqldb.NoRow)
		switch {
		case err != nil:
		case w.Enabled && !was.Enabled:
			err = run(ctx, sqldb.Statement{Text: enableWebhook, Args: append(id[:2:2], behind.Change, behind.Other)}, sqldb.NoRow)
		case !w.Enabled && was.Enabled:
			err = run(ctx, sqldb.Statement{Text: disableWebhook, Args: append(id[:2:2], "")}, sqldb.NoRow)
		}
		if err != nil {
			return err
		}
		return record(ctx, run, account, w.ID, w.URL, store.WebhookReplace, webhookDetail{Events: w.Events, Enabled: &w.Enabled}, by)
	})
}

// disable disables a webhook for a reason that Prism has, in the transaction that has locked it.
func disable(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.WebhookID, address string, reason api.DisabledReason,
	by func() (store.By, error),
) error {
	who, err := by()
	if err != nil {
		return err
	}
	args := []any{account.UUID, id.UUID, string(reason)}
	if err := run(ctx, sqldb.Statement{Text: disableWebhook, Args: args}, sqldb.NoRow); err != nil {
		return err
	}
	return record(ctx, run, account, id, address, store.WebhookDisable, webhookDetail{Reason: reason}, who)
}

// DeleteWebhook implements Store. It forgets the URL and the secrets at once.
func (s SQL) DeleteWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, by store.By) error {
	return s.Transaction(ctx, "delete_webhook", func(run sqldb.Run) error {
		var address string
		key := []any{account.UUID, id.UUID}
		if err := run(ctx, sqldb.Statement{Text: lockWebhook, Args: key}, sqldb.ReadRow(&address, (*sqldb.Row).Text)); err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: deleteWebhook, Args: append(key, []byte{}, []byte(`{"events":[]}`))}, sqldb.NoRow); err != nil {
			return err
		}
		return record(ctx, run, account, id, address, store.WebhookDelete, sqldb.NoDetail{}, by)
	})
}

// RotateWebhook implements Store.
func (s SQL) RotateWebhook(
	ctx context.Context, account prism.AccountID, id prism.WebhookID, secret []byte, until time.Time, by store.By,
) (Webhook, error) {
	return s.change(ctx, "rotate_webhook", account, id, func(run sqldb.Run, was Webhook) error {
		args := []any{account.UUID, id.UUID, secret, until}
		if err := run(ctx, sqldb.Statement{Text: rotateWebhook, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		return record(ctx, run, account, id, was.URL, store.WebhookRotate, sqldb.NoDetail{}, by)
	})
}

func readWebhook(r *sqldb.Row) Webhook {
	return Webhook{
		ID: prism.WebhookID{UUID: r.UUID()}, URL: r.Text(), Settings: sqldb.Decode[Settings](r), Enabled: r.Bool(),
		DisabledReason: api.DisabledReason(r.Text()), Waiting: r.Int(), PreviousUntil: r.OptionalTime(), CreatedAt: r.Time(),
	}
}
