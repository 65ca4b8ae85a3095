// Package redis counts in Redis, for many gateways. Each count is one round trip.
package redis

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/quota"
)

// DefaultLease is how long requests in flight of a process that died count.
const DefaultLease = 15 * time.Second

// Redis sends commands to a Redis. An error of Do tells that Redis is away, or did not take the command.
type Redis interface {
	Do(ctx context.Context, command func(context.Context, goredis.UniversalClient) error) error
}

// Config of a counter. The zero value is ready to use.
type Config struct {
	Prefix string        // of keys; "prism:limit:" unless given
	Lease  time.Duration // DefaultLease unless given
	// Now is the clock of tests; Redis' own unless given, so that the clocks of gateways do not matter.
	Now func() time.Time
}

// Counter keeps its counts in Redis. A Redis that loses its data counts from 0.
type Counter struct {
	redis  Redis
	config Config

	mu     sync.Mutex
	tokens map[string]map[string]struct{} // tokens of the requests in flight of this process, by the key of their set
}

// New makes a Counter.
func New(r Redis, c Config) *Counter {
	if c.Prefix == "" {
		c.Prefix = "prism:limit:"
	}
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	return &Counter{redis: r, config: c, tokens: map[string]map[string]struct{}{}}
}

// keys of an account have one hash tag, so that a cluster keeps them together. Redis must not see accounts.
func (c *Counter) key(account prism.AccountID, kind string) string {
	digest := sha256.Sum256([]byte(account.String()))
	return c.config.Prefix + "{" + hex.EncodeToString(digest[:16]) + "}:" + kind
}

// now is the argument of scripts for the time: microseconds, or empty for Redis' own.
func (c *Counter) now() any {
	if c.config.Now == nil {
		return ""
	}
	return c.config.Now().UnixMicro()
}

// run runs a script, whose result is two integers.
func (c *Counter) run(ctx context.Context, script *goredis.Script, keys []string, args ...any) (code, value int64, err error) {
	err = c.redis.Do(ctx, func(ctx context.Context, client goredis.UniversalClient) error {
		found, err := script.Run(ctx, client, keys, args...).Int64Slice()
		if err == nil && len(found) == 2 {
			code, value = found[0], found[1]
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", quota.ErrUnavailable, err)
	}
	return code, value, err
}

// Enter implements quota.Counter.
func (c *Counter) Enter(ctx context.Context, account prism.AccountID, l prism.Limits) (func(context.Context), error) {
	token, flight := rand.Text(), c.key(account, "flight")
	c.hold(flight, token) // before Redis has the token, so that no lease is left without a renewal
	code, value, err := c.run(ctx, enterScript, []string{c.key(account, "requests"), flight},
		c.now(), l.RequestsPerSecond, l.Concurrency, token, c.config.Lease.Microseconds())
	switch {
	case err != nil:
	case code == overRequests:
		err = &quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: time.Duration(value) * time.Microsecond}
	case code == overConcurrency:
		err = &quota.ExceededError{Limit: quota.Concurrency}
	case l.Concurrency == 0:
		c.drop(flight, token)
		return func(context.Context) {}, nil
	default:
		return func(ctx context.Context) {
			c.drop(flight, token)
			// The lease of a request that Redis does not hear of expires.
			_ = c.redis.Do(ctx, func(ctx context.Context, client goredis.UniversalClient) error {
				return client.ZRem(ctx, flight, token).Err()
			})
		}, nil
	}
	c.drop(flight, token)
	return nil, err
}

// TakeResult implements quota.Counter.
func (c *Counter) TakeResult(ctx context.Context, account prism.AccountID, perDay int32) (func(context.Context), error) {
	keys := []string{c.key(account, "results")}
	code, value, err := c.run(ctx, takeScript, keys, c.now(), perDay)
	switch {
	case err != nil:
		return nil, err
	case code == overResults:
		return nil, &quota.ExceededError{Limit: quota.ResultsPerDay, Wait: time.Duration(value) * time.Microsecond}
	}
	return func(ctx context.Context) { _, _, _ = c.run(ctx, giveScript, keys, value) }, nil
}

func (c *Counter) hold(flight, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens[flight] == nil {
		c.tokens[flight] = map[string]struct{}{}
	}
	c.tokens[flight][token] = struct{}{}
}

func (c *Counter) drop(flight, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens[flight], token)
	if len(c.tokens[flight]) == 0 {
		delete(c.tokens, flight)
	}
}

// Run renews the leases of the requests in flight every third of their length, until ctx ends.
func (c *Counter) Run(ctx context.Context) {
	tick := time.NewTicker(c.config.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Renew(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Renew renews all leases of this process.
func (c *Counter) Renew(ctx context.Context) {
	c.mu.Lock()
	renewals := make(map[string][]any, len(c.tokens))
	for flight, tokens := range c.tokens {
		args := []any{c.now(), c.config.Lease.Microseconds()}
		for _, token := range slices.Collect(maps.Keys(tokens)) {
			args = append(args, token)
		}
		renewals[flight] = args
	}
	c.mu.Unlock()
	for flight, args := range renewals {
		_, _, _ = c.run(ctx, renewScript, []string{flight}, args...)
	}
}
