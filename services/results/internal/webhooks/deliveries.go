package webhooks

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// deliveryRow is a row of deliveries.
type deliveryRow struct {
	ID       prism.DeliveryID
	event    events.Event
	state    int64
	aside    bool
	tries    int32
	tried    []Try
	dueAt    *time.Time
	removeAt *time.Time
}

const (
	// putColumns are the columns of put, of which each row has the last putOwn for itself.
	putColumns = `account_id, webhook_id, id, event, state, aside, tries, tried, due_at, remove_at`
	putOwn     = 8
	// putMost is how many rows a statement puts at most: a power of two, as are all others, so that there are few texts.
	putMost = 64

	putUpdates = ` ON CONFLICT (account_id, webhook_id, id) DO UPDATE SET event = excluded.event, state = excluded.state,
	aside = excluded.aside, tries = excluded.tries, tried = excluded.tried, due_at = excluded.due_at, remove_at = excluded.remove_at`

	deliveryColumns = `id, event, state, aside, tries, tried, due_at`
	// selectTurn finds the deliveries whose turn it is, in their order. Only the first can have been tried. The state is a range, by which
	// deliveries are sorted too, because only the index by state has that order: the primary key has the order by id of a single state, so
	// that a plan could read all that was delivered in order to find the few that wait.
	selectTurn = `-- name: TurnOfDeliveries :many
SELECT ` + deliveryColumns + ` FROM deliveries
WHERE account_id = $1 AND webhook_id = $2 AND state >= $3 AND state <= $3 AND NOT aside ORDER BY state, id LIMIT $4`
	// selectAside and nextAside add to the state so that no plan reads all that waits in order to find what is aside.
	selectAside = `-- name: DeliveriesAside :many
SELECT ` + deliveryColumns + ` FROM deliveries
WHERE account_id = $1 AND webhook_id = $2 AND due_at IS NOT NULL AND due_at <= $4 AND state + 0 = $3 AND aside ORDER BY due_at, id LIMIT $5`
	nextAside = `-- name: NextDeliveryAside :one
SELECT due_at FROM deliveries WHERE account_id = $1 AND webhook_id = $2 AND due_at IS NOT NULL AND state + 0 = $3 AND aside ORDER BY due_at LIMIT 1`
	setDue = `UPDATE webhooks SET due_at = $3 WHERE account_id = $1 AND id = $2 AND token IS NULL`
)

// putText is the statement that puts n rows.
func putText(n int) string {
	return "-- name: PutDeliveries" + strconv.Itoa(n) + " :exec\nINSERT INTO deliveries (" + putColumns + ") VALUES" +
		sqldb.Tuples(n, "$1, $2, ", 3, putOwn) + putUpdates
}

// put stores deliveries, which are new or there, of a webhook that the transaction has locked.
func put(ctx context.Context, run sqldb.Run, key []any, rows []deliveryRow) error {
	for n := putMost; n > 0; n /= 2 {
		for len(rows) >= n {
			args := append(make([]any, 0, len(key)+putOwn*n), key...)
			for _, row := range rows[:n] {
				event, err := sqldb.Encode(row.event)
				if err != nil {
					return err
				}
				if row.tried == nil {
					row.tried = []Try{}
				}
				tried, err := sqldb.Encode(row.tried)
				if err != nil {
					return err
				}
				args = append(args, row.ID.UUID, event, row.state, row.aside, row.tries, tried, row.dueAt, row.removeAt)
			}
			if err := run(ctx, sqldb.Statement{Text: putText(n), Args: args}, sqldb.NoRow); err != nil {
				return err
			}
			rows = rows[n:]
		}
	}
	return nil
}

func readDelivery(r *sqldb.Row) deliveryRow {
	return deliveryRow{
		ID: prism.DeliveryID{UUID: r.UUID()}, event: sqldb.Decode[events.Event](r), state: r.Int(), aside: r.Bool(), tries: r.Int32(),
		tried: sqldb.Decode[[]Try](r), dueAt: r.OptionalTime(),
	}
}

// seen is the delivery as callers see it, of a webhook of a generation.
func (d deliveryRow) seen(generation int64) Delivery {
	seen := Delivery{ID: d.ID, Event: d.event, Tried: d.tried}
	switch d.state {
	case generation:
		seen.Status, seen.NextAt = api.DeliveryWaiting, d.dueAt
	case delivered:
		seen.Status = api.DeliveryDelivered
	default:
		seen.Status = api.DeliveryFailed
	}
	return seen
}

// schedule sets when a webhook is due, unless it is leased: at once if it is the turn of a delivery that is not to be tried later.
func schedule(ctx context.Context, run sqldb.Run, key []any, generation int64, now time.Time) error {
	var head []deliveryRow
	turn := sqldb.Statement{Text: selectTurn, Args: append(key[:2:2], generation, int64(1))}
	if err := run(ctx, turn, sqldb.ReadRows(&head, readDelivery)); err != nil {
		return err
	}
	var due *time.Time
	if len(head) > 0 {
		due = &now
		if head[0].dueAt != nil && head[0].dueAt.After(now) {
			due = head[0].dueAt
		}
	}
	var aside time.Time
	next := sqldb.Statement{Text: nextAside, Args: append(key[:2:2], generation)}
	switch err := run(ctx, next, sqldb.ReadRow(&aside, (*sqldb.Row).Time)); {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case due == nil || aside.Before(*due):
		due = &aside
	}
	return run(ctx, sqldb.Statement{Text: setDue, Args: append(key[:2:2], due)}, sqldb.NoRow)
}
