package runs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/runs"
)

// watched is a store that tells of its calls.
type watched struct {
	runs.Store
	changes []int // of the next calls of TendRuns; an error behind them
	tended  atomic.Int64
	queue   runs.Queue
	mended  atomic.Int64
}

func (r *watched) MendTimes(context.Context, time.Time) (int, error) {
	r.mended.Add(1)
	return 1, nil
}

func (r *watched) TendRuns(context.Context, time.Time) (int, error) {
	r.tended.Add(1)
	if len(r.changes) == 0 {
		return 0, errors.New("away")
	}
	n := r.changes[0]
	r.changes = r.changes[1:]
	return n, nil
}

func (r *watched) QueueOfRuns(context.Context, time.Time) (runs.Queue, error) { return r.queue, nil }

func newTender(r *watched) *runs.Tender {
	return runs.NewTender(runs.TenderDeps{Store: r, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

func TestWhatIsDueIsDoneToItsEnd(t *testing.T) {
	t.Parallel()
	r := &watched{changes: []int{3, 1, 0, 0}}
	w := newTender(r)
	if err := w.Tend(t.Context()); err != nil || r.tended.Load() != 3 {
		t.Errorf("%d calls, %v, want 3", r.tended.Load(), err)
	}
}

// spec: run-queue
func TestTheQueueIsMeasuredAndRunsAreTendedEverySecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &watched{
			changes: []int{0, 0, 0, 0}, // and then it is away
			queue:   runs.Queue{Runs: 2, PendingRows: 70, Leases: 3, OldestSince: time.Now().Add(-40 * time.Second)},
		}
		w := newTender(r)
		metrics := prometheus.NewRegistry()
		if err := w.Measure(metrics); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 9*time.Second+time.Millisecond)
		defer stop()
		w.Run(ctx)
		if n := r.tended.Load(); n != 10 {
			t.Errorf("tended %d times in 9 seconds, want 10", n)
		}
		if n := r.mended.Load(); n != 1 {
			t.Errorf("mended %d times in 9 seconds, want 1", n)
		}
		families, err := metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"prism_run_queue_runs": 2, "prism_run_queue_rows": 70, "prism_run_queue_leases": 3, "prism_run_queue_seconds": 40,
			"prism_runs_tended_total ok": 4, "prism_runs_tended_total failed": 6,
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
	})
}

// spec: run-states
func TestRunsAreTendedSoonWhenLeasesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &watched{changes: make([]int, 100)}
		w := newTender(r)
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer stop()
		go w.Run(ctx)
		wantAfter := func(d time.Duration, want int64) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			if n := r.tended.Load(); n != want {
				t.Errorf("tended %d times, want %d", n, want)
			}
		}
		wantAfter(10*time.Millisecond, 1)
		w.LeaseEnded()
		w.LeaseEnded()
		wantAfter(250*time.Millisecond, 2)
		wantAfter(500*time.Millisecond, 2)
		for range 100 { // of a run at full speed
			w.LeaseEnded()
			<-time.After(20 * time.Millisecond)
		}
		wantAfter(0, 10)
		<-ctx.Done()
	})
}
