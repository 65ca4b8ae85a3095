package ask

import (
	"context"
	"sync"
	"time"

	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

// result is how one call ended.
type result struct {
	reply provider.Reply
	fault *upstream.Fault
	err   error // a panic of the provider
}

// complete reports whether every question of the call has a usable answer.
func (r result) complete(c provider.Call) bool {
	if r.err != nil || r.fault != nil || len(r.reply.Answers) < len(c.Questions) {
		return false
	}
	for _, a := range r.reply.Answers {
		if a == nil {
			return false
		}
	}
	return true
}

// all executes the calls, at most MaxParallel at a time, and returns their results.
//
// The first call in question order that fails decides the ask, so that the same faults always give the same error text.
// Calls after a failed one are cancelled or not started, and their results must not be read. Calls before a failed one
// continue, since one of them may still fail.
func (s *Asker) all(ctx context.Context, calls []provider.Call) []result {
	results := make([]result, len(calls))
	if len(calls) == 1 {
		results[0] = s.call(ctx, calls[0])
		return results
	}
	var (
		mu      sync.Mutex
		next    int
		failed  = len(calls) // the first call that failed
		cancels = make([]context.CancelFunc, len(calls))
	)
	take := func() (context.Context, int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= failed {
			return nil, 0, false
		}
		i := next
		next++
		own, cancel := context.WithCancel(ctx)
		cancels[i] = cancel
		return own, i, true
	}
	end := func(i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		cancels[i]()
		if ok {
			return
		}
		failed = min(failed, i)
		for _, cancel := range cancels[i+1 : next] {
			cancel()
		}
	}
	var workers sync.WaitGroup
	for range min(s.cfg.MaxParallel, len(calls)) {
		workers.Go(func() {
			for {
				own, i, ok := take()
				if !ok {
					return
				}
				results[i] = s.call(own, calls[i])
				end(i, results[i].complete(calls[i]))
			}
		})
	}
	workers.Wait()
	return results
}

// call repeats a call until there is a reply, a fault that is not retryable, or no time or attempt left.
func (s *Asker) call(ctx context.Context, c provider.Call) result {
	for attempt := 1; ; attempt++ {
		var r result
		if err := s.guard(func() { r.reply, r.fault = c.Do(ctx) }); err != nil {
			return result{err: err}
		}
		if r.fault == nil || !r.fault.Retryable() || attempt >= s.cfg.MaxAttempts {
			return r
		}
		// A pause that is longer than the rest of the wait ends the attempts (spec: retry-after).
		pause := max(s.backoff(attempt), r.fault.RetryAfter)
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause {
			return r
		}
		if !sleep(ctx, pause) {
			return result{fault: &upstream.Fault{Kind: upstream.Cancelled}}
		}
	}
}

// backoff is the pause after an attempt, counted from 1. It doubles up to maxPause. Jitter shortens it by up to half, so that
// calls that failed together are not repeated together.
func (s *Asker) backoff(attempt int) time.Duration {
	full := maxPause
	if shift := attempt - 1; shift < 10 {
		full = min(firstPause<<shift, maxPause)
	}
	return full - time.Duration(s.cfg.Jitter()*float64(full)/2)
}

// sleep waits for d. It reports false when the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
