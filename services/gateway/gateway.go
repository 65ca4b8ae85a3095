// Package gateway serves the API of Prism: it parses and validates requests, runs the checks in their order, takes a lock
// where calls can race, calls model-proxy and has results save the outcome. It stores nothing.
package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/admission"
	"github.com/prism-results/prism/services/gateway/internal/dryrun"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/route"
	"github.com/prism-results/prism/services/gateway/internal/size"
	"github.com/prism-results/prism/web"
)

// Gateway is the service.
type Gateway struct {
	server     *httpkit.Server
	drainDelay time.Duration
	locks      locks
	admission  *admission.Admission
	rows       contract.Rows
	stopping   context.Context //nolint:containedctx // the life of the service, set once before it serves
}

// New registers the routes. It does no I/O; the first use of Redis connects to it.
func New(cfg Config, d Deps) (*Gateway, error) {
	locks, err := newLocks(cfg, d)
	if err != nil {
		return nil, err
	}
	documents, err := route.ReadDocuments(web.Dist())
	if err != nil {
		return nil, err
	}
	accounts := execute.NewAccounts()
	admit := locks.admission(&d, accounts)
	estimator := size.New(d.Server.Turns())
	asking := execute.Asking{Models: d.Models, Estimator: estimator, Quota: admit, Log: d.Log}
	g := &Gateway{server: d.Server, drainDelay: cfg.DrainDelay, locks: locks, admission: admit, rows: rowsOf(asking, admit)}
	executor := execute.New(execute.Deps{
		Asking:  asking,
		Results: execute.CountSaves(d.Results, d.Metrics), Locks: lock.Instrumented(locks.Locker, d.Metrics),
		NewID: newResultID, Accounts: accounts,
	})
	d.Server.ShareByAccount(route.AccountOf(accounts))
	stopping := func() context.Context { return g.stopping }
	dry := dryrun.Deps{
		Results: d.Results, Models: d.Models, Estimator: estimator, Places: fair.NewQueue(fair.Processors(), 0), Stopping: stopping,
	}
	routes := route.Deps{
		Results: d.Results, Models: d.Models, Executor: executor, Admission: admit, Stopping: stopping,
		DryRun:     dry.Run,
		HasConsole: cfg.HasConsole || d.Console != nil,
		Documents:  documents,
	}
	if d.Console != nil {
		routes.Pass = d.Console.Pass
	}
	route.Register(d.Server.App(), routes)
	return g, nil
}

// newResultID makes an id that begins with the time of results (spec: one-clock).
func newResultID(at time.Time) (prism.ResultID, error) {
	id, err := prism.NewUUID(at, rand.Reader)
	return prism.ResultID{UUID: id}, err
}

// Rows answers rows of runs as this gateway answers calls, with the same counts of what accounts with limits do.
func (g *Gateway) Rows() contract.Rows { return g.rows }

// Run serves until ctx ends and every accepted call has its response.
func (g *Gateway) Run(ctx context.Context, ln net.Listener) error {
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	// Calls that wait for a lock took nothing, so they end when the service begins to refuse calls.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(g.drainDelay, stop) })()
	g.stopping = stopping
	// Locks outlive the calls that hold them.
	held, release := context.WithCancel(context.WithoutCancel(ctx))
	var locking sync.WaitGroup
	locking.Go(func() { g.locks.run(held) })
	locking.Go(func() { g.admission.Run(held) })
	defer locking.Wait()
	defer release()
	if err := g.server.Run(ctx, ln); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	return nil
}
