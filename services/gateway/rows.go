package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/gateway/internal/admission"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/size"
)

// rowsOf answers rows by what calls are answered with.
func rowsOf(asking execute.Asking, admit *admission.Admission) contract.Rows {
	return &execute.Rows{Asking: asking, Enter: admit.EnterRow}
}

// RowsDeps are what Rows work with in a process without a Gateway; all but Now are required.
type RowsDeps struct {
	// Results tells the limits of accounts.
	Results contract.Results
	Models  contract.Models
	Metrics prometheus.Registerer
	Log     *slog.Logger
	Tracer  trace.TracerProvider
	Now     func() time.Time // the clock of limits; time.Now unless given
}

// Rows answers rows of runs in a process without a Gateway.
type Rows struct {
	contract.Rows
	locks     locks
	admission *admission.Admission
}

// NewRows makes the Rows of a process. It does no I/O. With a Redis it counts what accounts with limits do together with the
// gateways that have the same.
func NewRows(cfg Config, d RowsDeps) (*Rows, error) {
	deps := Deps{Results: d.Results, Models: d.Models, Metrics: d.Metrics, Log: d.Log, Tracer: d.Tracer, Now: d.Now}
	locks, err := newLocks(cfg, deps)
	if err != nil {
		return nil, err
	}
	admit := locks.admission(&deps, execute.NewAccounts())
	asking := execute.Asking{Models: d.Models, Estimator: size.New(nil), Quota: admit, Log: d.Log}
	return &Rows{Rows: rowsOf(asking, admit), locks: locks, admission: admit}, nil
}

// Run keeps up with the limits of accounts until ctx ends. Without it, accounts have no limits.
func (r *Rows) Run(ctx context.Context) {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { r.locks.run(ctx) })
	r.admission.Run(ctx)
}
