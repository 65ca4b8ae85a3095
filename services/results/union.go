package results

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/contract"
)

// unionPatience is how long calls that need something of several databases wait for each of them. It is below what their callers wait.
const unionPatience = time.Second

// ofEach asks databases at the same time and returns what each answered in unionPatience. It returns an error if none answered.
func ofEach[T any](ctx context.Context, databases []*database, ask func(context.Context, *database) (T, error)) (map[*database]T, error) {
	ctx, cancel := context.WithTimeout(ctx, unionPatience)
	defer cancel()
	var (
		mu      sync.Mutex
		answers = map[*database]T{}
		failed  []error
		asked   sync.WaitGroup
	)
	for _, db := range databases {
		asked.Go(func() {
			answer, err := ask(ctx, db)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return
			}
			answers[db] = answer
		})
	}
	asked.Wait() // statements that only read end with ctx
	if len(answers) == 0 && len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	return answers, nil
}

// lastLimits are the limits of the accounts of each database, as it told them last.
type lastLimits struct {
	mu   sync.Mutex
	last map[*database][]contract.AccountLimits
}

// Limits implements contract.Results. Those of a database that does not answer are as they were.
func (c *calls) Limits(ctx context.Context) ([]contract.AccountLimits, error) {
	databases := c.all()
	if len(databases) == 1 {
		return databases[0].service.Limits(ctx)
	}
	byDatabase, err := ofEach(ctx, databases, func(ctx context.Context, db *database) ([]contract.AccountLimits, error) {
		return db.service.Limits(ctx)
	})
	if err != nil {
		return nil, err
	}
	c.limits.mu.Lock()
	defer c.limits.mu.Unlock()
	if c.limits.last == nil {
		c.limits.last = map[*database][]contract.AccountLimits{}
	}
	maps.Copy(c.limits.last, byDatabase)
	return slices.Concat(slices.Collect(maps.Values(c.limits.last))...), nil
}

// RenewLeases implements contract.Leases. Leases of a database that does not answer are left out: they end unless a later call renews them.
func (c *calls) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	databases := c.all()
	if len(databases) == 1 {
		return databases[0].service.RenewLeases(ctx, leases)
	}
	byDatabase := map[*database][]contract.Lease{}
	var failed error
	for _, lease := range leases {
		_, db, err := c.ofAccount(ctx, lease.Account)
		if err != nil {
			failed = err
			continue
		}
		byDatabase[db] = append(byDatabase[db], lease)
	}
	if len(byDatabase) == 0 {
		return nil, failed
	}
	states, err := ofEach(ctx, slices.Collect(maps.Keys(byDatabase)), func(ctx context.Context, db *database) ([]contract.LeaseState, error) {
		return db.service.RenewLeases(ctx, byDatabase[db])
	})
	return slices.Concat(slices.Collect(maps.Values(states))...), err
}
