package dbclock

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// database is a clock that is ahead of the machine's, or away.
type database struct {
	ahead atomic.Int64 // a time.Duration
	takes time.Duration
	err   error
}

func (d *database) read(ctx context.Context) (time.Time, error) {
	select {
	case <-time.After(d.takes / 2):
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	at := time.Now().Round(0).Add(time.Duration(d.ahead.Load()))
	<-time.After(d.takes / 2)
	return at, d.err
}

func (d *database) clock(ahead time.Duration) (*Clock, *bytes.Buffer) {
	d.ahead.Store(int64(ahead))
	var log bytes.Buffer
	return New(d.read, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func shows(t *testing.T, c *Clock, ahead time.Duration) {
	t.Helper()
	if got := c.Now().Sub(time.Now().Round(0)); got != ahead {
		t.Errorf("the clock is %s ahead, want %s", got, ahead)
	}
}

// spec: one-clock
func TestTheClockIsThatOfTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &database{takes: 100 * time.Millisecond}
		c, _ := d.clock(-time.Minute)
		shows(t, c, 0) // nothing was read
		c.Read(t.Context())
		shows(t, c, -time.Minute)
		<-time.After(time.Hour)
		shows(t, c, -time.Minute)
	})
}

// spec: one-clock
func TestTheClockFollowsTheDatabaseWithinTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &database{}
		c, _ := d.clock(0)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Run(ctx)
		}()
		<-time.After(time.Minute)
		d.ahead.Store(int64(time.Hour))
		<-time.After(interval + time.Millisecond)
		shows(t, c, time.Hour)
		stop()
		<-ended
	})
}

// spec: one-clock
func TestADatabaseThatIsAwayOrSlowStopsNoClock(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*database){
		"away":  func(d *database) { d.err = errors.New("away") },
		"hangs": func(d *database) { d.takes = time.Hour },
		"slow":  func(d *database) { d.takes = patience + time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &database{}
				c, _ := d.clock(time.Hour)
				c.Read(t.Context())
				d.ahead.Store(int64(-time.Hour))
				fail(d)
				c.Read(t.Context())
				shows(t, c, time.Hour)
			})
		})
	}
}

func TestTheLogNamesAClockThatDiffersOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &database{}
		c, log := d.clock(-time.Minute)
		for range 3 {
			c.Read(t.Context())
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "ahead=1m0s") {
			t.Errorf("the log is %q", text)
		}
		d.ahead.Store(0)
		c.Read(t.Context())
		d.ahead.Store(int64(notable))
		c.Read(t.Context())
		if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "ahead=-1s") {
			t.Errorf("the log is %q", text)
		}
	})
}
