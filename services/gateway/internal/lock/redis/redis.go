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
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

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

	Log    *slog.Logger         // logs when Redis goes away and comes back; discards unless given
	Tracer trace.TracerProvider // gets a span for each command of a client that Open makes; the global one unless given
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
	breaker *breaker
	waiting atomic.Int64

	life    context.Context //nolint:containedctx // it ends the locker's own goroutines, not a call's
	end     context.CancelFunc
	closers []func() error

	mu       sync.Mutex
	running  sync.WaitGroup // grows only while the locker isn't closed
	isClosed bool

	// keepAlive is false in tests whose holders die silently.
	keepAlive bool
}

var _ lock.Locker = (*Locker)(nil)

// New returns a locker that uses client, which may stand for one server, Sentinels or a cluster. The caller closes the
// client. The client has to honour the deadlines of contexts (ContextTimeoutEnabled); Open makes such a client.
func New(c Config, client goredis.UniversalClient) *Locker {
	c = c.withDefaults()
	life, end := context.WithCancel(context.Background()) //nolint:forbidigo // the locker's own life, until Close
	return &Locker{
		config:    c,
		store:     store{client: client, config: c},
		breaker:   newBreaker(c.Cooldown, c.Log),
		life:      life,
		end:       end,
		keepAlive: true,
	}
}

// start runs a goroutine that Close waits for. It refuses when the locker is closed.
func (l *Locker) start(run func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isClosed {
		l.running.Go(run)
	}
	return !l.isClosed
}

// Close ends the locker's goroutines. Waiting callers get ErrUnavailable, and leases that are still held expire.
func (l *Locker) Close() error {
	l.mu.Lock()
	l.isClosed = true
	l.mu.Unlock()
	l.end()
	l.breaker.shut()
	l.running.Wait()
	var errs []error
	for _, closer := range l.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// Greet asks Redis until it answers or ctx ends. So a Redis that is away or refuses our credentials is in the log at the
// start, before the first call.
func (l *Locker) Greet(ctx context.Context) {
	tick := time.NewTicker(l.config.Cooldown)
	defer tick.Stop()
	for ctx.Err() == nil {
		if _, state := l.breaker.admit(); state != open && l.breaker.record(l.store.ping(ctx)) == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Waiting is the number of callers of this process that poll now.
func (l *Locker) Waiting() int { return int(l.waiting.Load()) }

// TryAcquire asks Redis once.
func (l *Locker) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	outage, err := l.admit(ctx)
	if err != nil {
		return nil, err
	}
	return l.newClaim(name, outage).try(ctx)
}

// Acquire polls until the name is free. The order among the pollers is left to chance.
func (l *Locker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	outage, err := l.admit(ctx)
	if err != nil {
		return nil, err
	}
	c := l.newClaim(name, outage)
	held, err := c.try(ctx)
	if !errors.Is(err, lock.ErrHeld) {
		return held, err
	}
	return c.poll(ctx)
}

// admit lets a caller in unless its context has ended or Redis is known to be away. After the cooldown one caller asks
// Redis again. The channel is closed when Redis goes away later.
func (l *Locker) admit(ctx context.Context) (outage <-chan struct{}, err error) {
	if ctx.Err() != nil {
		return nil, lock.WaitEnded(ctx)
	}
	outage, state := l.breaker.admit()
	switch state {
	case closed:
		return outage, nil
	case open:
		return nil, lock.ErrUnavailable
	default:
		if err := l.breaker.record(l.store.ping(ctx)); err != nil {
			return nil, unavailable(err)
		}
		outage, _ = l.breaker.admit()
		return outage, nil
	}
}

// claim is one caller's attempt to get a name.
type claim struct {
	locker    *Locker
	id, token string
	outage    <-chan struct{}
}

// newClaim hashes the name: Redis, its monitors and the traces of its commands must not see accounts and idempotency keys.
func (l *Locker) newClaim(name string, outage <-chan struct{}) claim {
	digest := sha256.Sum256([]byte(name))
	return claim{l, hex.EncodeToString(digest[:16]), rand.Text(), outage}
}

func (c claim) try(ctx context.Context) (lock.Lease, error) {
	asked := time.Now()
	taken, err := c.locker.store.take(ctx, c.id, c.token)
	if err = c.locker.breaker.record(err); err != nil {
		return nil, unavailable(err)
	}
	if !taken {
		return nil, lock.ErrHeld
	}
	return c.locker.hold(c.id, c.token, asked), nil
}

// poll tries until the caller has the name. One failed command does not end the wait; the breaker decides that Redis is
// away.
func (c claim) poll(ctx context.Context) (lock.Lease, error) {
	defer c.locker.waiting.Add(-1)
	if c.locker.waiting.Add(1) > int64(c.locker.config.MaxWaiters) {
		return nil, lock.ErrBusy
	}
	began := time.Now()
	timer := time.NewTimer(c.locker.pause(0))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-c.outage:
			return nil, lock.ErrUnavailable
		case <-ctx.Done():
			return nil, lock.WaitEnded(ctx)
		}
		if held, err := c.try(ctx); err == nil {
			return held, nil
		}
		timer.Reset(c.locker.pause(time.Since(began)))
	}
}

// pause is the time until the next poll of a caller that has waited so long, with a jitter of a half either way.
func (l *Locker) pause(waited time.Duration) time.Duration {
	longest := max(longestPause, time.Duration(l.waiting.Load())*pausePerWaiter)
	pause := min(max(waited/8, shortestPause), longest)
	return pause/2 + mathrand.N(pause) //nolint:gosec // jitter needs no secrecy
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", lock.ErrUnavailable, err) }
