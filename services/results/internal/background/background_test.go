package background_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/background"
)

func TestWorkIsRepeatedAfterThePauseThatItReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var at []time.Duration
		background.Repeat(ctx, func(context.Context) time.Duration {
			at = append(at, time.Since(begun))
			if len(at) == 4 {
				cancel()
			}
			return []time.Duration{time.Second, 0, time.Minute, time.Hour}[len(at)-1]
		})
		want := []time.Duration{0, time.Second, time.Second, time.Minute + time.Second}
		if !slices.Equal(at, want) || time.Since(begun) != want[3] {
			t.Errorf("it worked at %v and ended after %v, want %v", at, time.Since(begun), want)
		}
	})
}

func TestWorkThatFailsIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begun := time.Now()
		var at []time.Duration
		var logged bytes.Buffer
		failures, metrics := prometheus.NewCounter(prometheus.CounterOpts{Name: "failures"}), prometheus.NewRegistry()
		metrics.MustRegister(failures)
		background.Work{
			Name: "doing it", AfterFailure: time.Minute, Failures: failures, Log: slog.New(slog.NewTextHandler(&logged, nil)),
			Do: background.Every(time.Hour, func(context.Context) (bool, error) {
				at = append(at, time.Since(begun))
				switch len(at) {
				case 1:
					return true, errors.New("away")
				case 4:
					cancel()
					return false, context.Canceled
				}
				return len(at) == 2, nil
			}),
		}.Run(ctx)
		if want := []time.Duration{0, time.Minute, time.Minute, time.Hour + time.Minute}; !slices.Equal(at, want) {
			t.Errorf("it worked at %v, want %v", at, want)
		}
		if n := metrictest.Value(t, metrics, "failures"); n != 1 {
			t.Errorf("%v failures were counted, want 1", n)
		}
		if text := logged.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `msg="doing it failed and will be repeated" error=away`) {
			t.Errorf("logged %q", text)
		}
	})
}

func TestATurnEnds(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for name, test := range map[string]struct {
		pieces []error // nil: the piece is done, and others follow
		last   bool    // the last of pieces says that no other follows
		done   int
		took   time.Duration
		more   bool
		err    error
	}{
		"after its pieces":      {pieces: make([]error, 5), done: 3, took: 9 * time.Second, more: true},
		"with the last piece":   {pieces: make([]error, 2), last: true, done: 2, took: 6 * time.Second},
		"with one that fails":   {pieces: []error{nil, away}, done: 2, took: 4 * time.Second, err: away},
		"with one that is late": {pieces: []error{nil, context.DeadlineExceeded}, done: 2, took: 13 * time.Second, err: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				turn := background.Turn{Pieces: 3, Limit: 10 * time.Second, Pause: func(took time.Duration) time.Duration { return 2 * took }}
				begun, done := time.Now(), 0
				more, err := turn.Do(t.Context(), func(ctx context.Context) (bool, error) {
					err := test.pieces[done]
					done++
					if errors.Is(err, context.DeadlineExceeded) {
						<-ctx.Done()
						return true, ctx.Err()
					}
					<-time.After(time.Second)
					return !test.last || done < len(test.pieces), err
				})
				if more != test.more || !errors.Is(err, test.err) || done != test.done || time.Since(begun) != test.took {
					t.Errorf("%d pieces in %v, more: %v, %v", done, time.Since(begun), more, err)
				}
			})
		})
	}
	t.Run("with its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		turn := background.Turn{Pieces: 3, Limit: time.Minute, Pause: func(time.Duration) time.Duration { return time.Hour }}
		more, err := turn.Do(ctx, func(context.Context) (bool, error) { cancel(); return true, nil })
		if !more || err != nil {
			t.Errorf("more: %v, %v", more, err)
		}
	})
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if !background.Pause(ctx, time.Second) || time.Since(begun) != time.Second {
			t.Errorf("a pause of a second took %v", time.Since(begun))
		}
		if background.Pause(ctx, time.Hour) || time.Since(begun) != time.Minute {
			t.Errorf("a pause whose context ended after a minute took %v", time.Since(begun))
		}
	})
}
