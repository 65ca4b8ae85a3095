package moves_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/moves"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// database has no account that has moved, and tells so unless it is away.
type database struct {
	sqldb.Database
	away  bool
	looks int
}

func (d *database) Run(_ context.Context, s sqldb.Statement, _ sqldb.Reader) error {
	if s.Operation != "moved_accounts" {
		return nil
	}
	d.looks++
	if d.away {
		return store.ErrUnavailable
	}
	return nil
}

func (d *database) LookUp(context.Context, sqldb.Statement, func(*sqldb.Row)) error { return nil }

// spec: account-moves-old-rows
func TestACallIsRefusedWhereNobodyKnowsWhatHasMoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &database{}
		m := moves.New(slog.New(slog.DiscardHandler))
		m.Directory = directory.NewCached(directory.SQL{Database: d}, 10)
		account := prism.AccountID{UUID: prism.UUID{1}}
		m.Directory.Moved(directory.Place{Account: account, Database: "b", Epoch: 1})
		b := m.Add("b", d, time.Now, func() error { return nil })
		call := func() error {
			return b.Run(m.Bind(t.Context(), account), sqldb.Query("read", "SELECT 1"), sqldb.NoRow)
		}
		for range 3 {
			if err := call(); err != nil || d.looks != 1 {
				t.Fatalf("a call: %v, after %d looks", err, d.looks)
			}
		}
		d.away = true
		<-time.After(30 * time.Second)
		if err := call(); err != nil {
			t.Errorf("a call 30 seconds after the last look: %v", err)
		}
		<-time.After(time.Second)
		if err := call(); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a call later than that: %v", err)
		}
		if err := b.Run(t.Context(), sqldb.Query("read", "SELECT 1"), sqldb.NoRow); err != nil {
			t.Errorf("a statement of no call: %v", err)
		}
		d.away = false
		if err := call(); err != nil {
			t.Errorf("a call when the database can be asked: %v", err)
		}
	})
}

// spec: account-moves-wait
func TestACallThatIsRefusedIsRepeatedForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := moves.New(slog.New(slog.DiscardHandler))
		refused := &store.MoveError{}
		began, tries := time.Now(), 0
		err := m.Follow(t.Context(), func() error {
			tries++
			return refused
		})
		if took := time.Since(began); !errors.Is(err, refused) || took < time.Second || took > 1100*time.Millisecond || tries < 20 {
			t.Errorf("%v, after %d tries in %s", err, tries, took)
		}
		if err := m.Follow(t.Context(), func() error {
			if tries--; tries > 0 {
				return refused
			}
			return nil
		}); err != nil {
			t.Errorf("a change that is refused for less: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := m.Follow(ctx, func() error { return refused }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that ends: %v", err)
		}
	})
}
