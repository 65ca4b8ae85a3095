// Package redis keeps locks in Redis, for many gateways. A Redis that is away, hangs or loses its data costs milliseconds
// and the lock, never a call.
package redis

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/gateway/internal/lock"
)

const (
	// MaxLease is the longest lease: a holder that dies is replaced within it.
	MaxLease = 5 * time.Second
	// DefaultLease leaves half of the 6 s, within which a call after a dead holder goes on, to whatever else is slow at
	// that time. It costs one command a second for each held lock. A process that was suspended for longer loses its
	// locks although it lives. Then the model may be called once more; nothing is saved twice.
	DefaultLease = 3 * time.Second
)

// Waiters poll: a connection for notifications of releases would wake a waiter 20 ms earlier, which the caller of a model
// does not notice. The pause between two polls is an eighth of the time already waited, within these bounds. If many
// callers wait, the pauses grow, so that a process sends about 2,000 polls a second at most.
const (
	shortestPause  = 2 * time.Millisecond
	longestPause   = 25 * time.Millisecond
	pausePerWaiter = 500 * time.Microsecond
)

// Config of a locker. The zero value is ready to use.
type Config struct {
	MaxWaiters int    // callers of this process that wait at a time, over all names; 1024 unless given
	Prefix     string // of keys; "prism:lock:" unless given

	Lease          time.Duration // how long a lock outlives its holder; 3 s unless given, and 5 s at most
	CommandTimeout time.Duration // the longest that a command may take; 250 ms unless given
	Cooldown       time.Duration // how long a Redis that failed is not asked; 500 ms unless given

	// The credentials that are not empty override those of the URL. Unlike those, they may hold any character.
	Username, Password string
	SentinelPassword   string
	// Passwords gives the password instead of Password, and another one when it changes. Optional.
	Passwords credential.Source
	// SentinelPasswords gives the password at the Sentinels instead of SentinelPassword, for each new connection to one. Optional.
	SentinelPasswords credential.Source

	Log    *slog.Logger         // logs when Redis goes away and comes back; discards unless given
	Tracer trace.TracerProvider // gets a span for each command; the global one unless given
}

func (c Config) withDefaults() Config {
	c.MaxWaiters = cmp.Or(c.MaxWaiters, lock.DefaultMaxWaiters)
	c.Prefix = cmp.Or(c.Prefix, "prism:lock:")
	c.Lease = min(cmp.Or(c.Lease, DefaultLease), MaxLease)
	c.CommandTimeout = cmp.Or(c.CommandTimeout, 250*time.Millisecond)
	c.Cooldown = cmp.Or(c.Cooldown, 500*time.Millisecond)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Locker keeps its locks in Redis. Every waiting caller polls; lock.Layered has one caller of a process at a time ask
// for a name, in the order in which the callers came.
type Locker struct {
	config  Config
	store   store
	breaker breaker
	waiters *fair.Bound

	following *following // nil: the password does not change

	life context.Context //nolint:containedctx // it ends waits and leases at Close
	end  context.CancelFunc
}

var _ lock.Locker = (*Locker)(nil)

// Close ends the locker. Waiting callers get ErrUnavailable, and leases that are still held expire.
func (l *Locker) Close() error {
	l.end()
	return l.store.client.Close()
}

// Follow gives the connections each new password until ctx ends.
func (l *Locker) Follow(ctx context.Context) {
	if l.following != nil {
		l.following.run(ctx)
	}
}

// Greet asks Redis until it answers or ctx ends. So a Redis that is away or refuses our credentials is in the log at the
// start, before the first call.
func (l *Locker) Greet(ctx context.Context) {
	tick := time.NewTicker(l.config.Cooldown)
	defer tick.Stop()
	for ctx.Err() == nil {
		if l.breaker.admit() && l.record(l.store.ping(ctx)) == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Waiting is the number of callers of this process that poll now.
func (l *Locker) Waiting() int { return l.waiters.Taken() }

// TryAcquire asks Redis once.
func (l *Locker) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return l.begin(ctx, l.claim(name))
}

// Acquire polls until the name is free. The order among the pollers is left to chance.
func (l *Locker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	claim := l.claim(name)
	held, err := l.begin(ctx, claim)
	if !errors.Is(err, lock.ErrHeld) {
		return held, err
	}
	return l.poll(ctx, claim)
}

// claim is a lease that is not held yet. Its id is a hash of the name: Redis, its monitors and the traces of its commands
// must not see accounts and idempotency keys.
func (l *Locker) claim(name string) *lease {
	digest := sha256.Sum256([]byte(name))
	return &lease{locker: l, id: hex.EncodeToString(digest[:16]), token: rand.Text()}
}

// begin asks Redis for the first time, unless Redis is known to be away.
func (l *Locker) begin(ctx context.Context, claim *lease) (lock.Lease, error) {
	switch {
	case ctx.Err() != nil:
		return nil, lock.WaitEnded(ctx)
	case l.life.Err() != nil || !l.breaker.admit():
		return nil, lock.ErrUnavailable
	}
	return claim.take(ctx)
}

// poll tries until the caller has the name. One failed command does not end the wait; the breaker decides that Redis is
// away.
func (l *Locker) poll(ctx context.Context, claim *lease) (lock.Lease, error) {
	account := fair.Account(ctx)
	if !l.waiters.Take(account, fair.Preferred) {
		return nil, lock.ErrBusy
	}
	defer l.waiters.Give(account)
	began, shortened := time.Now(), time.Time{}
	timer := time.NewTimer(l.pause(0))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-l.life.Done():
			return nil, lock.ErrUnavailable
		case <-ctx.Done():
			return nil, lock.WaitEnded(ctx)
		}
		if l.breaker.away() {
			return nil, lock.ErrUnavailable
		}
		if held, err := claim.take(ctx); err == nil {
			return held, nil
		}
		// A holder that lives renews its lease within this time. The lease of one that died ends within it.
		if time.Since(shortened) > l.config.Lease {
			shortened = time.Now()
			_ = l.record(l.store.shorten(ctx, claim.id)) // the next poll tells
		}
		timer.Reset(l.pause(time.Since(began)))
	}
}

// pause is the time until the next poll of a caller that has waited so long, with a jitter of a half either way.
func (l *Locker) pause(waited time.Duration) time.Duration {
	longest := max(longestPause, time.Duration(l.waiters.Taken())*pausePerWaiter)
	pause := min(max(waited/8, shortestPause), longest)
	return pause/2 + mathrand.N(pause) //nolint:gosec // jitter needs no secrecy
}

// record tells the breaker the outcome of a command, and returns err. After Close every command fails.
func (l *Locker) record(err error) error {
	if l.following != nil && err != nil {
		l.following.refused(err)
	}
	if l.life.Err() == nil {
		l.breaker.record(err)
	}
	return err
}

// Do sends a command of another user of the same Redis, within CommandTimeout: lock.ErrUnavailable if Redis is away, or did
// not take the command. A command that Redis refuses, perhaps for lack of a right, does not count against the locks.
func (l *Locker) Do(ctx context.Context, command func(context.Context, goredis.UniversalClient) error) error {
	if l.life.Err() != nil || !l.breaker.admit() {
		return lock.ErrUnavailable
	}
	ctx, cancel := l.store.bound(ctx)
	defer cancel()
	err := command(ctx, l.store.client)
	var refusal goredis.Error
	if !errors.As(err, &refusal) {
		_ = l.record(err)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", lock.ErrUnavailable, err)
	}
	return nil
}
