package route

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
)

// turn is what a look at a run finds.
type turn struct {
	run string
	err error
}

// looking finds the turns one after the other, and then the last one for ever. It counts its looks.
func looking(looks *int, turns ...turn) func() (contract.Response, error) {
	return func() (contract.Response, error) {
		t := turns[min(*looks, len(turns)-1)]
		*looks++
		return contract.Response{Body: []byte(t.run)}, t.err
	}
}

func eventOf(run string) string { return "event: run\ndata: " + run + "\n\n" }

// spec: run-events
func TestARunIsSentWhenItHasChangedUntilItIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const one, two, over = `{"status":"running","ok":1}`, `{"status":"pausing","ok":2}`, `{"status":"cancelled"}`
		looks := 0
		e := newEvents(t.Context(), []byte(one), looking(&looks,
			turn{run: one}, turn{err: contract.ErrUnavailable}, turn{err: apierr.Unavailable()}, turn{run: two}, turn{run: over}))
		began := time.Now()
		got, err := io.ReadAll(e)
		if want := eventOf(one) + eventOf(two) + eventOf(over); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if took := time.Since(began); looks != 5 || took != 5*eventPause {
			t.Errorf("%d looks in %v", looks, took)
		}
	})
}

// spec: run-events
func TestASilentStreamIsKeptOpenUntilTheServiceStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopping, stop := context.WithCancel(t.Context())
		looks := 0
		const run = `{"status":"queued"}`
		e := newEvents(stopping, []byte(run), looking(&looks, turn{run: run}))
		time.AfterFunc(2*eventSilence+time.Second, stop)
		began := time.Now()
		got, err := io.ReadAll(e)
		if err != nil || strings.Count(string(got), ": no change\n\n") != 2 || !strings.HasPrefix(string(got), eventOf(run)) {
			t.Errorf("got %q, %v", got, err)
		}
		if took := time.Since(began); took != 2*eventSilence+time.Second {
			t.Errorf("it ended after %v", took)
		}
		_ = e.Close()
	})
}

// spec: run-events, key-revocation
func TestAKeyThatIsRevokedSeesNoMoreOfARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		e := newEvents(t.Context(), []byte(`{"status":"running"}`), looking(&looks, turn{err: errors.New("a fault")}, turn{err: apierr.InvalidAPIKey()}))
		if got, err := io.ReadAll(e); err != nil || string(got) != eventOf(`{"status":"running"}`) || looks != 2 {
			t.Errorf("got %q, %v after %d looks", got, err, looks)
		}
	})
}
