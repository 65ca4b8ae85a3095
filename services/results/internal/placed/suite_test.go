package placed_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/placed"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

// spec: placement, directory
func TestStore(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	database := server.Reused(t, "store")
	storetest.Run(t, func(t *testing.T) sqlstore.Store {
		t.Helper()
		return openSuite(t, database)
	})
}

// openSuite opens four empty databases.
func openSuite(t *testing.T, database func(testing.TB) string) suite {
	t.Helper()
	var databases []placed.Database
	for _, name := range []string{"home", "b", "c", "d"} {
		pg, err := postgres.Open(t.Context(), postgres.Config{URL: database(t), MaxConns: 8}, postgres.Deps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pg.Close)
		databases = append(databases, placed.Database{Name: name, Store: pg.Statements, Terms: accepts(true)})
	}
	cached := directory.NewCached(directory.SQL{Database: databases[0].Store.Database}, 1) // so that most look-ups are of home
	return suite{home{databases[0].Store}, &placed.Accounts{Directory: cached, Databases: databases, Home: databases[0].Store.Database, Patience: time.Minute}}
}

// accepts is the terms of a database that new accounts may be made in, or may not.
func accepts(accepting bool) func() (bool, int) { return func() (bool, int) { return accepting, 1 } }

// suite is a store whose accounts are in several databases. Each account's statements are in its database, and what looks for work looks
// in all of them, as the workers of the databases do together.
type suite struct {
	home
	*placed.Accounts
}

// PlaceTogether implements storetest.Placing.
func (s suite) PlaceTogether() {
	for i := range s.Databases {
		s.Databases[i].Terms = accepts(i == 1)
	}
}

// home has what is of no account.
type home struct{ sqlstore.Statements }

func get[T any](ctx context.Context, s suite, account prism.AccountID, call func(sqlstore.Statements) (T, error)) (T, error) {
	_, at, err := s.StoreOf(ctx, account)
	if err != nil {
		var none T
		return none, err
	}
	return call(at)
}

func do(ctx context.Context, s suite, account prism.AccountID, call func(sqlstore.Statements) error) error {
	_, err := get(ctx, s, account, func(at sqlstore.Statements) (struct{}, error) { return struct{}{}, call(at) })
	return err
}

func getTwo[T, U any](
	ctx context.Context, s suite, account prism.AccountID, call func(sqlstore.Statements) (T, U, error),
) (first T, second U, err error) {
	err = do(ctx, s, account, func(at sqlstore.Statements) (err error) {
		first, second, err = call(at)
		return err
	})
	return first, second, err
}

// each asks all databases, one after the other.
func each[T any](s suite, ask func(sqlstore.Statements) (T, error)) (all []T, err error) {
	for _, db := range s.Databases {
		one, err := ask(db.Store)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// some returns what the first database has that has something.
func some[T comparable](s suite, ask func(sqlstore.Statements) (T, error)) (found T, err error) {
	var none T
	for _, db := range s.Databases {
		if found, err = ask(db.Store); found != none || err != nil && !errors.Is(err, store.ErrNotFound) {
			return found, err
		}
	}
	return none, err
}

func concat[T any](s suite, ask func(sqlstore.Statements) ([]T, error)) ([]T, error) {
	all, err := each(s, ask)
	return slices.Concat(all...), err
}

func (s suite) any(ask func(sqlstore.Statements) (bool, error)) (bool, error) {
	all, err := each(s, ask)
	return slices.Contains(all, true), err
}

func (s suite) all(ask func(sqlstore.Statements) error) error {
	_, err := each(s, func(at sqlstore.Statements) (struct{}, error) { return struct{}{}, ask(at) })
	return err
}

func (s suite) sum(ask func(sqlstore.Statements) (int, error)) (sum int, err error) {
	all, err := each(s, ask)
	for _, n := range all {
		sum += n
	}
	return sum, err
}

// ofKey is the database of the account of an API key.
func (s suite) ofKey(ctx context.Context, key contract.KeyDigest) (sqlstore.Statements, error) {
	place, err := s.Directory.OfKey(ctx, key)
	if err != nil {
		return sqlstore.Statements{}, err
	}
	_, at, err := s.StoreOf(ctx, place.Account)
	return at, err
}

func (s suite) Authenticate(ctx context.Context, key contract.KeyDigest) (store.Caller, error) {
	at, err := s.ofKey(ctx, key)
	if err != nil {
		return store.Caller{}, err
	}
	return at.Authenticate(ctx, key)
}

func (s suite) ListAccounts(ctx context.Context) ([]keys.Account, error) {
	all, err := concat(s, func(at sqlstore.Statements) ([]keys.Account, error) { return at.ListAccounts(ctx) })
	slices.SortFunc(all, func(a, b keys.Account) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

func (s suite) SweepSessions(ctx context.Context, now time.Time) (int, error) {
	return s.sum(func(at sqlstore.Statements) (int, error) {
		return placed.Local{Statements: at, Accounts: s.Accounts, Home: at == s.Databases[0].Store}.SweepSessions(ctx, now)
	})
}

func (s suite) ListLimits(ctx context.Context) ([]contract.AccountLimits, error) {
	return concat(s, func(at sqlstore.Statements) ([]contract.AccountLimits, error) { return at.ListLimits(ctx) })
}

func (s suite) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	return s.all(func(at sqlstore.Statements) error { return at.TouchKeys(ctx, used) })
}

func (s suite) AnyWebhook(ctx context.Context) (bool, error) {
	return s.any(func(at sqlstore.Statements) (bool, error) { return at.AnyWebhook(ctx) })
}

func (s suite) Behind(ctx context.Context) ([]search.Lag, error) {
	return concat(s, func(at sqlstore.Statements) ([]search.Lag, error) { return at.Behind(ctx) })
}

func (s suite) CreateFacts(ctx context.Context, q contract.CreateQuery) (store.CreateFacts, error) {
	at, err := s.ofKey(ctx, q.Key)
	if err != nil {
		return store.CreateFacts{}, err
	}
	return at.CreateFacts(ctx, q)
}

func (s suite) ResultFacts(
	ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input,
) (store.ResultFacts, error) {
	at, err := s.ofKey(ctx, key)
	if err != nil {
		return store.ResultFacts{}, err
	}
	return at.ResultFacts(ctx, key, id, in)
}

func (s suite) DeletedFiles(ctx context.Context, before time.Time, limit int) ([]files.DeletedFile, error) {
	return concat(s, func(at sqlstore.Statements) ([]files.DeletedFile, error) { return at.DeletedFiles(ctx, before, limit) })
}

func (s suite) DueDeletions(ctx context.Context, now time.Time) (jobs int64, since time.Time, err error) {
	err = s.all(func(at sqlstore.Statements) error {
		n, from, err := at.DueDeletions(ctx, now)
		if jobs += n; n > 0 && (since.IsZero() || from.Before(since)) {
			since = from
		}
		return err
	})
	return jobs, since, err
}

func (s suite) ExpiredFiles(ctx context.Context, now time.Time, limit int) ([]store.FileOwner, error) {
	return concat(s, func(at sqlstore.Statements) ([]store.FileOwner, error) { return at.ExpiredFiles(ctx, now, limit) })
}

func (s suite) Fold(ctx context.Context) error {
	return s.all(func(at sqlstore.Statements) error { return at.Fold(ctx) })
}

func (s suite) FoldAll(ctx context.Context) error {
	return s.all(func(at sqlstore.Statements) error { return at.FoldAll(ctx) })
}

func (s suite) LeaseChunk(ctx context.Context, token prism.UUID, now, until time.Time) (*runs.LeasedChunk, error) {
	return some(s, func(at sqlstore.Statements) (*runs.LeasedChunk, error) { return at.LeaseChunk(ctx, token, now, until) })
}

func (s suite) ListDriftWatches(ctx context.Context, limit int) (watches []drift.Watch, more int64, err error) {
	err = s.all(func(at sqlstore.Statements) error {
		found, left, err := at.ListDriftWatches(ctx, limit)
		watches, more = append(watches, found...), more+left
		return err
	})
	return watches, more, err
}

func (s suite) MeasureWebhooks(ctx context.Context) (sum webhooks.Measures, err error) {
	err = s.all(func(at sqlstore.Statements) error {
		m, err := at.MeasureWebhooks(ctx)
		sum.Enabled, sum.Disabled, sum.Waiting = sum.Enabled+m.Enabled, sum.Disabled+m.Disabled, sum.Waiting+m.Waiting
		if !m.Oldest.IsZero() && (sum.Oldest.IsZero() || m.Oldest.Before(sum.Oldest)) {
			sum.Oldest = m.Oldest
		}
		return err
	})
	return sum, err
}

func (s suite) MendTimes(ctx context.Context, now time.Time) (int, error) {
	return s.sum(func(at sqlstore.Statements) (int, error) { return at.MendTimes(ctx, now) })
}

func (s suite) QueueOfRuns(ctx context.Context, now time.Time) (sum runs.Queue, err error) {
	err = s.all(func(at sqlstore.Statements) error {
		q, err := at.QueueOfRuns(ctx, now)
		sum.Runs, sum.PendingRows, sum.Leases = sum.Runs+q.Runs, sum.PendingRows+q.PendingRows, sum.Leases+q.Leases
		if !q.OldestSince.IsZero() && (sum.OldestSince.IsZero() || q.OldestSince.Before(sum.OldestSince)) {
			sum.OldestSince = q.OldestSince
		}
		return err
	})
	return sum, err
}

func (s suite) ReadingQueue(ctx context.Context, now time.Time) ([]files.ReadingQueue, error) {
	return concat(s, func(at sqlstore.Statements) ([]files.ReadingQueue, error) { return at.ReadingQueue(ctx, now) })
}

func (s suite) RemoveChanges(ctx context.Context, before time.Time) (bool, error) {
	return s.any(func(at sqlstore.Statements) (bool, error) { return at.RemoveChanges(ctx, before) })
}

func (s suite) RemoveDeliveries(ctx context.Context, now time.Time) (bool, error) {
	return s.any(func(at sqlstore.Statements) (bool, error) { return at.RemoveDeliveries(ctx, now) })
}

func (s suite) RemoveEvents(ctx context.Context, before time.Time) (bool, error) {
	return s.any(func(at sqlstore.Statements) (bool, error) { return at.RemoveEvents(ctx, before) })
}

func (s suite) RenewLeases(ctx context.Context, leases []contract.Lease, now, until time.Time) (states []contract.LeaseState, err error) {
	for _, lease := range leases {
		renewed, err := get(ctx, s, lease.Account, func(at sqlstore.Statements) ([]contract.LeaseState, error) {
			return at.RenewLeases(ctx, []contract.Lease{lease}, now, until)
		})
		if err != nil {
			return nil, err
		}
		states = append(states, renewed...)
	}
	return states, nil
}

func (s suite) TakeDeletion(ctx context.Context, now, until time.Time, last []prism.AccountID) (job deletion.Job, err error) {
	for _, db := range s.Databases {
		if job, err = db.Store.TakeDeletion(ctx, now, until, last); !errors.Is(err, store.ErrNotFound) {
			return job, err
		}
	}
	return job, err
}

func (s suite) TakeDeliveries(ctx context.Context, healthy bool, token prism.UUID, now, until time.Time) (*webhooks.Leased, error) {
	return some(s, func(at sqlstore.Statements) (*webhooks.Leased, error) {
		return at.TakeDeliveries(ctx, healthy, token, now, until)
	})
}

func (s suite) TakeDriftWatch(ctx context.Context, now, until time.Time) (w drift.Watch, err error) {
	for _, db := range s.Databases {
		if w, err = db.Store.TakeDriftWatch(ctx, now, until); !errors.Is(err, store.ErrNotFound) {
			return w, err
		}
	}
	return w, err
}

func (s suite) TellExpiring(ctx context.Context, now time.Time) (bool, error) {
	return s.any(func(at sqlstore.Statements) (bool, error) { return at.TellExpiring(ctx, now) })
}

func (s suite) TendRuns(ctx context.Context, now time.Time) (int, error) {
	return s.sum(func(at sqlstore.Statements) (int, error) { return at.TendRuns(ctx, now) })
}

func (s suite) WaitingAccounts(ctx context.Context) ([]distribution.Waiting, error) {
	return concat(s, func(at sqlstore.Statements) ([]distribution.Waiting, error) { return at.WaitingAccounts(ctx) })
}

func (s suite) WebhooksBehind(ctx context.Context, limit int) ([]webhooks.Behind, error) {
	return concat(s, func(at sqlstore.Statements) ([]webhooks.Behind, error) { return at.WebhooksBehind(ctx, limit) })
}
