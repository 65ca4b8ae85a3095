package models

import (
	"errors"
	"math/bits"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// lastCalls is how many calls of a model decide whether it is skipped: when more than half of them failed.
	lastCalls = 20
	// skipTime is how long a model is skipped before it is tried with one call.
	skipTime = 5 * time.Second
)

var errFailed = errors.New("failed")

// breaker skips a model that fails (spec: model-breaker). It is safe for concurrent use.
type breaker struct {
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	// failed has a bit for each of the last calls since the breaker changed its state. The circuit's own counts have no such window.
	// All functions that use failed are called by the circuit under its lock.
	failed uint32
}

func newBreaker() *breaker {
	b := &breaker{}
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout: skipTime,
		IsSuccessful: func(err error) bool {
			b.failed = b.failed << 1 & (1<<lastCalls - 1)
			if err != nil {
				b.failed |= 1
			}
			return err == nil
		},
		ReadyToTrip:   func(gobreaker.Counts) bool { return bits.OnesCount32(b.failed) > lastCalls/2 },
		OnStateChange: func(string, gobreaker.State, gobreaker.State) { b.failed = 0 },
	})
	return b
}

// allow reports whether a call may be made. If so, done must be told how it ended.
func (b *breaker) allow() (done func(failed bool), ok bool) {
	end, err := b.circuit.Allow()
	if err != nil {
		return nil, false
	}
	return func(failed bool) {
		if failed {
			end(errFailed)
		} else {
			end(nil)
		}
	}, true
}

// open tells whether calls are skipped.
func (b *breaker) open() bool { return b.circuit.State() == gobreaker.StateOpen }
