package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/backoff"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/signature"
	"github.com/prism-results/prism/services/webhooks/internal/outbound"
)

const (
	// saveTry bounds a try to save.
	saveTry = 5 * time.Second
	// firstSavePause and maxSavePause are the pauses between tries to save.
	firstSavePause, maxSavePause = 100 * time.Millisecond, 2 * time.Second
	// savesEnd is how long a stop waits for a save (spec: sender-stop).
	savesEnd = 10 * time.Second
)

// poster makes calls; outbound.Client is one.
type poster interface {
	Post(ctx context.Context, url string, header http.Header, body []byte) outbound.Answer
	Close()
}

// batchDeps are what batches work with.
type batchDeps struct {
	deliveries contract.Deliveries
	log        *slog.Logger
	tracer     trace.Tracer
	out        poster
	metrics    *metrics
}

// batch is a leased webhook.
type batch struct {
	*contract.DeliveriesLease
	batchDeps
	kind  kind
	began time.Time // when the lease was asked for
}

// run sends the events of the lease and saves what became of them.
func (b *batch) run(ctx context.Context, stopping <-chan struct{}) {
	ctx, span := b.tracer.Start(fair.With(ctx, b.Account.String()), "send events", trace.WithNewRoot())
	defer span.End()
	b.save(ctx, contract.SaveDeliveries{WebhookLease: b.WebhookLease, Tries: b.send(ctx, stopping)}, stopping)
}

// send tries the events one after the other, until one fails, contract.DeliveryBegin is over or the sender stops.
func (b *batch) send(ctx context.Context, stopping <-chan struct{}) []contract.DeliveryTry {
	tries := make([]contract.DeliveryTry, 0, len(b.Deliveries))
	for _, d := range b.Deliveries {
		if ended(stopping) || time.Since(b.began) >= contract.DeliveryBegin {
			break
		}
		t := b.try(ctx, d)
		tries = append(tries, t)
		if t.Error != "" {
			break
		}
	}
	return tries
}

// try sends an event once.
func (b *batch) try(ctx context.Context, d contract.Delivery) contract.DeliveryTry {
	at := time.Now()
	a := b.post(ctx, d, at)
	took := time.Since(at)
	crash.At(crash.AfterDeliveryTry)
	b.metrics.tried(a.Error, took)
	return contract.DeliveryTry{
		ID: d.ID, At: at.UTC().Truncate(time.Millisecond), TookMS: took.Milliseconds(), Status: a.Status, Error: a.Error, Answer: a.Text,
	}
}

// post returns a panic as a failed try, since it would end the process. The value of the panic is not logged, since it may hold a part of
// an event.
func (b *batch) post(ctx context.Context, d contract.Delivery, at time.Time) (a outbound.Answer) {
	defer func() {
		if r := recover(); r != nil {
			b.log.ErrorContext(ctx, "sending an event panicked", "webhook", b.Webhook, "type", fmt.Sprintf("%T", r),
				"stack", string(debug.Stack()))
			a = outbound.Answer{Error: api.TryConnection}
		}
	}()
	return b.out.Post(ctx, b.URL, signature.Header(d.ID.String(), at, d.Body, b.Secrets...), d.Body)
}

// save saves tries, again while results is away, until the lease is over. What is not saved is sent again.
func (b *batch) save(ctx context.Context, tries contract.SaveDeliveries, stopping <-chan struct{}) {
	ctx, cancel := context.WithDeadline(ctx, b.began.Add(contract.DeliveryLease))
	defer cancel()
	var waits backoff.Backoff
	for {
		err := b.saveOnce(ctx, tries)
		if err == nil || errors.Is(err, contract.ErrLeaseLost) {
			return
		}
		if waits == 0 {
			b.log.WarnContext(ctx, "saving deliveries failed", "webhook", b.Webhook, "error", err)
		}
		select {
		case <-time.After(waits.Next(firstSavePause, maxSavePause)):
		case <-stopping:
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, savesEnd)
			defer end()
			stopping = nil
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (b *batch) saveOnce(ctx context.Context, tries contract.SaveDeliveries) error {
	ctx, cancel := context.WithTimeout(ctx, saveTry)
	defer cancel()
	began := time.Now()
	err := b.deliveries.SaveDeliveries(ctx, tries)
	outcome := failedSave
	switch {
	case err == nil:
		crash.At(crash.AfterDeliveriesSave)
		outcome = savedTries
	case errors.Is(err, contract.ErrLeaseLost):
		outcome = lostLease
	}
	b.metrics.saves.WithLabelValues(outcome).Observe(time.Since(began).Seconds())
	return err
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
