package gateway

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: rows-are-calls, row-waits, limit-of-results
func TestRowsAreCountedForTheLimitsOfTheirAccount(t *testing.T) {
	t.Parallel()
	account := prism.AccountID{UUID: prism.UUID{1}}
	results := stored{limits: []contract.AccountLimits{{Account: account, Limits: prism.Limits{ResultsPerDay: 2}}}}
	for name, open := range map[string]func(t *testing.T) (contract.Rows, func(context.Context)){
		"in a process without a gateway": func(t *testing.T) (contract.Rows, func(context.Context)) {
			r, err := NewRows(Config{}, RowsDeps{
				Results: results, Models: models{}, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
				Tracer: noop.NewTracerProvider(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return r, r.Run
		},
		"beside a gateway": func(t *testing.T) (contract.Rows, func(context.Context)) {
			g, err := New(Config{}, Deps{
				Results: results, Models: models{}, Server: httpkit.New(httpkit.Config{Name: "test"}, httpkit.Deps{}),
				Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), Tracer: noop.NewTracerProvider(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return g.Rows(), g.admission.Run
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rows, run := open(t)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go run(ctx)
				synctest.Wait()
				version := prism.Version{Number: 3}
				version.Fields = []prism.Field{{Key: "text"}}
				facts := contract.RowFacts{Account: account, Prism: prism.PrismID{UUID: prism.UUID{2}}, Version: version}
				row := contract.ChunkRow{Row: 1, Fields: []prism.FieldValue{{Key: "text", Value: "x"}}}
				for range 2 {
					if got, err := rows.AnswerRow(t.Context(), facts, row); err != nil || got.Save == nil || got.Save.Version != 3 {
						t.Fatalf("got %+v, %v", got, err)
					}
				}
				_, err := rows.AnswerRow(t.Context(), facts, row)
				if over, ok := errors.AsType[*apierr.RetryAfterError](err); !ok || over.Seconds < 1 {
					t.Errorf("a third row: %v", err)
				}
				<-time.After(25 * time.Hour) // the time of the bubble
				if got, err := rows.AnswerRow(t.Context(), facts, row); err != nil || got.Save == nil {
					t.Errorf("a day later: %+v, %v", got, err)
				}
			})
		})
	}
}
