package runs

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// spec: rows-saved-together
func TestRowsAreSavedTogether(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{}, 200, 200, 37)
		rows := okAfter(50 * time.Millisecond)
		w := start(t, s, rows, Config{})
		pass(2 * time.Second)
		over, leases := s.over()
		if over != 437 || leases != 0 || s.empty != 0 {
			t.Errorf("%d rows are over, %d leases left, %d saves without rows", over, leases, s.empty)
		}
		if s.saves > 20 {
			t.Errorf("%d saves", s.saves)
		}
		if n := testutil.ToFloat64(w.Service.metrics.rows.WithLabelValues(rowOK)); n != 437 {
			t.Errorf("%v rows counted", n)
		}
		if took := w.stop(); took != 0 {
			t.Errorf("an idle worker stopped after %s", took)
		}
	})
}

// spec: rows-saved-together
func TestAnOutcomeIsSavedBeforeItsChunkIsOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{RowsPerSecond: 1}, 20)
		w := start(t, s, okAfter(0), Config{})
		pass(5*time.Second + 200*time.Millisecond)
		if over, leases := s.over(); over != 6 || leases != 1 {
			t.Errorf("%d rows are saved, %d leases", over, leases)
		}
		w.stop()
	})
}

// spec: rows-saved-together
func TestASaveHasABoundedSizeOrOneRow(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		const small, rows = 150, 30
		s.add(1, 1, "", contract.RowLimits{}, small+rows)
		largest := []string{strings.Repeat("x", 1<<20), strings.Repeat("\x01", 170_000)} // a call, and one that is as long in JSON
		answers := &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
			o := okRow(row)
			if row.Row > small {
				o.Save.Fields = []prism.FieldValue{{Key: "f", Value: largest[row.Row%2]}}
			}
			return o, nil
		}}
		m := &measured{store: s}
		w := start(t, m, answers, Config{})
		pass(5 * time.Second)
		over, leases := s.over()
		if over != small+rows || leases != 0 || s.empty != 0 || s.twice != 0 {
			t.Errorf("%d rows are over, %d leases, %d saves without rows, %d rows saved twice", over, leases, s.empty, s.twice)
		}
		if m.largest > contract.SaveBytes || m.done != 1 || s.saves < rows/2 {
			t.Errorf("of %d saves the largest has %d bytes, and %d end the lease", s.saves, m.largest, m.done)
		}
		if _, began := answers.count(); began != small+rows {
			t.Errorf("%d rows began", began)
		}
		w.stop()
	})
}

// measured measures what is saved.
type measured struct {
	*store
	largest, done int
}

func (m *measured) SaveRows(ctx context.Context, rows contract.SaveRows) error {
	b, err := strictjson.Marshal(rows)
	if err != nil {
		return err
	}
	m.change(func() {
		m.largest = max(m.largest, len(b))
		if rows.Done {
			m.done++
		}
	})
	return m.store.SaveRows(ctx, rows)
}

// spec: rows-saved-together
func TestASaveIsRepeatedAndNothingBeginsMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{Concurrency: 1}, 100)
		rows := okAfter(10 * time.Millisecond)
		w := start(t, s, rows, Config{})
		pass(50 * time.Millisecond)
		s.change(func() { s.away = errAway })
		pass(time.Second)
		_, before := rows.count()
		pass(10 * time.Second)
		if _, began := rows.count(); began != before || before > 15 {
			t.Errorf("%d rows began, then %d", before, began)
		}
		s.change(func() { s.away = nil })
		pass(10 * time.Second)
		if over, leases := s.over(); over != 100 || leases != 0 {
			t.Errorf("%d rows are over, %d leases", over, leases)
		}
		for id, n := range rows.times {
			if n != 1 {
				t.Errorf("row %s was answered %d times", id, n)
			}
		}
		w.stop()
	})
}

// spec: worker-leases
func TestOfALostLeaseNothingIsSavedAndNothingBegins(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{Concurrency: 2}, 200)
		rows := okAfter(40 * time.Millisecond)
		w := start(t, s, rows, Config{})
		pass(10 * time.Millisecond)
		s.change(func() {
			s.chunks[0].until, s.chunks[0].Token, s.chunks[0].stop = time.Now().Add(time.Hour), prism.UUID{7}, true
		})
		pass(20 * time.Second)
		over, _ := s.over()
		if _, began := rows.count(); over != 0 || began > 30 {
			t.Errorf("%d rows were saved, %d began", over, began)
		}
		if n := len(w.leased()); n != 0 {
			t.Errorf("%d leases are kept", n)
		}
		w.stop()
	})
}

// spec: worker-leases
func TestALeaseThatIsNotRenewedBeginsNoRow(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{RowsPerSecond: 1}, 200)
		rows := okAfter(0)
		w := start(t, deaf{s}, rows, Config{})
		pass(59 * time.Second)
		if _, began := rows.count(); began != 40 {
			t.Errorf("%d rows began", began)
		}
		w.stop()
	})
}

// deaf does not renew leases.
type deaf struct{ *store }

func (deaf) RenewLeases(context.Context, []contract.Lease) ([]contract.LeaseState, error) {
	return nil, errAway
}

func TestLeasesAreRenewedWhileRowsAreAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{RowsPerSecond: 1}, 190)
		rows := okAfter(time.Second)
		w := start(t, s, rows, Config{})
		pass(200 * time.Second)
		if over, leases := s.over(); over != 190 || leases != 0 || s.renews < 370 {
			t.Errorf("%d rows are over, %d leases, %d renewals", over, leases, s.renews)
		}
		w.stop()
	})
}

// spec: worker-pauses
func TestAPauseBeginsNoRowAndSavesThoseUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{Concurrency: 4}, 200)
		rows := okAfter(10 * time.Second)
		w := start(t, s, rows, Config{})
		pass(time.Second)
		s.change(func() { s.chunks[0].stop = true })
		pass(8 * time.Second)
		if running, began := rows.count(); running != 4 || began != 4 {
			t.Errorf("%d rows run, %d began", running, began)
		}
		pass(2 * time.Second)
		if over, leases := s.over(); over != 4 || leases != 0 {
			t.Errorf("%d rows are over, %d leases", over, leases)
		}
		s.change(func() { s.chunks[0].stop = false })
		pass(2 * time.Second)
		if _, began := rows.count(); began != 8 {
			t.Errorf("%d rows began after the run went on", began)
		}
		w.stop()
	})
}

// spec: worker-stop
func TestAStopEndsWhatIsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{}, 200, 200)
		rows := okAfter(15 * time.Second)
		w := start(t, s, rows, Config{})
		pass(time.Second)
		took := w.stop()
		if running, began := rows.count(); took != 14*time.Second || running != 0 || began != slowStart {
			t.Errorf("stopped after %s: %d rows run, %d began", took, running, began)
		}
		if over, leases := s.over(); over != slowStart || leases != 0 {
			t.Errorf("%d rows are over, %d leases are left to others", over, leases)
		}
	})
}

// spec: worker-stop
func TestAStopGivesUpSavingAfterSomeTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{}, 3)
		w := start(t, s, okAfter(time.Second), Config{})
		pass(500 * time.Millisecond)
		s.change(func() { s.away = errAway })
		if took := w.stop(); took > callsEnd+savesEnd {
			t.Errorf("stopped after %s", took)
		}
	})
}

// spec: run-pace
func TestRowsKeepThePaceOfTheirLease(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{RowsPerSecond: 10}, 1000)
		rows := okAfter(50 * time.Millisecond)
		w := start(t, s, rows, Config{})
		began := func(d time.Duration) int {
			_, before := rows.count()
			pass(d)
			_, after := rows.count()
			return after - before
		}
		pass(time.Second)
		if n := began(10 * time.Second); n < 98 || n > 101 {
			t.Errorf("%d rows began in 10 s at 10 a second", n)
		}
		s.change(func() {
			for _, c := range s.chunks {
				c.RowLimits = contract.RowLimits{RowsPerSecond: 0.5}
			}
		})
		pass(time.Second) // learn of it
		if n := began(10 * time.Second); n != 5 {
			t.Errorf("%d rows began in 10 s at one in 2 s", n)
		}
		s.change(func() {
			for _, c := range s.chunks {
				c.RowLimits = contract.RowLimits{RowsPerSecond: math.SmallestNonzeroFloat64}
			}
		})
		pass(3 * time.Second) // learn of it
		if n := began(time.Minute); n > 1 {
			t.Errorf("%d rows began in a minute at fewer than one in a thousand years", n)
		}
		s.change(func() {
			for _, c := range s.chunks {
				c.RowLimits = contract.RowLimits{}
			}
		})
		if n := began(5 * time.Second); n < 380 {
			t.Errorf("%d rows began in 5 s without a limit", n)
		}
		w.stop()
	})
}

// spec: run-pace
func TestALeaseHasNoMoreRowsAtOnceThanItMay(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{Concurrency: 3}, 50)
		rows := okAfter(100 * time.Millisecond)
		w := start(t, s, rows, Config{})
		pass(3 * time.Second)
		if over, _ := s.over(); over != 50 || rows.most != 3 {
			t.Errorf("%d rows are over, %d were at once", over, rows.most)
		}
		w.stop()
	})
}

// spec: row-waits
func TestAnAccountOverItsLimitHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{}, chunksOf(MaxLeases+20)...)
		limited := prism.AccountID{UUID: prism.UUID{1}}
		rows := &answerer{do: func(_ context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
			if facts.Account == limited {
				return contract.RowOutcome{}, apierr.UnavailableFor(time.Hour)
			}
			return okRow(row), nil
		}}
		w := start(t, s, rows, Config{})
		pass(time.Minute)
		if _, leases := s.over(); leases > 2 {
			t.Errorf("%d chunks are leased that cannot be answered", leases)
		}
		s.add(2, 2, "", contract.RowLimits{}, 200, 200)
		pass(3 * time.Second)
		if over, _ := s.over(); over != 400 {
			t.Errorf("%d rows of another account are over", over)
		}
		w.stop()
	})
}

// A slow run is of one lease of the worker, so that others find room.
//
// spec: run-pace
func TestARunWithALimitHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{RowsPerSecond: 1}, chunksOf(MaxLeases+20)...)
		w := start(t, s, okAfter(10*time.Millisecond), Config{})
		pass(time.Minute)
		if _, leases := s.over(); leases != 1 {
			t.Errorf("%d chunks of a slow run are leased", leases)
		}
		s.add(2, 2, "", contract.RowLimits{}, 200, 200)
		before, _ := s.over()
		pass(3 * time.Second)
		if over, _ := s.over(); over-before < 400 {
			t.Errorf("%d rows are over", over-before)
		}
		w.stop()
	})
}

func TestASettingThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Concurrency: -1}, Deps{}); err == nil || err.Error() != "PRISM_RUNS_CONCURRENCY: must not be negative" {
		t.Errorf("got %v", err)
	}
}
