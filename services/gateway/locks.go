package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
	"github.com/prism-results/prism/services/gateway/internal/admission"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/memory"
	"github.com/prism-results/prism/services/gateway/internal/lock/redis"
	"github.com/prism-results/prism/services/gateway/internal/quota"
	quotamemory "github.com/prism-results/prism/services/gateway/internal/quota/memory"
	quotaredis "github.com/prism-results/prism/services/gateway/internal/quota/redis"
)

// locks are the locks of this process, and behind them those in Redis if there is one.
type locks struct {
	lock.Locker
	shared *redis.Locker       // or nil
	counts *quotaredis.Counter // or nil, in the same Redis
}

func newLocks(cfg Config, d Deps) (locks, error) {
	local := memory.New(memory.Config{})
	if err := cfg.RedisAuth.check(cfg.RedisURL); err != nil {
		return locks{}, err
	}
	renewals := credential.NewRenewals(d.Metrics, "redis", identity.Kinds()...)
	if cfg.RedisURL == "" {
		return locks{Locker: local}, nil
	}
	passwords, err := cfg.RedisAuth.passwords(cfg.RedisURL, renewals, d.Log)
	if err != nil {
		return locks{}, err
	}
	atSentinels, err := secretFile("PRISM_REDIS_SENTINEL_PASSWORD_FILE", cfg.RedisAuth.SentinelPasswordFile, d.Log)
	if err != nil {
		return locks{}, err
	}
	shared, err := redis.Open(cfg.RedisURL, redis.Config{
		Passwords: passwords, SentinelPasswords: atSentinels,
		Username: cfg.RedisAuth.Username, Password: cfg.RedisAuth.Password.Reveal(),
		SentinelPassword: cfg.RedisAuth.SentinelPassword.Reveal(), Log: d.Log, Tracer: d.Tracer,
	})
	if err != nil {
		return locks{}, fmt.Errorf("PRISM_REDIS_URL: %w", err)
	}
	return locks{lock.Layered(local, shared), shared, quotaredis.New(shared, quotaredis.Config{})}, nil
}

// admission makes the admission of a process, which counts by these locks' store.
func (l locks) admission(d *Deps, accounts *execute.Accounts) *admission.Admission {
	if d.Now == nil {
		d.Now = time.Now
	}
	return admission.New(admission.Deps{
		Results: d.Results, Accounts: accounts, Counter: l.counter(*d), Now: d.Now, Metrics: d.Metrics, Log: d.Log,
	})
}

// counter counts what accounts with limits do: in Redis if there is one, else in memory.
func (l locks) counter(d Deps) quota.Counter {
	local := quotamemory.New(d.Now)
	if l.counts == nil {
		return local
	}
	fallbacks := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "prism_limit_fallbacks_total",
		Help: "Requests and results of accounts with limits that this process counted alone, because Redis was away.",
	})
	d.Metrics.MustRegister(fallbacks)
	return quota.WithFallback(l.counts, local, fallbacks.Inc)
}

// run connects to Redis, and closes it when ctx ends.
func (l locks) run(ctx context.Context) {
	if l.shared != nil {
		var following sync.WaitGroup
		defer following.Wait()
		following.Go(func() { l.shared.Follow(ctx) })
		l.shared.Greet(ctx)
		l.counts.Run(ctx)
		_ = l.shared.Close()
	}
}
