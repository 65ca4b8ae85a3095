// Package admission decides which requests with a well-formed API key go on to their call: it finds the account of the key,
// with few look-ups of unknown keys, and keeps accounts within their limits (spec: unknown-keys, account-limits).
package admission

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/quota"
)

// Deps are all required.
type Deps struct {
	Results  contract.Results
	Accounts *execute.Accounts
	Counter  quota.Counter
	Now      func() time.Time
	Metrics  prometheus.Registerer
	Log      *slog.Logger
}

// Admission admits requests.
type Admission struct {
	deps Deps
	*limits
	unknown *lookUps
}

// unknownKeys names the bound of unknown keys in metrics, beside the limits of accounts.
const unknownKeys quota.Limit = "unknown_keys"

// New makes an Admission. Without Run, accounts have no limits.
func New(d Deps) *Admission {
	return &Admission{deps: d, limits: newLimits(d), unknown: newLookUps(d.Now)}
}

// Enter admits a request of a client with an API key: apierr.InvalidAPIKey, apierr.UnavailableFor, contract.ErrUnavailable. The
// first call of leave ends the request. Every call of leave with apierr.InvalidAPIKey forgets the account of the key.
func (a *Admission) Enter(ctx context.Context, key contract.KeyDigest, client netip.Addr) (leave func(error), err error) {
	account, err := a.account(ctx, key, client)
	if err != nil {
		return nil, err
	}
	end, err := a.enter(ctx, account)
	if err != nil {
		return nil, err
	}
	var once sync.Once
	return func(err error) {
		once.Do(end)
		if err != nil && errors.Is(err, apierr.InvalidAPIKey()) {
			a.deps.Accounts.Forget(key)
		}
	}, nil
}

// EnterRow admits a row of a run, which counts as a request of its account until leave: apierr.UnavailableFor.
func (a *Admission) EnterRow(ctx context.Context, account prism.AccountID) (leave func(), err error) {
	return a.enter(ctx, account)
}

// account is the account of an API key, from memory if possible. It is zero if results does not tell.
func (a *Admission) account(ctx context.Context, key contract.KeyDigest, client netip.Addr) (prism.AccountID, error) {
	if account, known := a.deps.Accounts.Get(key); known {
		return account, nil
	}
	ctx, cancel := context.WithTimeout(ctx, contract.ResultsWait)
	defer cancel()
	for {
		began, ended := a.unknown.begin(client)
		switch {
		case began != nil:
			return a.lookUp(ctx, key, began)
		case ended == nil:
			return prism.AccountID{}, a.refused(&quota.ExceededError{Limit: unknownKeys})
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return prism.AccountID{}, a.refused(&quota.ExceededError{Limit: unknownKeys})
		}
		if account, known := a.deps.Accounts.Get(key); known {
			return account, nil
		}
	}
}

// lookUp asks results for the account of an API key, and ends the look-up of a key that is not remembered.
func (a *Admission) lookUp(ctx context.Context, key contract.KeyDigest, count *addressCount) (account prism.AccountID, err error) {
	defer func() { a.unknown.end(count, errors.Is(err, apierr.InvalidAPIKey())) }()
	account, err = execute.LookUp(ctx, func(ctx context.Context) (prism.AccountID, error) {
		return a.deps.Results.Account(ctx, key)
	})
	a.deps.Accounts.Remember(ctx, key, account)
	return account, err
}
