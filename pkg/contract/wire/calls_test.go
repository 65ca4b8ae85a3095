package wire_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/httpkit"
)

// asking is a model of one function.
type asking func(context.Context, contract.Ask) (contract.Outcome, error)

func (f asking) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) { return f(ctx, a) }

func (asking) States(context.Context) ([]api.ModelState, error) { return nil, nil }

func (f asking) Check(context.Context, string) (contract.ModelCheck, error) {
	return contract.ModelCheck{}, nil
}

func (f asking) List(context.Context) ([]api.Model, error) { return nil, nil }

// connectModels serves a model until the test ends, and connects to it.
func connectModels(t *testing.T, cfg httpkit.Config, m contract.Models) patient {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	url, ended := serveUntil(ctx, t, cfg, func(app *fiber.App, log *slog.Logger) { wire.MountModels(app, m, tokens(token), log) })
	c := dialModels(t, url)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// patient is a model whose callers wait for as long as a machine of any load takes.
type patient struct{ wire.Models }

func (p patient) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Minute)
		defer cancel()
	}
	return p.Models.Ask(ctx, a)
}

func dialModels(t *testing.T, url string) patient {
	t.Helper()
	return patient{dial(t, url, token, wire.NewModels)}
}

func echo(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	return contract.Outcome{Error: a.Context}, nil
}

func TestEachCallGetsItsOwnResponse(t *testing.T) {
	t.Parallel()
	c := connectModels(t, httpkit.Config{}, asking(echo))
	var group sync.WaitGroup
	for caller := range 10 {
		group.Go(func() {
			for i := caller; i < 300; i += 10 {
				said := strconv.Itoa(i) + strings.Repeat(" text", i*i/100)
				got, err := c.Ask(t.Context(), contract.Ask{Context: said})
				if err != nil || got.Error != said {
					t.Errorf("call %d: %d bytes %.20q, %v", i, len(got.Error), got.Error, err)
				}
			}
		})
	}
	group.Wait()
}

func TestACallThatNobodyWaitsForHoldsNoOther(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	c := connectModels(t, httpkit.Config{}, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
		if a.Context == "hang" {
			<-release
		}
		return echo(ctx, a)
	}))
	for range 10 { // more than there are connections
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := c.Ask(ctx, contract.Ask{Context: "hang"})
		cancel()
		if err == nil {
			t.Error("a response came from a model that hangs")
		}
		if got, err := c.Ask(t.Context(), contract.Ask{Context: "next"}); err != nil || got.Error != "next" {
			t.Errorf("the next call: %+v, %v", got, err)
		}
	}
}

// A service that would give up together with its caller could not tell it what became of the call.
//
// spec: edits-that-time-out
func TestAServiceGivesUpBeforeItsCaller(t *testing.T) {
	t.Parallel()
	for wait, most := range map[time.Duration]time.Duration{
		time.Minute: time.Minute - 200*time.Millisecond, 800 * time.Millisecond: 700 * time.Millisecond,
	} {
		var left time.Duration
		c := connectModels(t, httpkit.Config{}, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			ends, _ := ctx.Deadline()
			left = time.Until(ends)
			return echo(ctx, a)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := c.Ask(ctx, contract.Ask{})
		cancel()
		if left > most {
			t.Errorf("a service whose caller waits %v has %v (%v), want at most %v", wait, left, err, most)
		}
	}
}

func TestACallInFlightOutlivesTheStopOfItsService(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	url, ended := serveUntil(ctx, t, httpkit.Config{}, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			if a.Context == "in flight" { // one of those below may still come in before the service drains
				close(arrived)
				<-release
			}
			return echo(ctx, a)
		}), tokens(token), log)
	})
	c := dialModels(t, url)
	responded := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), contract.Ask{Context: "in flight"})
		responded <- err
	}()
	<-arrived
	stop()
	// It drains: new calls are refused, and know that nothing was taken.
	for {
		if _, err := c.Ask(t.Context(), contract.Ask{}); errors.Is(err, contract.ErrUnavailable) {
			break
		} else if err != nil {
			t.Fatalf("a new call: %v", err)
		}
	}
	close(release)
	if err := <-responded; err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the stop: %v", err)
	}
}

// A call that arrives while its service stops gets its response, or the caller learns that the service did not take the
// call, if the call arrives before the listener closes. So the clock of the stop waits for the callers here.
func TestNoResponseIsLostToAStop(t *testing.T) {
	t.Parallel()
	for range 20 {
		ctx, stop := context.WithCancel(t.Context())
		refused := make(chan time.Time)
		deps := httpkit.Deps{After: func(d time.Duration) <-chan time.Time {
			if d < time.Second {
				return refused
			}
			return time.After(d)
		}}
		url, ended := serveWith(ctx, t, httpkit.Config{}, deps, func(app *fiber.App, log *slog.Logger) {
			wire.MountModels(app, asking(echo), tokens(token), log)
		})
		c := dialModels(t, url)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					if _, err := c.Ask(t.Context(), contract.Ask{}); errors.Is(err, contract.ErrUnavailable) {
						return
					} else if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		if _, err := c.Ask(t.Context(), contract.Ask{}); err != nil {
			t.Error(err)
		}
		stop()
		group.Wait()
		close(refused)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

func TestAServiceThatDrainsStillResponds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	url, ended := serveUntil(ctx, t, httpkit.Config{DrainDelay: time.Second}, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, asking(echo), tokens(token), log)
	})
	c := dialModels(t, url)
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "before"}); err != nil {
		t.Fatal(err)
	}
	stop()
	refused := false
	for !refused {
		_, err := c.Ask(t.Context(), contract.Ask{Context: "while it drains"})
		refused = errors.Is(err, contract.ErrUnavailable)
		if err != nil && !refused {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// spec: fair-shares
func TestACallTellsForWhomItCounts(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	told := "" // calls come one by one
	url, ended := serveUntil(ctx, t, httpkit.Config{}, func(app *fiber.App, log *slog.Logger) {
		app.Use(func(c *fiber.Ctx) error {
			told = wire.AccountOf(c.Context())
			return c.Next()
		})
		wire.MountModels(app, asking(func(context.Context, contract.Ask) (contract.Outcome, error) {
			return contract.Outcome{Error: "for " + told}, nil
		}), tokens(token), log)
	})
	c := dialModels(t, url)
	for _, account := range []string{"", "0190a0a0-0000-7000-8000-000000000001", "2001:db8::"} {
		got, err := c.Ask(fair.With(t.Context(), account), contract.Ask{})
		if err != nil || got.Error != "for "+account {
			t.Errorf("%q: got %q, %v", account, got.Error, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestACallBeyondTheBoundIsRefused(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	c := connectModels(t, httpkit.Config{MaxInFlight: 1, MaxBodyBytes: wire.BodyLimit},
		asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			if a.Context == "first" {
				arrived <- struct{}{}
				<-release
			}
			return echo(ctx, a)
		}))
	first := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), contract.Ask{Context: "first"})
		first <- err
	}()
	<-arrived
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "second"}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want that nothing was taken", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	for { // its place is free again when its response was sent
		if _, err := c.Ask(t.Context(), contract.Ask{Context: "third"}); err == nil {
			return
		} else if !errors.Is(err, contract.ErrUnavailable) {
			t.Fatal(err)
		}
	}
}

func TestAPanicCostsItsCallAlone(t *testing.T) {
	t.Parallel()
	c := connectModels(t, httpkit.Config{}, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
		if a.Context == "panic" {
			panic("on purpose")
		}
		return echo(ctx, a)
	}))
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "panic"}); err == nil || errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want a fault", err)
	}
	if got, err := c.Ask(t.Context(), contract.Ask{Context: "next"}); err != nil || got.Error != "next" {
		t.Errorf("the next call: %+v, %v", got, err)
	}
}
