package webhooks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// dueWebhooks finds webhooks in the order in which they are served: first the account with the fewest leased ones, then the webhook that
	// waited longest.
	dueWebhooks = `-- name: DueWebhooks :many
SELECT w.account_id, w.id FROM webhooks w
LEFT JOIN (
	SELECT account_id, count(*) AS leased FROM webhooks WHERE token IS NOT NULL AND due_at > $1 GROUP BY account_id
) l ON l.account_id = w.account_id
WHERE w.due_at IS NOT NULL AND w.due_at <= $1 AND (w.healthy OR NOT $2) AND w.account_id` + sqldb.StaysHere + `
ORDER BY coalesce(l.leased, 0), w.due_at, w.id LIMIT 8`
	leaseWebhook = `UPDATE webhooks SET token = $3, due_at = $4, aside_first = NOT aside_first
WHERE account_id = $1 AND id = $2 AND due_at IS NOT NULL AND due_at <= $5 AND enabled
RETURNING url, secret, previous_secret, previous_until, settings, generation, aside_first`
	endLease = `UPDATE webhooks SET token = NULL, due_at = NULL WHERE account_id = $1 AND id = $2 AND token = $3`
	// lockLease locks the webhook of a lease.
	lockLease = `UPDATE webhooks SET token = token WHERE account_id = $1 AND id = $2 AND token = $3 RETURNING generation, url`

	removeDeliveries = `DELETE FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND id IN (`
	selectWaiting    = `SELECT ` + deliveryColumns + ` FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND state = $3 AND id IN (`
	countEnded       = `UPDATE webhooks SET waiting = waiting - $3 WHERE account_id = $1 AND id = $2`
	countHealthy     = `UPDATE webhooks SET waiting = waiting - $3, healthy = $4 WHERE account_id = $1 AND id = $2`

	// asideAtOnce is how many deliveries that others go on before are leased at once, so that they do not delay those.
	asideAtOnce = 10
)

// TakeDeliveries implements Store. If two callers take at the same time, the second one sees the lease of the first.
func (s SQL) TakeDeliveries(ctx context.Context, healthy bool, token prism.UUID, now, until time.Time) (leased *Leased, err error) {
	var due []contract.WebhookLease
	st := sqldb.Query("due_webhooks", dueWebhooks, now, healthy)
	err = s.Run(ctx, st, sqldb.ReadRows(&due, func(r *sqldb.Row) contract.WebhookLease {
		return contract.WebhookLease{Account: prism.AccountID{UUID: r.UUID()}, Webhook: prism.WebhookID{UUID: r.UUID()}, Token: token}
	}))
	if err != nil {
		return nil, err
	}
	for _, lease := range due {
		err = s.Transaction(ctx, "take_deliveries", func(run sqldb.Run) (err error) {
			leased, err = take(ctx, run, lease, now, until)
			return err
		})
		if err == nil && leased != nil { // what is told must be as durable as a result that was returned
			return leased, s.ConfirmAll(ctx, lease.Account)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	return nil, nil
}

// take leases a webhook: nil if nothing is due, store.ErrNotFound if somebody else was faster.
func take(ctx context.Context, run sqldb.Run, lease contract.WebhookLease, now, until time.Time) (*Leased, error) {
	var (
		leased     = &Leased{WebhookLease: lease}
		key        = []any{lease.Account.UUID, lease.Webhook.UUID}
		generation int64
		asideFirst bool
	)
	statement := sqldb.Statement{Text: leaseWebhook, Args: append(key[:2:2], lease.Token, until, now)}
	err := run(ctx, statement, sqldb.ReadRow(&leased.URL, func(r *sqldb.Row) string {
		url := r.Text()
		leased.Secrets = [][]byte{r.Bytes()}
		if previous, signs := r.Bytes(), r.OptionalTime(); signs != nil && now.Before(*signs) {
			leased.Secrets = append(leased.Secrets, previous)
		}
		leased.Settings, generation, asideFirst = sqldb.Decode[Settings](r), r.Int(), r.Bool()
		return url
	}))
	if err != nil {
		return nil, err
	}
	var inOrder, aside []deliveryRow
	turn := sqldb.Statement{Text: selectTurn, Args: append(key[:2:2], generation, int64(contract.LeasedDeliveries))}
	if err := run(ctx, turn, sqldb.ReadRows(&inOrder, readDelivery)); err != nil {
		return nil, err
	}
	for i, d := range inOrder {
		if d.dueAt != nil && d.dueAt.After(now) {
			inOrder = inOrder[:i]
			break
		}
	}
	beside := sqldb.Statement{Text: selectAside, Args: append(key[:2:2], generation, now, int64(asideAtOnce))}
	if err := run(ctx, beside, sqldb.ReadRows(&aside, readDelivery)); err != nil {
		return nil, err
	}
	rows := slices.Concat(inOrder, aside)
	if asideFirst {
		rows = slices.Concat(aside, inOrder)
	}
	for _, d := range rows {
		leased.Deliveries = append(leased.Deliveries, LeasedDelivery{ID: d.ID, Event: d.event, First: len(d.tried) == 0})
	}
	if len(rows) > 0 {
		return leased, nil
	}
	if err := run(ctx, sqldb.Statement{Text: endLease, Args: append(key[:2:2], lease.Token)}, sqldb.NoRow); err != nil {
		return nil, err
	}
	return nil, schedule(ctx, run, key, generation, now)
}

// lockLeased locks the webhook of a lease: contract.ErrLeaseLost.
func lockLeased(ctx context.Context, run sqldb.Run, l contract.WebhookLease) (key []any, generation int64, url string, err error) {
	key = []any{l.Account.UUID, l.Webhook.UUID}
	err = run(ctx, sqldb.Statement{Text: lockLease, Args: append(key[:2:2], l.Token)}, sqldb.ReadRow(&generation, func(r *sqldb.Row) int64 {
		generation, url = r.Int(), r.Text()
		return generation
	}))
	if errors.Is(err, store.ErrNotFound) {
		err = contract.ErrLeaseLost
	}
	return key, generation, url, err
}

// waiting reads deliveries that wait, by their ids.
func waiting(ctx context.Context, run sqldb.Run, key []any, generation int64, ids []prism.UUID) (map[prism.UUID]deliveryRow, error) {
	find := sqldb.Statement{Text: selectWaiting + sqldb.Parameters(4, sqldb.PartSize) + ")", Args: append(key[:2:2], generation)}
	rows, err := sqldb.ReadParts(ctx, run, find, ids, readDelivery)
	byID := make(map[prism.UUID]deliveryRow, len(rows))
	for _, row := range rows {
		byID[row.ID.UUID] = row
	}
	return byID, err
}

// NarrowDeliveries implements Store.
func (s SQL) NarrowDeliveries(
	ctx context.Context, l contract.WebhookLease, removed []prism.DeliveryID, replaced map[prism.DeliveryID]events.Event,
) error {
	return s.Transaction(ctx, "narrow_deliveries", func(run sqldb.Run) error {
		key, generation, _, err := lockLeased(ctx, run, l)
		if err != nil {
			return err
		}
		ids := make([]prism.UUID, len(removed))
		for i, id := range removed {
			ids[i] = id.UUID
		}
		remove := sqldb.Statement{Text: removeDeliveries + sqldb.Parameters(3, sqldb.PartSize) + ") RETURNING id", Args: key}
		gone, err := sqldb.ReadParts(ctx, run, remove, ids, (*sqldb.Row).UUID)
		if err != nil {
			return err
		}
		var others []prism.UUID
		for id := range replaced {
			others = append(others, id.UUID)
		}
		rows, err := waiting(ctx, run, key, generation, others)
		if err != nil {
			return err
		}
		var changed []deliveryRow
		for id, row := range rows {
			row.event = replaced[prism.DeliveryID{UUID: id}]
			changed = append(changed, row)
		}
		if err := put(ctx, run, key, changed); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: countEnded, Args: append(key[:2:2], int64(len(gone)))}, sqldb.NoRow)
	})
}

// EndDeliveries implements Store.
func (s SQL) EndDeliveries(
	ctx context.Context, in contract.SaveDeliveries, now time.Time, by func() (store.By, error),
) (ended Ended, err error) {
	err = s.Transaction(ctx, "end_deliveries", func(run sqldb.Run) error {
		ended = Ended{}
		key, generation, url, err := lockLeased(ctx, run, in.WebhookLease)
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: endLease, Args: append(key[:2:2], in.Token)}, sqldb.NoRow); err != nil {
			return err
		}
		if len(in.Tries) == 0 {
			return schedule(ctx, run, key, generation, now)
		}
		ids := make([]prism.UUID, len(in.Tries))
		for i, try := range in.Tries {
			ids[i] = try.ID.UUID
		}
		rows, err := waiting(ctx, run, key, generation, ids)
		if err != nil {
			return err
		}
		for _, try := range in.Tries {
			if row, there := rows[try.ID.UUID]; there {
				rows[try.ID.UUID] = row.after(try, now, &ended)
			}
		}
		changed := make([]deliveryRow, 0, len(rows))
		for _, row := range rows {
			changed = append(changed, row)
		}
		if err := put(ctx, run, key, changed); err != nil {
			return err
		}
		healthy := in.Tries[len(in.Tries)-1].Error == ""
		count := sqldb.Statement{Text: countHealthy, Args: append(key[:2:2], int64(ended.Delivered+ended.Failed), healthy)}
		if err := run(ctx, count, sqldb.NoRow); err != nil {
			return err
		}
		if ended.Disabled != "" {
			return disable(ctx, run, in.Account, in.Webhook, url, ended.Disabled, by)
		}
		return schedule(ctx, run, key, generation, now)
	})
	return ended, err
}

// gone is the HTTP status of a receiver that wants no more events.
const gone = 410

// after is the delivery after a try, which it counts.
func (d deliveryRow) after(try contract.DeliveryTry, now time.Time, ended *Ended) deliveryRow {
	logged := Try{At: try.At.Truncate(time.Millisecond), TookMS: try.TookMS, Status: try.Status, Answer: try.Answer}
	if try.Error != "" {
		logged.Error = &try.Error
	}
	d.tried = append(d.tried, logged)
	d.tried = d.tried[max(0, len(d.tried)-Logged):]
	d.tries++
	ends := func(state int64, keep time.Duration) deliveryRow {
		at := now.Add(keep)
		d.state, d.aside, d.dueAt, d.removeAt = state, false, nil, &at
		return d
	}
	isTest := d.event.Type == api.WebhookTest
	switch {
	case try.Error == "":
		ended.Delivered++
		return ends(delivered, DeliveredKept)
	case isTest || try.Status == gone || int(d.tries) > len(Pauses):
		ended.Failed++
		switch {
		case isTest:
		case try.Status == gone:
			ended.Disabled = api.ReceiverGone
		default:
			ended.Disabled = api.ReceiverFailing
		}
		return ends(failed, FailedKept)
	}
	ended.Again++
	at := now.Add(Pauses[d.tries-1])
	d.dueAt, d.aside = &at, d.aside || d.tries >= BlockingTries
	return d
}
