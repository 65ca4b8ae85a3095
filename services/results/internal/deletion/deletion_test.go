package deletion_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a worker over a store with one prism, at a time that the test sets.
type world struct {
	*deletion.Worker
	*sqlite.Store
	metrics *prometheus.Registry
	account prism.AccountID
	prism   prism.PrismID
	now     time.Time
	ids     byte
	find    func(context.Context, deletion.Job) (deletion.FoundPart, error)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := sqlitetest.New(t)
	w := &world{
		Store: s, metrics: prometheus.NewRegistry(), account: prism.AccountID{UUID: prism.UUID{1}},
		prism: prism.PrismID{UUID: prism.UUID{2}}, now: time.UnixMilli(1_800_000_000_000).UTC(),
	}
	if err := errors.Join(
		s.CreateAccount(t.Context(), w.account, "a", storetest.By()),
		s.CreatePrism(t.Context(), w.account, prism.Prism{ID: w.prism, Slug: "p", Latest: prism.Version{Number: 1}}, storetest.By()),
	); err != nil {
		t.Fatal(err)
	}
	w.worker(t, s)
	return w
}

func (w *world) worker(t *testing.T, s deletion.Store) {
	t.Helper()
	w.metrics = prometheus.NewRegistry()
	w.Worker = deletion.New(deletion.Deps{
		Store: s, Now: func() time.Time { return w.now },
		Find: func(ctx context.Context, d deletion.Job) (deletion.FoundPart, error) { return w.find(ctx, d) }, Log: slog.New(slog.DiscardHandler),
		By: func(a store.Actor) (store.By, error) {
			by := storetest.By()
			by.At, by.Actor = w.now, a
			return by, nil
		},
	})
	if err := w.Measure(w.metrics); err != nil {
		t.Fatal(err)
	}
}

// save saves a result now.
func (w *world) save(t *testing.T) {
	t.Helper()
	w.ids++
	id := prism.FirstUUID(w.now)
	id[15] = w.ids
	_, err := w.SaveResult(t.Context(), w.account, prism.Result{
		ID: prism.ResultID{UUID: id}, Prism: w.prism, Version: 1, Status: prism.Failed, Error: "no", CreatedAt: w.now,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// work works until nothing is due.
func (w *world) work(t *testing.T) {
	t.Helper()
	for {
		worked, err := w.Work(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !worked {
			return
		}
	}
}

func (w *world) count(t *testing.T) int {
	t.Helper()
	all, _, err := w.ListResults(t.Context(), w.account, store.Filter{}, store.WithoutInput, store.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// spec: retention-set, results-delete, deletion-age
func TestTheWorkerDeletesWhatIsDueAndCountsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(t)
	w.now = w.now.Add(48 * time.Hour)
	w.save(t)
	w.save(t)
	by := storetest.By()
	by.At = w.now
	if err := w.SetRetention(t.Context(), w.account, w.prism, 1, by); err != nil {
		t.Fatal(err)
	}
	w.work(t)
	if n := w.count(t); n != 2 {
		t.Fatalf("%d results after retention, want 2", n)
	}
	d := deletion.Job{
		Account: w.account, ID: storetest.By().Entry, Prism: w.prism, Status: prism.Failed, SavedBefore: w.now.Add(time.Millisecond), DueAt: w.now,
	}
	if err := w.AddDeletion(t.Context(), d, "p", 2, storetest.By()); err != nil {
		t.Fatal(err)
	}
	w.work(t)
	if n := w.count(t); n != 2 {
		t.Fatalf("%d results, want the 2 young ones", n)
	}
	w.now = w.now.Add(2 * time.Minute)
	w.work(t)
	if n := w.count(t); n != 0 {
		t.Errorf("%d results", n)
	}
	for reason, want := range map[string]float64{"call": 2, "retention": 1} {
		if got := metrictest.Value(t, w.metrics, "prism_deleted_results_total "+reason); got != want {
			t.Errorf("%v by %s, want %v", got, reason, want)
		}
	}
	if metrictest.Value(t, w.metrics, "prism_deletion_jobs") != 0 || metrictest.Value(t, w.metrics, "prism_deletion_late_seconds") != 0 {
		t.Error("jobs are late")
	}
}

// spec: search-coverage, search-of-all
func TestADeletionByASearchWaitsUntilItsResultsAreIndexed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(t)
	indexed := false
	w.find = func(_ context.Context, d deletion.Job) (deletion.FoundPart, error) {
		if !indexed {
			return deletion.FoundPart{}, apierr.NotIndexed()
		}
		all, _, err := w.ListResults(t.Context(), w.account, store.Filter{}, store.WithoutInput, store.Page{Limit: 9})
		part := deletion.FoundPart{Upto: d.End(), End: true}
		for _, saved := range all {
			part.IDs = append(part.IDs, saved.Result.ID)
		}
		return part, err
	}
	w.now = w.now.Add(2 * time.Minute)
	d := deletion.Job{Account: w.account, ID: prism.UUID{9}, Prism: w.prism, Search: `{"q":"a"}`, SavedBefore: w.now, DueAt: w.now}
	if err := w.AddDeletion(t.Context(), d, "p", 1, storetest.By()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		w.now = w.now.Add(2 * time.Minute)
		w.work(t)
		if n := w.count(t); n != want {
			t.Errorf("%d results, want %d", n, want)
		}
		indexed = true
	}
}

// broken is a store whose parts fail.
type broken struct{ deletion.Store }

func (broken) DeletePart(context.Context, *deletion.Job, time.Time, store.By) (int, bool, error) {
	return 0, false, errors.New("the disk is full")
}

// spec: deletion-goes-on
func TestAJobWhosePartFailsStaysDueAndAnotherWorkerGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(t)
	w.now = w.now.Add(time.Hour)
	d := deletion.Job{Account: w.account, ID: storetest.By().Entry, Prism: w.prism, SavedBefore: w.now, DueAt: w.now}
	if err := w.AddDeletion(t.Context(), d, "p", 1, storetest.By()); err != nil {
		t.Fatal(err)
	}
	w.worker(t, broken{w.Store})
	if _, err := w.Work(t.Context()); err == nil {
		t.Error("no error")
	}
	w.now = w.now.Add(time.Minute)
	if _, err := w.Work(t.Context()); err == nil {
		t.Error("no error")
	}
	if late := metrictest.Value(t, w.metrics, "prism_deletion_late_seconds"); late != 60 {
		t.Errorf("the job is late by %v s, want 60", late)
	}
	w.worker(t, w.Store)
	w.work(t)
	if n := w.count(t); n != 1 {
		t.Errorf("%d results while the job is leased, want 1", n)
	}
	w.now = w.now.Add(time.Minute)
	w.work(t)
	if n := w.count(t); n != 0 {
		t.Errorf("%d results", n)
	}
}

// turns is a store that records whose jobs are taken.
type turns struct {
	deletion.Store
	taken *[]prism.AccountID
}

func (s turns) TakeDeletion(ctx context.Context, now, until time.Time, last []prism.AccountID) (deletion.Job, error) {
	d, err := s.Store.TakeDeletion(ctx, now, until, last)
	if err == nil {
		*s.taken = append(*s.taken, d.Account)
	}
	return d, err
}

// An account with one job waits for a turn of each other account, however many jobs these have.
//
// spec: deletion-goes-on
func TestAccountsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	add := func(account prism.AccountID, jobs int) {
		for range jobs {
			by := storetest.By()
			d := deletion.Job{Account: account, ID: by.Entry, Prism: w.prism, SavedBefore: w.now, DueAt: w.now}
			if err := w.AddDeletion(t.Context(), d, "p", 1, by); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(time.Millisecond)
		}
	}
	accounts := []prism.AccountID{w.account, {UUID: prism.UUID{3}}, {UUID: prism.UUID{4}}}
	for _, account := range accounts[1:] {
		if err := w.CreateAccount(t.Context(), account, account.String(), storetest.By()); err != nil {
			t.Fatal(err)
		}
	}
	add(accounts[0], 4)
	add(accounts[1], 3)
	add(accounts[2], 1)
	w.now = w.now.Add(time.Hour)
	var taken []prism.AccountID
	w.worker(t, turns{w.Store, &taken})
	w.work(t)
	var got []int
	for _, account := range taken {
		got = append(got, slices.Index(accounts, account))
	}
	if want := []int{0, 1, 2, 0, 1, 0, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("the turns are %v, want %v", got, want)
	}
}

// idle is a store without jobs.
type idle struct {
	deletion.Store
	looks int
}

func (s *idle) DueDeletions(context.Context, time.Time) (int64, time.Time, error) {
	if s.looks++; s.looks == 2 {
		return 0, time.Time{}, store.ErrUnavailable
	}
	return 0, time.Time{}, nil
}

func TestTheWorkerLooksUntilItIsStoppedAndLessOftenAfterAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &idle{}
		w := deletion.New(deletion.Deps{
			Store: s, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			By: func(store.Actor) (store.By, error) { return store.By{}, nil },
		})
		ctx, stop := context.WithTimeout(t.Context(), 31*time.Second)
		defer stop()
		w.Run(ctx)
		if s.looks != 2 {
			t.Errorf("%d looks in 31 s, want one at once and one that fails after 2 s", s.looks)
		}
		ctx, stop = context.WithTimeout(t.Context(), 11*time.Second)
		defer stop()
		s.looks = 2
		w.Run(ctx)
		if s.looks != 8 {
			t.Errorf("%d looks in 11 s, want 6", s.looks-2)
		}
	})
}
