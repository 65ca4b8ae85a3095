package redis

import (
	"log/slog"
	"sync"
	"time"
)

// tripAfter is how many commands in a row have to fail before Redis counts as away. A single failure may be a broken
// connection or a process that got no processor, which is no reason to end every wait.
const tripAfter = 2

// breaker remembers that Redis is away, so that only the first calls wait for a command to fail.
type breaker struct {
	cooldown time.Duration
	log      *slog.Logger

	mu       sync.Mutex
	failures int       // in a row
	retryAt  time.Time // when one caller may ask a Redis that is away
}

// admit tells whether a caller may ask Redis. While Redis is away, one caller may after each cooldown.
func (b *breaker) admit() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < tripAfter:
		return true
	case time.Now().Before(b.retryAt):
		return false
	}
	b.retryAt = time.Now().Add(b.cooldown)
	return true
}

// away tells whether Redis is known to be away.
func (b *breaker) away() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures >= tripAfter
}

// record counts the outcome of a command.
func (b *breaker) record(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		if b.failures >= tripAfter {
			b.log.Info("Redis is back: calls take locks again")
		}
		b.failures = 0
		return
	}
	b.failures++
	b.retryAt = time.Now().Add(b.cooldown)
	if b.failures == tripAfter {
		b.log.Warn("Redis is away: calls go on without locks", "error", err)
	}
}
