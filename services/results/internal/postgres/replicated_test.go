package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// replicated is a store in a primary with a synchronous standby, and has an account, a key and a prism.
type replicated struct {
	*postgres.Store
	primary, standby *pgtest.Server
	database         string
}

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &replicated{}
	var err error
	r.primary, err = pgtest.Start(t.Context(), pgtest.Options{})
	must(err)
	t.Cleanup(func() { _ = r.primary.Close() })
	r.standby, err = r.primary.Standby(t.Context())
	must(err)
	t.Cleanup(func() { _ = r.standby.Close() })
	r.database, err = r.primary.CreateDatabase(t.Context(), "")
	must(err)
	must(postgres.Migrate(t.Context(), r.primary.URL(r.database)))
	r.Store = open(t, r.primary.URL(r.database))
	must(r.CreateAccount(t.Context(), account(), "a", storetest.By()))
	must(r.CreateKey(t.Context(), account(), keys.APIKey{}, digest(), 9, storetest.By()))
	p := prism.Prism{ID: prismID(), Slug: "triage", Latest: prism.Version{Number: 1}}
	must(r.CreatePrism(t.Context(), account(), p, storetest.By()))
	return r
}

// caughtUp tells whether a server shows all that it has: a commit waits until its standby has it, not until it shows it.
const caughtUp = `SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= coalesce(pg_last_wal_receive_lsn(), '0/0') FROM pg_sleep(0.01)`

// rows is the number of results that a server has.
func (r *replicated) rows(t *testing.T, server *pgtest.Server) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL(r.database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for all := false; !all; {
		if err := conn.QueryRow(t.Context(), caughtUp).Scan(&all); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM results").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (r *replicated) pause(t *testing.T) {
	t.Helper()
	if err := r.standby.Pause(); err != nil {
		t.Fatal(err)
	}
}

func (r *replicated) resume(t *testing.T) {
	t.Helper()
	if err := r.standby.Resume(); err != nil {
		t.Fatal(err)
	}
}

func answered(id byte) prism.Result {
	r := failed(id)
	r.Status, r.Error, r.Answers, r.IdempotencyKey = prism.OK, "", []byte(`{}`), ""
	return r
}

// shortly is less time than a caller waits, and long enough for a save that waits for nothing.
const shortly = 2 * time.Second

// savers are both ways to save a result that was saved before, or is still being saved.
func savers(r *replicated) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"a first call": func(ctx context.Context) error {
			_, err := r.SaveResult(ctx, account(), answered(10))
			return err
		},
		"a retry": func(ctx context.Context) error {
			_, err := r.SaveRetry(ctx, account(), answered(11), prism.ResultID{UUID: prism.UUID{9}})
			return err
		},
	}
}

// TestASaveIsReportedOnlyWhenItIsReplicated takes the standby away while a save is under way, and repeats the save.
// spec: saved-means-replicated, save-is-not-cancelled
func TestASaveIsReportedOnlyWhenItIsReplicated(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	if _, err := r.SaveResult(t.Context(), account(), failed(9)); err != nil {
		t.Fatal(err)
	}
	saved := 1
	for name, save := range savers(r) {
		r.pause(t)
		for try := range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), shortly)
			if err := save(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("try %d to save %s, while the standby is away: %v", try, name, err)
			}
			cancel()
		}
		if n := r.rows(t, r.primary); n != saved {
			t.Errorf("the primary shows %s, which the standby does not have", name)
		}
		r.resume(t)
		if err := save(t.Context()); err != nil {
			t.Errorf("%s, with the standby back: %v", name, err)
		}
		saved++
		if n := r.rows(t, r.standby); n != saved {
			t.Errorf("the standby has %d results after %s, want %d", n, name, saved)
		}
	}
}

// TestAResultThatIsFoundIsReportedOnlyWhenItIsReplicated restarts the primary during a save. From then on the primary shows
// the row, which the standby does not have.
// spec: saved-means-replicated, unwritable-store
func TestAResultThatIsFoundIsReportedOnlyWhenItIsReplicated(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	if _, err := r.SaveResult(t.Context(), account(), failed(9)); err != nil {
		t.Fatal(err)
	}
	r.pause(t)
	keyed := answered(12)
	keyed.IdempotencyKey = "key"
	saves := savers(r)
	saves["a keyed call"] = func(ctx context.Context) error {
		_, err := r.SaveResult(ctx, account(), keyed)
		return err
	}
	for _, save := range saves {
		ctx, cancel := context.WithTimeout(t.Context(), shortly)
		_ = save(ctx)
		cancel()
	}
	if err := r.primary.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := r.primary.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := r.rows(t, r.primary); n != 1+len(saves) {
		t.Fatalf("the primary shows %d results after its restart", n)
	}
	saves["a repeat"] = func(ctx context.Context) error {
		_, err := r.CreateFacts(ctx, contract.CreateQuery{Key: digest(), Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: "key"})
		return err
	}
	for name, save := range saves {
		ctx, cancel := context.WithTimeout(t.Context(), shortly)
		if err := save(ctx); err == nil {
			t.Errorf("%s is reported while the standby does not have it", name)
		}
		cancel()
	}
	if err := probed(t, r); err == nil {
		t.Error("a store that cannot save passes the probe")
	}
	r.resume(t)
	if err := r.ProbeWrite(t.Context()); err != nil {
		t.Errorf("a probe, with the standby back: %v", err)
	}
	for name, save := range saves {
		if err := save(t.Context()); err != nil {
			t.Errorf("%s, with the standby back: %v", name, err)
		}
	}
}

func probed(t *testing.T, r *replicated) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shortly)
	defer cancel()
	return r.ProbeWrite(ctx)
}

// TestWhatAnEarlierCallDidIsReportedOnlyWhenItIsReplicated restarts the primary during each call, as above, and repeats the call:
// the repeat finds everything done, which the standby does not have.
// spec: repeats-are-durable
func TestWhatAnEarlierCallDidIsReportedOnlyWhenItIsReplicated(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	stored := map[string]files.File{}
	for i, name := range []string{"a part", "the completion", "the deletion", "a run"} {
		f := files.File{ID: prism.FileID{UUID: prism.UUID{30, 15: byte(i)}}, Name: name, Format: prism.FileCSV, Bytes: 1}
		if err := r.CreateFile(t.Context(), account(), f); err != nil {
			t.Fatal(err)
		}
		stored[name] = f
	}
	exec(t, r.primary.URL(r.database), "UPDATE files SET status = 'ready', row_count = 1, chunks = 1 WHERE name = 'a run'")
	calls := map[string]func(ctx context.Context) error{
		"a part": func(ctx context.Context) error {
			_, err := r.PutPart(ctx, account(), stored["a part"].ID, store.Part{Number: 1, Bytes: 1})
			return err
		},
		"the completion": func(ctx context.Context) error {
			return r.SetReading(ctx, account(), stored["the completion"].ID, time.Now())
		},
		"the deletion": func(ctx context.Context) error {
			err := r.DeleteFile(ctx, account(), stored["the deletion"].ID, storetest.By())
			if errors.Is(err, store.ErrNotFound) { // which a caller takes for a deletion
				return nil
			}
			return err
		},
		"a run": func(ctx context.Context) error {
			_, err := r.RunOfKey(ctx, account(), "key")
			if !errors.Is(err, store.ErrNotFound) {
				return err
			}
			run := runs.Run{
				ID: prism.RunID{UUID: prism.UUID{31}}, Prism: prismID(), Version: 1, File: stored["a run"].ID, Mapping: []byte("{}"),
				IdempotencyKey: "key",
			}
			_, err = r.CreateRun(ctx, account(), run, storetest.By())
			return err
		},
	}
	r.pause(t)
	each := func(when string) {
		for name, call := range calls {
			ctx, cancel := context.WithTimeout(t.Context(), shortly)
			if err := call(ctx); err == nil {
				t.Errorf("%s: %s is reported while the standby does not have it", when, name)
			}
			cancel()
		}
	}
	each("at first")
	if err := r.primary.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := r.primary.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	each("after a restart")
	r.resume(t)
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s, with the standby back: %v", name, err)
		}
	}
}
