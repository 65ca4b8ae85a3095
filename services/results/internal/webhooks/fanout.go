package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	anyWebhook = `-- name: AnyWebhook :one
SELECT EXISTS (SELECT 1 FROM webhooks WHERE enabled)`

	moveWebhook = `UPDATE webhooks SET change = $3, other = $4
WHERE account_id = $1 AND id = $2 AND change = $5 AND other = $6 AND generation = $7 AND enabled
RETURNING url, last_id, waiting, token IS NOT NULL OR due_at IS NOT NULL AND due_at <= $8`
	countDeliveries = `UPDATE webhooks SET waiting = waiting + $3, last_id = $4 WHERE account_id = $1 AND id = $2`
)

// webhooksBehind compares places with the numbers of the last change and of the last other event of the account.
const webhooksBehind = `-- name: WebhooksBehind :many
SELECT w.account_id, w.id, w.generation, w.change, w.other, w.settings
FROM webhooks w ` + latest + ` WHERE w.enabled AND ` + isBehind + ` AND w.account_id` + sqldb.StaysHere + `
ORDER BY w.account_id, w.change, w.other, w.id LIMIT $1`

// AnyWebhook implements Store.
func (s SQL) AnyWebhook(ctx context.Context) (found bool, err error) {
	err = s.Run(ctx, sqldb.Query("any_webhook", anyWebhook), sqldb.ReadRow(&found, (*sqldb.Row).Bool))
	return found, err
}

// WebhooksBehind implements Store.
func (s SQL) WebhooksBehind(ctx context.Context, limit int) (behind []Behind, err error) {
	st := sqldb.Query("webhooks_behind", webhooksBehind, int64(limit))
	err = s.Run(ctx, st, sqldb.ReadRows(&behind, func(r *sqldb.Row) Behind {
		return Behind{
			Account: prism.AccountID{UUID: r.UUID()}, Webhook: prism.WebhookID{UUID: r.UUID()}, Generation: r.Int(),
			Cursor: events.Cursor{Change: r.Int(), Other: r.Int()}, Settings: sqldb.Decode[Settings](r),
		}
	}))
	return behind, err
}

// FanOut implements Store.
func (s SQL) FanOut(ctx context.Context, f FanOut, by func() (store.By, error)) (overflowed []prism.WebhookID, err error) {
	err = s.Transaction(ctx, "fan_out", func(run sqldb.Run) error {
		overflowed = nil
		for _, told := range f.Told {
			full, err := fanOut(ctx, run, f, told, by)
			if errors.Is(err, store.ErrNotFound) { // another process was faster, or it was changed
				continue
			}
			if err != nil {
				return err
			}
			if full {
				overflowed = append(overflowed, told.Webhook)
			}
		}
		crash.At(crash.InFanOut)
		return nil
	})
	return overflowed, err
}

func fanOut(ctx context.Context, run sqldb.Run, f FanOut, told Told, by func() (store.By, error)) (overflowed bool, err error) {
	var (
		key   = []any{f.Account.UUID, told.Webhook.UUID}
		url   string
		last  prism.UUID
		waits int64
		due   bool
	)
	move := sqldb.Statement{Text: moveWebhook, Args: append(
		key[:2:2], f.To.Change, f.To.Other, f.From.Change, f.From.Other, told.Generation, f.Now,
	)}
	err = run(ctx, move, sqldb.ReadRow(&url, func(r *sqldb.Row) string {
		url, last, waits, due = r.Text(), r.UUID(), r.Int(), r.Bool()
		return url
	}))
	if err != nil || len(told.Events) == 0 {
		return false, err
	}
	if waits+int64(len(told.Events)) > Most {
		return true, disable(ctx, run, f.Account, told.Webhook, url, api.Overflow, by)
	}
	rows := make([]deliveryRow, len(told.Events))
	for i, e := range told.Events {
		last = later(last, told.Least)
		rows[i] = deliveryRow{ID: prism.DeliveryID{UUID: last}, event: e, state: told.Generation}
	}
	if err := put(ctx, run, key, rows); err != nil {
		return false, err
	}
	count := sqldb.Statement{Text: countDeliveries, Args: append(key[:2:2], int64(len(rows)), last)}
	if err := run(ctx, count, sqldb.NoRow); err != nil || due {
		return false, err
	}
	return false, schedule(ctx, run, key, told.Generation, f.Now)
}

const (
	removedAtOnce = 500

	removeEnded = `-- name: RemoveDeliveries :many
DELETE FROM deliveries WHERE (account_id, webhook_id, id) IN (
	SELECT account_id, webhook_id, id FROM deliveries WHERE remove_at IS NOT NULL AND remove_at <= $1
		AND account_id` + sqldb.StaysHere + `
	ORDER BY remove_at LIMIT $2
) RETURNING 1`
	findLeftover = `-- name: LeftoverWebhook :one
SELECT account_id, id FROM webhooks WHERE leftover AND account_id` + sqldb.StaysHere + ` LIMIT 1`
	lockLeftover = `UPDATE webhooks SET leftover = leftover WHERE account_id = $1 AND id = $2 AND leftover RETURNING generation, deleted`
	removeOf     = `DELETE FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND id IN (
	SELECT id FROM deliveries WHERE account_id = $1 AND webhook_id = $2 LIMIT $3
) RETURNING 1`
	failLeftover = `UPDATE deliveries SET state = -1, aside = false, due_at = NULL, remove_at = $4
WHERE account_id = $1 AND webhook_id = $2 AND id IN (
	SELECT id FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND state > 0 AND state < $3 LIMIT $5
) RETURNING 1`
	forgetWebhook = `DELETE FROM webhooks WHERE account_id = $1 AND id = $2`
	noLeftover    = `UPDATE webhooks SET leftover = false WHERE account_id = $1 AND id = $2`
)

// RemoveDeliveries implements Store.
func (s SQL) RemoveDeliveries(ctx context.Context, now time.Time) (more bool, err error) {
	removed := 0
	st := sqldb.Change("remove_deliveries", removeEnded, now, int64(removedAtOnce))
	if err := s.Run(ctx, st, sqldb.CountRows(&removed)); err != nil || removed == removedAtOnce {
		return removed == removedAtOnce, err
	}
	var key []any
	err = s.Run(ctx, sqldb.Query("leftover_webhook", findLeftover), sqldb.ReadRow(&key, func(r *sqldb.Row) []any {
		return []any{r.UUID(), r.UUID()}
	}))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.Transaction(ctx, "remove_leftover", func(run sqldb.Run) error { return removeLeftover(ctx, run, key, now) })
}

// removeLeftover removes or marks some of what a webhook has left, or notes that there is nothing.
func removeLeftover(ctx context.Context, run sqldb.Run, key []any, now time.Time) error {
	var (
		generation int64
		deleted    bool
		n          int
	)
	err := run(ctx, sqldb.Statement{Text: lockLeftover, Args: key}, sqldb.ReadRow(&generation, func(r *sqldb.Row) int64 {
		generation, deleted = r.Int(), r.Bool()
		return generation
	}))
	if errors.Is(err, store.ErrNotFound) { // another process was faster
		return nil
	}
	if err != nil {
		return err
	}
	piece, end := sqldb.Statement{Text: failLeftover, Args: append(key[:2:2], generation, now.Add(FailedKept), int64(removedAtOnce))}, noLeftover
	if deleted {
		piece, end = sqldb.Statement{Text: removeOf, Args: append(key[:2:2], int64(removedAtOnce))}, forgetWebhook
	}
	if err := run(ctx, piece, sqldb.CountRows(&n)); err != nil || n > 0 {
		return err
	}
	return run(ctx, sqldb.Statement{Text: end, Args: key}, sqldb.NoRow)
}

const (
	countAll = `-- name: CountAllWebhooks :one
SELECT coalesce(sum(CASE WHEN enabled THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN enabled THEN 0 ELSE 1 END), 0),
	CAST(coalesce(sum(waiting), 0) AS bigint)
FROM webhooks WHERE NOT deleted AND account_id` + sqldb.StaysHere
	// oldestWaiting is the id of the delivery of each webhook that waits longest for its turn.
	oldestWaiting = `-- name: OldestWaiting :many
SELECT (
	SELECT d.id FROM deliveries d WHERE d.account_id = w.account_id AND d.webhook_id = w.id AND d.state >= w.generation AND d.state <= w.generation
	ORDER BY d.state, d.id LIMIT 1
)
FROM webhooks w WHERE w.enabled AND w.waiting > 0 AND w.account_id` + sqldb.StaysHere
)

// MeasureWebhooks implements Store.
func (s SQL) MeasureWebhooks(ctx context.Context) (m Measures, err error) {
	err = s.Run(ctx, sqldb.Query("measure_webhooks", countAll), sqldb.ReadRow(&m, func(r *sqldb.Row) Measures {
		return Measures{Enabled: r.Int(), Disabled: r.Int(), Waiting: r.Int()}
	}))
	if err != nil || m.Waiting == 0 {
		return m, err
	}
	var oldest []prism.UUID
	err = s.Run(ctx, sqldb.Query("measure_webhooks", oldestWaiting), sqldb.ReadRows(&oldest, (*sqldb.Row).UUID))
	for _, id := range oldest {
		if at := id.Time(); !id.IsZero() && (m.Oldest.IsZero() || at.Before(m.Oldest)) {
			m.Oldest = at
		}
	}
	return m, err
}
