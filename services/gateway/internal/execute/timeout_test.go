package execute

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeoutEndsAsThatOfTheStandardLibrary holds withTimeout to context.WithTimeout, by the error and by Done.
func TestTimeoutEndsAsThatOfTheStandardLibrary(t *testing.T) {
	t.Parallel()
	type key struct{}
	cases := []struct {
		name   string
		parent func(context.Context) (context.Context, context.CancelFunc)
		act    func(endParent, cancel context.CancelFunc) // between the beginning and the check
	}{
		{"under way", context.WithCancel, func(_, _ context.CancelFunc) {}},
		{"canceled", context.WithCancel, func(_, cancel context.CancelFunc) { cancel() }},
		{"canceled twice", context.WithCancel, func(_, cancel context.CancelFunc) { cancel(); cancel() }},
		{"the parent is canceled", context.WithCancel, func(endParent, _ context.CancelFunc) { endParent() }},
		{"the time is over", context.WithCancel, func(_, _ context.CancelFunc) { <-time.After(2 * time.Second) }},
		{"canceled after the time", context.WithCancel, func(_, cancel context.CancelFunc) { <-time.After(2 * time.Second); cancel() }},
		{"the parent is canceled, and the time is over", context.WithCancel, func(endParent, _ context.CancelFunc) {
			endParent()
			<-time.After(2 * time.Second)
		}},
		{"the parent ends earlier", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Millisecond)
		}, func(_, _ context.CancelFunc) { <-time.After(2 * time.Millisecond) }},
		{"the parent ends later", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, func(_, _ context.CancelFunc) { <-time.After(2 * time.Second) }},
	}
	for _, test := range cases {
		for _, waited := range []bool{false, true} {
			name := test.name
			if waited {
				name += ", somebody waits"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					type outcome struct {
						done     bool
						err      error
						deadline time.Time
						value    any
					}
					run := func(with func(context.Context, time.Duration) (context.Context, context.CancelFunc)) outcome {
						parent, endParent := test.parent(context.WithValue(t.Context(), key{}, "kept"))
						defer endParent()
						ctx, cancel := with(parent, time.Second)
						defer cancel()
						began := time.Now()
						if waited {
							ctx.Done()
						}
						test.act(endParent, cancel)
						synctest.Wait()
						o := outcome{err: ctx.Err(), value: ctx.Value(key{})}
						at, _ := ctx.Deadline()
						o.deadline = time.Time{}.Add(at.Sub(began))
						select {
						case <-ctx.Done():
							o.done = true
						default:
						}
						if o.done && !errors.Is(ctx.Err(), o.err) {
							t.Errorf("%v became %v", o.err, ctx.Err())
						}
						return o
					}
					if got, want := run(withTimeout), run(context.WithTimeout); got != want {
						t.Errorf("got %+v, want %+v", got, want)
					}
				})
			})
		}
	}
}

// TestTimeoutOfATimeoutNeedsNoGoroutine tests that package context sees through the context.
func TestTimeoutOfATimeoutNeedsNoGoroutine(t *testing.T) { //nolint:paralleltest // counts goroutines
	ctx, cancel := withTimeout(t.Context(), time.Minute)
	before := runtime.NumGoroutine()
	child, end := context.WithCancel(ctx)
	defer end()
	if after := runtime.NumGoroutine(); after != before {
		t.Errorf("%d goroutines became %d", before, after)
	}
	cancel()
	<-child.Done()
}
