package models

import (
	"errors"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// lastCalls is how many calls of a model decide whether it is skipped: when more than half of them failed.
	lastCalls = 20
	// skipTime is how long a model is skipped before it is tried with one call.
	skipTime = 5 * time.Second
)

// failedRequestError is a request that failed. A request that is made again counts once: what always fails says nothing of the others.
type failedRequestError uint64

func (failedRequestError) Error() string { return "failed" }

// breaker skips a model that fails (spec: model-breaker). It is safe for concurrent use.
type breaker struct {
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	// last has the last calls since the breaker changed its state: a request that failed, or 0. The circuit's own counts have no such
	// window. All functions that use last are called by the circuit under its lock.
	last []failedRequestError
}

func newBreaker() *breaker {
	b := &breaker{}
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout: skipTime,
		IsExcluded: func(err error) bool {
			request, failed := errors.AsType[failedRequestError](err)
			return failed && slices.Contains(b.last, request)
		},
		IsSuccessful: func(err error) bool {
			request, _ := errors.AsType[failedRequestError](err)
			if len(b.last) == lastCalls {
				b.last = slices.Delete(b.last, 0, 1)
			}
			b.last = append(b.last, request)
			return err == nil
		},
		ReadyToTrip: func(gobreaker.Counts) bool {
			failed := 0
			for _, request := range b.last {
				if request != 0 {
					failed++
				}
			}
			return failed > lastCalls/2
		},
		OnStateChange: func(string, gobreaker.State, gobreaker.State) { b.last = b.last[:0] },
	})
	return b
}

// allow reports whether a call may be made. If so, done must be told how it ended, and if it failed which request it was, not 0.
func (b *breaker) allow() (done func(failed bool, request uint64), ok bool) {
	end, err := b.circuit.Allow()
	if err != nil {
		return nil, false
	}
	return func(failed bool, request uint64) {
		if failed {
			end(failedRequestError(request))
		} else {
			end(nil)
		}
	}, true
}

// open tells whether calls are skipped.
func (b *breaker) open() bool { return b.circuit.State() == gobreaker.StateOpen }
