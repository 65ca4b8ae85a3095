package drift_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a worker over a store with one prism of one yes_no question, at a time that the test sets.
type world struct {
	*sqlite.Store
	account prism.AccountID
	prism   prism.PrismID
	now     time.Time // 30 hours behind a whole hour
	random  *rand.Rand
	ids     uint16
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		Store: sqlitetest.New(t), account: prism.AccountID{UUID: prism.UUID{1}}, prism: prism.PrismID{UUID: prism.UUID{2}},
		random: rand.New(rand.NewPCG(1, 2)), now: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC),
	}
	must(t, w.CreateAccount(t.Context(), w.account, "a", w.by()), w.CreatePrism(t.Context(), w.account, prism.Prism{
		ID: w.prism, Slug: "p", Latest: version(1, 1),
	}, w.by()))
	return w
}

// version has so many questions, q0, q1, …
func version(number int32, questions int) prism.Version {
	v := prism.Version{Number: number}
	for i := range questions {
		v.Questions = append(v.Questions, prism.Question{Key: fmt.Sprintf("q%d", i), Type: prism.YesNo})
	}
	return v
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (w *world) by() store.By {
	by := storetest.By()
	by.At = w.now
	return by
}

func (w *world) worker() *drift.Worker {
	return drift.New(drift.Deps{Store: w.Store, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)})
}

// watch watches the prism, with a reference period unless that is empty.
func (w *world) watch(t *testing.T, from, to time.Time) {
	t.Helper()
	must(t, w.SetDrift(t.Context(), w.account, w.prism, drift.Change{
		Watched: true, Start: drift.Start(w.now), Version: 1, From: from, To: to,
	}, w.by()))
}

// save saves results of version 1 whose ids begin with a time, with probabilities of yes around one.
func (w *world) save(t *testing.T, at time.Time, n int, around float64) {
	t.Helper()
	for range n {
		odds := math.Log(around/(1-around)) + w.random.NormFloat64()/2
		w.saveResult(t, at, 1, fmt.Sprintf(`{"q0":{"type":"yes_no","probability":%.6f}}`, 1/(1+math.Exp(-odds))))
	}
}

// saveResult saves a result; without answers it failed.
func (w *world) saveResult(t *testing.T, at time.Time, version int32, answers string) {
	t.Helper()
	w.ids++
	id := prism.FirstUUID(at)
	id[14], id[15] = byte(w.ids>>8), byte(w.ids)
	r := prism.Result{ID: prism.ResultID{UUID: id}, Prism: w.prism, Version: version, Status: prism.OK, CreatedAt: at, Answers: []byte(answers)}
	if answers == "" {
		r.Status, r.Error, r.Answers = prism.Failed, "no", nil
	}
	_, err := w.SaveResult(t.Context(), w.account, r)
	must(t, err)
}

// count counts what is due.
func (w *world) count(t *testing.T, by *drift.Worker) {
	t.Helper()
	for {
		worked, err := by.Work(t.Context())
		must(t, err)
		if !worked {
			return
		}
	}
}

// pass lets time pass, and then counts.
func (w *world) pass(t *testing.T, d time.Duration) {
	t.Helper()
	w.now = w.now.Add(d)
	w.count(t, w.worker())
}

func (w *world) read(t *testing.T) drift.Last {
	t.Helper()
	watch, err := w.DriftWatch(t.Context(), w.account, w.prism)
	must(t, err)
	l, err := drift.Read(t.Context(), w.Store, watch, 1, nil)
	must(t, err)
	return l
}

// spec: drift-reference, drift-windows, drift-alarm, drift-too-few
func TestTheFirstResultsAreTheReferenceOfThoseBehindThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun := w.now
	w.watch(t, time.Time{}, time.Time{})
	w.saveResult(t, begun, 1, "") // a failed one is not counted
	w.save(t, begun, 1999, 0.8)
	w.pass(t, 5*time.Minute)
	l := w.read(t)
	if l.Reference.Kind != api.FirstResults || l.Reference.Results != 1999 || l.Day.Results != 0 || l.Day.Targets != nil {
		t.Errorf("reference of %d %s, day of %d", l.Reference.Results, l.Reference.Kind, l.Day.Results)
	}
	last := w.now
	w.save(t, last, 1, 0.8)
	w.save(t, last.Add(time.Minute), 99, 0.8)
	w.pass(t, 10*time.Minute)
	l = w.read(t)
	if l.Reference.Results != 2000 || !l.Reference.From.Equal(begun) || !l.Reference.To.Equal(last) || l.Hour.Results != 99 ||
		l.Hour.Targets[0].Known() || l.Hour.Targets[0].Alarm() {
		t.Errorf("reference of %d to %v, hour of %+v", l.Reference.Results, l.Reference.To, l.Hour)
	}
	w.save(t, w.now, 1, 0.8)
	w.pass(t, 5*time.Minute)
	if l = w.read(t); l.Hour.Results != 100 || !l.Hour.Targets[0].Known() || l.Hour.Targets[0].Alarm() {
		t.Errorf("without drift, hour of %+v", l.Hour)
	}
	// Other texts come.
	w.now = w.now.Add(2 * time.Hour)
	w.save(t, w.now, 400, 0.4)
	w.pass(t, 5*time.Minute)
	l = w.read(t)
	if hour := l.Hour.Targets[0]; l.Hour.Results != 400 || !hour.Probability.Alarm || !hour.Classes.Alarm || !l.Day.Targets[0].Alarm() || l.Day.Results != 500 {
		t.Errorf("with drift, hour of %+v, day of %+v", l.Hour, l.Day)
	}
	// And go again.
	w.pass(t, 3*time.Hour)
	if l = w.read(t); l.Hour.Results != 0 || l.Day.Results != 500 {
		t.Errorf("hours later, hour of %d, day of %d", l.Hour.Results, l.Day.Results)
	}
	w.pass(t, 24*time.Hour)
	if l = w.read(t); l.Day.Results != 0 || l.Reference.Results != 2000 {
		t.Errorf("days later, day of %d, reference of %d", l.Day.Results, l.Reference.Results)
	}
}

// spec: drift-reference-set, drift-not-compared
func TestAPeriodIsTheReferenceOfWhatIsOutsideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from := w.now
	w.save(t, from, 2600, 0.8)
	w.save(t, from.Add(59*time.Minute), 10, 0.8)
	w.save(t, from.Add(time.Hour), 150, 0.4)
	w.now = w.now.Add(2 * time.Hour)
	w.watch(t, from, from.Add(time.Hour))
	w.count(t, w.worker())
	l := w.read(t)
	if l.Reference.Kind != api.SetPeriod || l.Reference.Results != 2610 || l.Day.Results != 150 || !l.Day.Targets[0].Alarm() {
		t.Errorf("reference of %d, day of %+v", l.Reference.Results, l.Day)
	}
	watch, err := w.DriftWatch(t.Context(), w.account, w.prism)
	must(t, err)
	hours, days, err := drift.History(t.Context(), w.Store, watch, 1, l.Reference)
	must(t, err)
	if len(hours) != 2 || hours[0].Results != 2610 || hours[1].Results != 150 || !hours[1].Targets[0].Alarm() ||
		!hours[0].From.Equal(from) || len(days) != 1 || days[0].Results != 2760 || !days[0].From.Equal(from.Truncate(24*time.Hour)) {
		t.Errorf("hours %+v, days %+v", hours, days)
	}
	// Another reference needs no counting.
	w.watch(t, from.Add(time.Hour), from.Add(2*time.Hour))
	if l = w.read(t); l.Reference.Results != 150 || l.Day.Targets[0].Known() {
		t.Errorf("reference of %d, day of %+v", l.Reference.Results, l.Day)
	}
}

// spec: drift-counting, drift-late-results, drift-deleted
func TestEachResultIsCountedOnceByManyWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun := w.now
	w.watch(t, time.Time{}, time.Time{})
	for hour := range 100 { // more spans than one part counts
		w.save(t, begun.Add(time.Duration(hour)*time.Hour), 60, 0.8)
	}
	w.now = begun.Add(100 * time.Hour)
	w.save(t, w.now.Add(-drift.Lag-time.Millisecond), 1, 0.8)
	w.save(t, w.now.Add(-drift.Lag+time.Millisecond), 1, 0.8) // may have a neighbour that is being saved
	var workers sync.WaitGroup
	for range 4 {
		by := w.worker()
		workers.Go(func() {
			for range 50 {
				if _, err := by.Work(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	total := func() (n int64) {
		counts, err := w.DriftCounts(t.Context(), w.account, w.prism, 1, drift.OfHour, begun, w.now)
		must(t, err)
		for _, c := range counts {
			n += c.Results
		}
		return n
	}
	if n := total(); n != 6001 {
		t.Errorf("%d results are counted, want 6001", n)
	}
	if l := w.read(t); l.Day.Results != 24*60+1 || !l.CountedTo.Equal(w.now.Add(-drift.Lag)) {
		t.Errorf("%d results in the last day, counted to %v", l.Day.Results, l.CountedTo)
	}
	// What was counted stays when the result is deleted.
	must(t, w.DeleteResult(t.Context(), w.account, prism.ResultID{UUID: func() prism.UUID {
		id := prism.FirstUUID(begun)
		id[15] = 1
		return id
	}()}, w.by()))
	w.pass(t, 10*time.Minute)
	if n := total(); n != 6002 {
		t.Errorf("%d results are counted, want 6002", n)
	}
}

// leased is a store in which a worker of a run holds a chunk that it leased at a time.
type leased struct {
	*sqlite.Store
	at time.Time
}

func (l leased) OldestLease(context.Context, prism.AccountID, prism.PrismID) (time.Time, error) {
	return l.at, nil
}

// spec: drift-late-results
func TestCountingWaitsForTheRowsOfALease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun := w.now
	w.watch(t, time.Time{}, time.Time{})
	w.save(t, begun, 5, 0.8)
	w.now = w.now.Add(time.Hour)
	lease := begun.Add(10 * time.Minute)
	w.count(t, drift.New(drift.Deps{Store: leased{w.Store, lease}, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)}))
	if l := w.read(t); !l.CountedTo.Equal(lease) || l.Reference.Results != 5 {
		t.Errorf("counted %d to %v", l.Reference.Results, l.CountedTo)
	}
	w.save(t, lease.Add(time.Millisecond), 7, 0.8) // a row that is saved late
	w.pass(t, time.Minute)
	if l := w.read(t); l.Reference.Results != 12 {
		t.Errorf("counted %d", l.Reference.Results)
	}
}

// counted is a store that only the counting reads answers of.
type counted struct {
	*sqlite.Store
	t *testing.T
}

func (c counted) DriftAnswers(context.Context, prism.AccountID, prism.PrismID, prism.UUID, prism.UUID) ([]drift.Answer, error) {
	c.t.Error("answers are read")
	return nil, nil
}

// spec: drift-cost
func TestADriftIsReadFromItsCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.watch(t, time.Time{}, time.Time{})
	w.save(t, w.now, 10, 0.8)
	w.pass(t, time.Hour)
	watch, err := w.DriftWatch(t.Context(), w.account, w.prism)
	must(t, err)
	l, err := drift.Read(t.Context(), counted{w.Store, t}, watch, 1, nil)
	must(t, err)
	_, days, err := drift.History(t.Context(), counted{w.Store, t}, watch, 1, l.Reference)
	must(t, err)
	if l.Reference.Results != 10 || len(days) != 1 || days[0].Results != 10 {
		t.Errorf("reference of %d, days %+v", l.Reference.Results, days)
	}
}

// spec: drift-of-versions
func TestEachVersionHasItsOwnReference(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.AddVersion(t.Context(), w.account, prism.Prism{ID: w.prism, Latest: version(2, 2)}, nil, w.by()))
	w.watch(t, time.Time{}, time.Time{})
	w.save(t, w.now, 3, 0.8)
	w.saveResult(t, w.now, 2, `{"q0":{"type":"yes_no","probability":0.5},"q1":{"type":"yes_no","probability":0.5}}`)
	w.saveResult(t, w.now, 2, `not answers`) // cannot be read
	w.pass(t, time.Hour)
	watch, err := w.DriftWatch(t.Context(), w.account, w.prism)
	must(t, err)
	for number, want := range map[int32][2]int{1: {3, 1}, 2: {1, 2}} {
		l, err := drift.Read(t.Context(), w.Store, watch, number, nil)
		must(t, err)
		if l.Reference.Results != int64(want[0]) || len(l.Reference.Counts.Targets) != want[1] {
			t.Errorf("version %d: %d results of %d questions", number, l.Reference.Results, len(l.Reference.Counts.Targets))
		}
	}
}

// broken is a store that is away.
type broken struct{ *sqlite.Store }

func (broken) TakeDriftWatch(context.Context, time.Time, time.Time) (drift.Watch, error) {
	return drift.Watch{}, store.ErrUnavailable
}

// spec: drift-counting
func TestCountingGoesOnAfterAnErrorAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := sqlitetest.New(t)
	synctest.Test(t, func(t *testing.T) {
		by := drift.New(drift.Deps{Store: broken{s}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		metrics := prometheus.NewRegistry()
		must(t, by.Measure(metrics))
		ctx, stop := context.WithTimeout(t.Context(), 7*time.Second)
		defer stop()
		by.Run(ctx)
		families, err := metrics.Gather()
		must(t, err)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "prism_drift_parts_total" && m.GetLabel()[0].GetValue() == "failed" && m.GetCounter().GetValue() != 4 {
					t.Errorf("%v failures in 7 s, want 4", m.GetCounter().GetValue())
				}
			}
		}
	})
}
