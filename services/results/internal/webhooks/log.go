package webhooks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// The states of a delivery that is not waiting.
	delivered = 0
	failed    = -1

	selectGeneration = `-- name: GenerationOfWebhook :one
SELECT generation, leftover FROM webhooks` + ofAccount
	ofWebhook      = ` FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND id < $3`
	newest         = ` ORDER BY id DESC LIMIT $4`
	listDeliveries = `-- name: ListDeliveries :many
SELECT ` + deliveryColumns + ofWebhook + newest
	// The lists of a state have it as a range, for the reason that selectTurn has.
	newestOfState = ` ORDER BY state DESC, id DESC LIMIT $4`
	listInState   = `-- name: ListDeliveriesInState :many
SELECT ` + deliveryColumns + ofWebhook + ` AND state >= $5 AND state <= $5` + newestOfState
	// listFailed finds those that have failed, and those that waited when the webhook was disabled.
	listFailed = `-- name: ListFailedDeliveries :many
SELECT ` + deliveryColumns + ` FROM (
	SELECT * FROM (SELECT ` + deliveryColumns + ofWebhook + ` AND state >= -1 AND state <= -1` + newestOfState + `) AS ended
	UNION ALL SELECT * FROM (SELECT ` + deliveryColumns + ofWebhook + ` AND state > 0 AND state < $5` + newest + `) AS left_over
) AS f` + newest

	// lockForDelivery locks a webhook.
	lockForDelivery = `UPDATE webhooks SET url = url` + ofAccount + ` RETURNING url, enabled, generation, last_id`
	countDelivery   = `UPDATE webhooks SET waiting = waiting + 1, last_id = $3` + ofAccount
	selectDelivery  = `-- name: Delivery :one
SELECT ` + deliveryColumns + ` FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND id = $3`
	resendDelivery = `UPDATE deliveries SET state = $4, aside = true, tries = 0, due_at = $5, remove_at = NULL
WHERE account_id = $1 AND webhook_id = $2 AND id = $3`
)

// ListDeliveries implements Store.
func (s SQL) ListDeliveries(
	ctx context.Context, account prism.AccountID, id prism.WebhookID, status api.DeliveryStatus, page store.Page,
) (found []Delivery, more bool, err error) {
	var (
		generation int64
		leftover   bool
	)
	key := []any{account.UUID, id.UUID}
	st := sqldb.Query("list_deliveries", selectGeneration, key...)
	err = s.Run(ctx, st, sqldb.ReadRow(&generation, func(r *sqldb.Row) int64 {
		generation, leftover = r.Int(), r.Bool()
		return generation
	}))
	if err != nil {
		return nil, false, err
	}
	args := slices.Concat(key, []any{page.Before(), int64(page.Limit) + 1})
	switch status {
	case api.DeliveryWaiting:
		st = sqldb.Query("list_deliveries", listInState, append(args, generation)...)
	case api.DeliveryDelivered:
		st = sqldb.Query("list_deliveries", listInState, append(args, int64(delivered))...)
	case api.DeliveryFailed:
		if !leftover { // it costs a look at each delivery
			st = sqldb.Query("list_deliveries", listInState, append(args, int64(failed))...)
			break
		}
		st = sqldb.Query("list_deliveries", listFailed, append(args, generation)...)
	default:
		st = sqldb.Query("list_deliveries", listDeliveries, args...)
	}
	read := func(r *sqldb.Row) Delivery { return readDelivery(r).seen(generation) }
	return sqldb.ReadPage(ctx, s.Database, st, page.Limit, read, "event", "tried")
}

// locked is a webhook that is locked.
type locked struct {
	url        string
	enabled    bool
	generation int64
	last       prism.UUID // the id of its last delivery
}

func lockToSend(ctx context.Context, run sqldb.Run, key []any) (w locked, err error) {
	err = run(ctx, sqldb.Statement{Text: lockForDelivery, Args: key}, sqldb.ReadRow(&w, func(r *sqldb.Row) locked {
		return locked{r.Text(), r.Bool(), r.Int(), r.UUID()}
	}))
	if err == nil && !w.enabled {
		err = store.ErrWebhookDisabled
	}
	return w, err
}

// TestWebhook implements Store.
func (s SQL) TestWebhook(
	ctx context.Context, account prism.AccountID, id prism.WebhookID, least prism.UUID, by store.By,
) (d Delivery, err error) {
	key := []any{account.UUID, id.UUID}
	err = s.Transaction(ctx, "test_webhook", func(run sqldb.Run) error {
		w, err := lockToSend(ctx, run, key)
		if err != nil {
			return err
		}
		row := deliveryRow{
			ID: prism.DeliveryID{UUID: later(w.last, least)}, event: events.Event{Type: api.WebhookTest, At: by.At}, state: w.generation, aside: true,
			dueAt: &by.At,
		}
		d = row.seen(w.generation)
		if err := put(ctx, run, key, []deliveryRow{row}); err != nil {
			return err
		}
		return counted(ctx, run, account, id, d.ID.UUID, w, by, store.WebhookTest)
	})
	return d, err
}

// counted notes that one more delivery waits, and records why.
func counted(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.WebhookID, last prism.UUID, w locked, by store.By, action store.Action,
) error {
	key := []any{account.UUID, id.UUID}
	if err := run(ctx, sqldb.Statement{Text: countDelivery, Args: append(key[:2:2], last)}, sqldb.NoRow); err != nil {
		return err
	}
	if err := schedule(ctx, run, key, w.generation, by.At); err != nil {
		return err
	}
	return record(ctx, run, account, id, w.url, action, sqldb.NoDetail{}, by)
}

// ResendDelivery implements Store.
func (s SQL) ResendDelivery(
	ctx context.Context, account prism.AccountID, id prism.WebhookID, delivery prism.DeliveryID, by store.By,
) (d Delivery, err error) {
	key := []any{account.UUID, id.UUID}
	err = s.Transaction(ctx, "resend_delivery", func(run sqldb.Run) error {
		w, err := lockToSend(ctx, run, key)
		if err != nil && !errors.Is(err, store.ErrWebhookDisabled) {
			return err
		}
		disabled := err
		var row deliveryRow
		find := sqldb.Statement{Text: selectDelivery, Args: append(key[:2:2], delivery.UUID)}
		switch err := run(ctx, find, sqldb.ReadRow(&row, readDelivery)); {
		case errors.Is(err, store.ErrNotFound):
			return store.ErrNoDelivery
		case err != nil:
			return err
		case disabled != nil:
			return disabled
		case row.state == w.generation:
			return store.ErrDeliveryWaits
		}
		row.state, row.dueAt = w.generation, &by.At
		d = row.seen(w.generation)
		again := sqldb.Statement{Text: resendDelivery, Args: append(key[:2:2], delivery.UUID, w.generation, by.At)}
		if err := run(ctx, again, sqldb.NoRow); err != nil {
			return err
		}
		return counted(ctx, run, account, id, w.last, w, by, store.WebhookResend)
	})
	return d, err
}

// later is the least id that is greater than another, and not less than least, whose random part it then has.
func later(than, least prism.UUID) prism.UUID {
	if sqldb.CompareIDs(than, least) < 0 {
		return least
	}
	return following(than)
}

// following is the next id: the random part, which is a number of 62 bits, plus one.
func following(id prism.UUID) prism.UUID {
	for i := len(id) - 1; i > 8; i-- {
		if id[i]++; id[i] != 0 {
			return id
		}
	}
	if id[8]++; id[8]&0xc0 == 0x80 {
		return id
	}
	return prism.FirstUUID(id.Time().Add(time.Millisecond))
}
