package sqlstore

import (
	"context"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// mendings are the statements of MendTimes, without their end, each with how far in the future a time may be and what it becomes. A worker that lives
// renews its lease before the new end.
var mendings = append(mendingsOfDeliveries(), []mending{
	{`UPDATE files SET leased_until = $2 WHERE status = 'reading' AND leased_until > $1`, store.MaxLease, store.MaxLease},
	{`UPDATE run_chunks SET leased_until = $2 WHERE token IS NOT NULL AND leased_until > $1`, store.MaxLease, store.MaxLease},
	{`UPDATE retry_chunks SET leased_until = $2 WHERE token IS NOT NULL AND leased_until > $1`, store.MaxLease, store.MaxLease},
	{`UPDATE deletions SET leased_until = $2 WHERE leased_until > $1`, store.MaxLease, store.MaxLease},
	{`UPDATE deletions SET saved_before = $2 WHERE saved_before > $1`, 0, 0},
	{`UPDATE deletions SET due_at = $2 WHERE due_at > $1`, deletion.RetentionPause, deletion.DeletionAge},
	{`UPDATE drift_watches SET due_at = $2 WHERE due_at > $1`, store.MaxLease, store.MaxLease},
	{`UPDATE retries SET leased_at = $2 WHERE leased_at > $1`, 0, 0},
	{mendRuns + `leased_at = $2 WHERE leased_at > $1` + underWay, 0, 0},
	{mendRuns + `watched_from = $2 WHERE watched_from > $1` + underWay, 0, 0},
	{mendRuns + `stopped_at = $2 WHERE stopped_at > $1` + underWay, 0, 0},
	{`UPDATE webhooks SET due_at = $2 WHERE token IS NOT NULL AND due_at > $1`, contract.DeliveryLease, contract.DeliveryLease},
	{mendWebhooks, 0, 0},
	{`UPDATE webhooks SET previous_until = $2 WHERE previous_until > $1`, webhooks.PreviousSecret, webhooks.PreviousSecret},
}...)

// mending is a statement of MendTimes.
type mending struct {
	text      string
	far, then time.Duration
}

// mendingsOfDeliveries are those of deliveries, by how often each was tried. They come before that of webhooks, which are due when the next
// of their deliveries is, or at once.
func mendingsOfDeliveries() []mending {
	all := []mending{{mendDeliveries + "0", 0, 0}}
	for i, pause := range webhooks.Pauses {
		all = append(all, mending{mendDeliveries + strconv.Itoa(i+1), pause, pause})
	}
	return all
}

const (
	mendDeliveries = `UPDATE deliveries SET due_at = $2 WHERE due_at > $1 AND tries = `
	mendWebhooks   = `UPDATE webhooks SET due_at = $2 WHERE token IS NULL AND due_at > $1 AND NOT EXISTS (
	SELECT 1 FROM deliveries d WHERE d.account_id = webhooks.account_id AND d.webhook_id = webhooks.id AND d.due_at = webhooks.due_at
)`
	mendRuns = `UPDATE runs SET `
	mendHere = ` AND account_id` + sqldb.StaysHere + ` RETURNING 1`
	underWay = ` AND status IN ('queued', 'running', 'pausing', 'cancelling')`
)

// MendTimes implements store.Clocks.
func (s Statements) MendTimes(ctx context.Context, now time.Time) (mended int, err error) {
	for _, m := range mendings {
		n := 0
		args := []any{now.Add(m.far + store.ClocksDiffer), now.Add(m.then)}
		if err := s.Run(ctx, sqldb.Change("mend_times", m.text+mendHere, args...), sqldb.CountRows(&n)); err != nil {
			return mended, err
		}
		mended += n
	}
	return mended, nil
}
