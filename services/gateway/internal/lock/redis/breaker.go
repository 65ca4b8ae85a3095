package redis

import (
	"log/slog"
	"sync"
	"time"
)

// tripAfter is how many commands in a row have to fail before Redis counts as away. A single failure may be a broken
// connection or a process that got no processor, which is no reason to end every wait.
const tripAfter = 2

type state int

const (
	closed state = iota // Redis answers
	open                // Redis is away
	trial               // Redis was away, and this caller asks whether it still is
)

// breaker remembers that Redis is away, so that only the first calls wait for a command to fail.
type breaker struct {
	cooldown time.Duration
	log      *slog.Logger

	mu       sync.Mutex
	failures int // in a row
	isOpen   bool
	isShut   bool
	trying   bool
	retryAt  time.Time
	outage   chan struct{} // closed while Redis is away
}

func newBreaker(cooldown time.Duration, log *slog.Logger) *breaker {
	return &breaker{cooldown: cooldown, log: log, outage: make(chan struct{})}
}

// admit returns the state, and a channel that is closed when Redis goes away later. After trial the caller records the
// outcome of its command.
func (b *breaker) admit() (outage <-chan struct{}, s state) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.isOpen:
		return b.outage, closed
	case b.isShut || b.trying || time.Now().Before(b.retryAt):
		return b.outage, open
	default:
		b.trying = true
		return b.outage, trial
	}
}

// away tells whether Redis is known to be away.
func (b *breaker) away() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOpen
}

// record counts the outcome of a command, and returns err.
func (b *breaker) record(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isShut {
		return err
	}
	if err == nil {
		b.recover()
		return nil
	}
	b.failures++
	switch {
	case b.isOpen:
		b.trying = false
		b.retryAt = time.Now().Add(b.cooldown)
	case b.failures >= tripAfter:
		b.trip()
		b.log.Warn("Redis is away: calls go on without locks", "error", err)
	}
	return err
}

func (b *breaker) recover() {
	b.failures = 0
	if b.isOpen {
		b.isOpen, b.trying = false, false
		b.outage = make(chan struct{})
		b.log.Info("Redis is back: calls take locks again")
	}
}

func (b *breaker) trip() {
	b.isOpen = true
	b.retryAt = time.Now().Add(b.cooldown)
	close(b.outage)
}

// shut opens the breaker for good.
func (b *breaker) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isShut = true
	if !b.isOpen {
		b.trip()
	}
}
