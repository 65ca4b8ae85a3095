package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/quota"
)

const (
	// pollEvery is how often a gateway asks results for the limits of accounts.
	pollEvery = 5 * time.Second
	// fullWait is when a call may come again of an account that is full: nobody knows when something of it is deleted.
	fullWait = time.Minute
)

// limits keeps accounts within their limits.
type limits struct {
	deps Deps
	// byAccount is nil while no account has limits or is full, so that limits cost nothing then.
	byAccount atomic.Pointer[map[prism.AccountID]contract.AccountLimits]
	refusals  *prometheus.CounterVec
}

func newLimits(d Deps) *limits {
	l := &limits{deps: d, refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prism_limit_refusals_total",
		Help: "Requests that were refused for a limit of their account, or for unknown keys from one address.",
	}, []string{"limit"})}
	for _, limit := range []quota.Limit{quota.RequestsPerSecond, quota.Concurrency, quota.ResultsPerDay, quota.StoredBytes, unknownKeys} {
		l.refusals.WithLabelValues(string(limit)) // a rate needs the zero before the first event
	}
	d.Metrics.MustRegister(l.refusals,
		l.gauge("prism_limited_accounts", "Accounts that have limits, as this gateway knows them.",
			func(a contract.AccountLimits) bool { return !a.IsZero() }),
		l.gauge("prism_full_accounts", "Accounts that store as much as they may, as this gateway knows them.",
			func(a contract.AccountLimits) bool { return a.Full }))
	return l
}

// gauge counts accounts.
func (l *limits) gauge(name, help string, counts func(contract.AccountLimits) bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() (n float64) {
		if byAccount := l.byAccount.Load(); byAccount != nil {
			for _, account := range *byAccount {
				if counts(account) {
					n++
				}
			}
		}
		return n
	})
}

// Run asks for the limits until ctx ends. While results does not answer, the last limits stay.
func (l *limits) Run(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for known := true; ; {
		err := l.poll(ctx)
		if err != nil && known && ctx.Err() == nil {
			l.deps.Log.WarnContext(ctx, "the limits of accounts could not be read; the last known ones stay", "error", err)
		}
		known = err == nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (l *limits) poll(ctx context.Context) error {
	fetched, err := execute.LookUp(ctx, l.deps.Results.Limits)
	if err != nil {
		return err
	}
	if len(fetched) == 0 {
		l.byAccount.Store(nil)
		return nil
	}
	byAccount := make(map[prism.AccountID]contract.AccountLimits, len(fetched))
	for _, f := range fetched {
		byAccount[f.Account] = f
	}
	l.byAccount.Store(&byAccount)
	return nil
}

// limitsOf are the limits of an account.
func (l *limits) limitsOf(account prism.AccountID) contract.AccountLimits {
	byAccount := l.byAccount.Load()
	if byAccount == nil {
		return contract.AccountLimits{}
	}
	return (*byAccount)[account]
}

// enter counts a request of an account, until end.
func (l *limits) enter(ctx context.Context, account prism.AccountID) (end func(), err error) {
	own := l.limitsOf(account)
	if own.RequestsPerSecond == 0 && own.Concurrency == 0 {
		return func() {}, nil
	}
	leave, err := l.deps.Counter.Enter(ctx, account, own.Limits)
	if err != nil {
		return nil, l.refused(err)
	}
	return func() { leave(ctx) }, nil
}

// MaySave implements execute.Quota.
func (l *limits) MaySave(account prism.AccountID) error {
	if !l.limitsOf(account).Full {
		return nil
	}
	return l.refused(&quota.ExceededError{Limit: quota.StoredBytes, Wait: fullWait})
}

// TakeResult implements execute.Quota.
func (l *limits) TakeResult(ctx context.Context, account prism.AccountID) (giveBack func(), err error) {
	own := l.limitsOf(account)
	if own.ResultsPerDay == 0 {
		return func() {}, nil
	}
	give, err := l.deps.Counter.TakeResult(ctx, account, own.ResultsPerDay)
	if err != nil {
		return nil, l.refused(err)
	}
	return func() { give(ctx) }, nil
}

// refused is the error for the caller of a request over a limit.
func (l *limits) refused(err error) error {
	over, ok := errors.AsType[*quota.ExceededError](err)
	if !ok {
		return err
	}
	l.refusals.WithLabelValues(string(over.Limit)).Inc()
	return apierr.UnavailableFor(over.Wait)
}
