package mover_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
)

// watcher calls a function after each statement, with the text of the statement without names of tables and accounts.
type watcher struct{ after func(text string) }

type textKey struct{}

var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|_[0-9a-f]{32}(_\d+)?|\b(` + strings.Join(mover.Tables(), "|") + `)\b|CONNECTION '[^']*'`)

// shape is a statement without what varies. Statements of each table are one shape.
func shape(text string) string {
	text = varying.ReplaceAllString(strings.Join(strings.Fields(text), " "), "…")
	for _, of := range []string{"WITH part AS", "SELECT 0 AS place"} {
		if strings.HasPrefix(text, of) {
			return of
		}
	}
	return text[:min(len(text), 90)]
}

func (w watcher) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, textKey{}, shape(d.SQL))
}

func (w watcher) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if text, ok := ctx.Value(textKey{}).(string); ok {
		w.after(text)
	}
}

func (w watcher) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (w watcher) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (w watcher) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     { w.after("batch") }

func (w watcher) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return ctx
}

func (w watcher) TraceCopyFromEnd(context.Context, *pgx.Conn, pgx.TraceCopyFromEndData) {
	w.after("copy")
}

// statements are the shapes of all statements of a move, in the order in which they come first.
func (w *world) statements(t *testing.T) (texts []string) {
	t.Helper()
	var mu sync.Mutex
	account := w.addAccount(t, "home")
	err := mover.Move(t.Context(), w.deps(watcher{func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}}, nil), account, "b")
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// once calls do after the first statement of a shape.
func once(shape string, do func()) watcher {
	var first sync.Once
	return watcher{func(text string) {
		if text == shape {
			first.Do(do)
		}
	}}
}

// spec: account-move-command
func TestAMoverThatIsKilledAfterAnyStatementGoesOnOrIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, text := range w.statements(t) {
		if i%3 > 0 && os.Getenv("CHAOS") == "" {
			continue // make chaos has them all
		}
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			account := w.addAccount(t, "home")
			before := w.sumsOf(t, "home", account)
			w.killed(t, account, text)
			if i%2 == 0 {
				switch err := mover.TakeBack(t.Context(), w.deps(nil, nil), account); {
				case err == nil:
					w.same(t, before, w.sumsOf(t, "home", account))
					w.gone(t, "b", account)
					w.clean(t, account)
					if place := w.placeOf(t, account); place != "home 1" {
						t.Errorf("the account is in %s", place)
					}
					return
				case !errors.Is(err, mover.ErrNoMove) && !errors.Is(err, mover.ErrSwitched):
					t.Fatal(err)
				}
			}
			if err := mover.Move(t.Context(), w.deps(nil, nil), account, "b"); err != nil {
				t.Fatal(err)
			}
			w.same(t, before, w.sumsOf(t, "b", account))
			w.gone(t, "home", account)
			w.clean(t, account)
			if err := mover.TakeBack(t.Context(), w.deps(nil, nil), account); !errors.Is(err, mover.ErrNoMove) {
				t.Errorf("taking back what is over: %v", err)
			}
		})
	}
}

// killed begins a move whose mover ends after the first statement of a shape.
func (w *world) killed(t *testing.T, account prism.AccountID, text string) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	if err := mover.Move(ctx, w.deps(once(text, kill), nil), account, "b"); err != nil && ctx.Err() == nil {
		t.Errorf("before it was killed: %v", err)
	}
}

// spec: account-move-command
func TestAMoveGoesOnAfterAServerCrashed(t *testing.T) {
	t.Parallel()
	in := map[string]*pgtest.Server{"home": start(t), "b": start(t)}
	for _, server := range in {
		t.Cleanup(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	w := newWorldIn(t, in)
	for _, text := range []string{
		"SELECT pg_create_logical_replication_slot($1, 'pgoutput')", "CREATE SUBSCRIPTION …", "copy", "INSERT INTO moved_accounts (account_id, database, epoch) SELECT $1, $2, $3 WHERE",
		"UPDATE directory_accounts", "WITH part AS",
	} {
		for name, server := range in {
			account := w.addAccount(t, "home")
			before := w.sumsOf(t, "home", account)
			var crash sync.Once
			_ = mover.Move(t.Context(), w.deps(watcher{func(got string) {
				if strings.HasPrefix(got, text) {
					crash.Do(func() {
						if err := errors.Join(server.Crash(), server.Restart(t.Context())); err != nil {
							t.Error(err)
						}
					})
				}
			}}, nil), account, "b")
			for range 5 { // a server may just be starting
				if err := mover.Move(t.Context(), w.deps(nil, nil), account, "b"); err == nil {
					break
				} else if t.Logf("%s, %s: %v", name, text, err); t.Context().Err() != nil {
					return
				}
			}
			w.same(t, before, w.sumsOf(t, "b", account))
			w.gone(t, "home", account)
			w.clean(t, account)
			if t.Failed() {
				t.Fatalf("%s, %s", name, text)
			}
		}
	}
}
