package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/credential"
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
	if cfg.RedisURL == "" {
		return locks{Locker: local}, nil
	}
	passwords, err := cfg.RedisAuth.passwords(d.Log)
	if err != nil {
		return locks{}, err
	}
	shared, err := redis.Open(cfg.RedisURL, redis.Config{
		Passwords: passwords,
		Username:  cfg.RedisAuth.Username, Password: cfg.RedisAuth.Password.Reveal(),
		SentinelPassword: cfg.RedisAuth.SentinelPassword.Reveal(), Log: d.Log, Tracer: d.Tracer,
	})
	if err != nil {
		return locks{}, fmt.Errorf("PRISM_REDIS_URL: %w", err)
	}
	return locks{lock.Layered(local, shared), shared, quotaredis.New(shared, quotaredis.Config{})}, nil
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

// RedisAuth overrides the credentials of the Redis URL. It is for passwords that come alone, as Secrets of Kubernetes tend
// to have them. Unlike those in a URL, its values may hold any character.
type RedisAuth struct {
	Username         string        `env:"PRISM_REDIS_USERNAME" help:"user at Redis, in place of the URL's"`
	Password         config.Secret `env:"PRISM_REDIS_PASSWORD" help:"password at Redis, in place of the URL's"`
	PasswordFile     string        `env:"PRISM_REDIS_PASSWORD_FILE" help:"file with the password at Redis, in place of the URL's; read again when it changes"`
	SentinelPassword config.Secret `env:"PRISM_REDIS_SENTINEL_PASSWORD" help:"password at the Sentinels, in place of the URL's"`
}

// passwords is where the connections get a password that changes; nil without one.
func (a RedisAuth) passwords(log *slog.Logger) (credential.Source, error) {
	if a.PasswordFile == "" {
		return nil, nil
	}
	source, err := credential.File(a.PasswordFile, log, nil)
	if err != nil {
		return nil, fmt.Errorf("PRISM_REDIS_PASSWORD_FILE: %w", err)
	}
	return source, nil
}

// check finds a value that has no place in the URL.
func (a RedisAuth) check(address string) error {
	sentinels := strings.Contains(address, "+sentinel:")
	switch {
	case a.Username != "" && a.Password.Reveal() == "" && a.PasswordFile == "":
		return errors.New("PRISM_REDIS_USERNAME: needs PRISM_REDIS_PASSWORD")
	case a.PasswordFile != "" && a.Password.Reveal() != "":
		return errors.New("PRISM_REDIS_PASSWORD_FILE: cannot be set together with PRISM_REDIS_PASSWORD")
	case a.PasswordFile != "" && address == "":
		return errors.New("PRISM_REDIS_PASSWORD_FILE: needs PRISM_REDIS_URL")
	case a.Password.Reveal() != "" && address == "":
		return errors.New("PRISM_REDIS_PASSWORD: needs PRISM_REDIS_URL")
	case a.SentinelPassword.Reveal() != "" && !sentinels:
		return errors.New("PRISM_REDIS_SENTINEL_PASSWORD: PRISM_REDIS_URL names no Sentinels")
	}
	return nil
}
