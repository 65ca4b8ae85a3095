package mover_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
)

// writer writes what calls write, where the account is: it waits while the account is being switched, and follows the switch, as processes do.
type writer struct {
	*world
	account prism.AccountID
	place   string
	conns   map[string]*pgx.Conn
}

const (
	//nolint:dupword // each gen_random_uuid() is another id
	write = `WITH saved AS (
	INSERT INTO results (account_id, id, prism_id, version, ref, context, fields, status, took_ms, created_at, answers, call, bytes, tailed)
	SELECT $1::uuid, gen_random_uuid(), gen_random_uuid(), 1, 'written', 'a', '{}', 'ok', 1, now(), '[]', '{}', 10, true RETURNING account_id, prism_id, id
), counted AS (
	INSERT INTO tail (account_id, prism_id, result_id, type, at, day, bytes, status)
	SELECT account_id, prism_id, id, 1, now(), 20000, 10, 'ok' FROM saved
)
INSERT INTO usage (account_id, day, prism_id, model, key_id, currency, results, failed, input_tokens, output_tokens, cost, cost_rest)
SELECT $1, 20000, $1, 'written', $1, '', 1, 0, 0, 0, 0, 0
ON CONFLICT (account_id, day, prism_id, model, key_id, currency) DO UPDATE SET results = usage.results + 1`
	// fold is as what folds the tail: its rows are deleted within seconds.
	fold = `WITH gone AS (DELETE FROM tail WHERE account_id = $1 RETURNING day)
UPDATE stored_bytes SET bytes = bytes + (SELECT count(*) FROM gone WHERE day = 20000) WHERE account_id = $1`
	updateRun = `UPDATE runs SET ok = ok + 1 WHERE account_id = $1 AND id = (SELECT min(id::text)::uuid FROM runs WHERE account_id = $1)`
	follow    = `SELECT database, epoch FROM moved_accounts WHERE account_id = $1`
)

// call writes once.
func (w *writer) call(ctx context.Context) error {
	for {
		if w.conns[w.place] == nil {
			conn, err := pgx.Connect(ctx, w.urls[w.place])
			if err != nil {
				return err
			}
			w.conns[w.place] = conn
		}
		conn := w.conns[w.place]
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, write, w.account.String()); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, fold, w.account.String()); err != nil {
				return err
			}
			done, err := tx.Exec(ctx, updateRun, w.account.String())
			if err == nil && done.RowsAffected() != 1 {
				err = errors.New("the account has no run")
			}
			return err
		})
		refusal, _ := errors.AsType[*pgconn.PgError](err)
		switch {
		case refusal != nil && refusal.Code == "PM001":
			if _, err := conn.Exec(ctx, "SELECT pg_sleep(0.005)"); err != nil {
				return err
			}
		case refusal != nil && refusal.Code == "PM002":
			var to string
			var epoch int64
			if err := conn.QueryRow(ctx, follow, w.account.String()).Scan(&to, &epoch); err != nil {
				return err
			}
			if w.place = to; w.conns[to] == nil {
				if w.conns[to], err = pgx.Connect(ctx, w.urls[to]); err != nil {
					return err
				}
			}
			if _, err := w.conns[to].Exec(ctx, "SELECT activate_account($1, $2)", w.account.String(), epoch); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// writing has several writers write, until stop is called, which returns how many calls there were.
func (w *world) writing(t *testing.T, account prism.AccountID, place string) (stop func() int64) {
	t.Helper()
	var calls, longest atomic.Int64
	done := make(chan struct{})
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			one := &writer{world: w, account: account, place: place, conns: map[string]*pgx.Conn{}}
			defer func() {
				for _, conn := range one.conns {
					_ = conn.Close(context.WithoutCancel(t.Context()))
				}
			}()
			for {
				select {
				case <-done:
					return
				default:
				}
				began := time.Now()
				if err := one.call(t.Context()); err != nil {
					t.Errorf("a call failed in %s: %v", one.place, err)
					return
				}
				calls.Add(1)
				longest.Store(max(longest.Load(), int64(time.Since(began))))
			}
		})
	}
	return func() int64 {
		close(done)
		writers.Wait()
		t.Logf("%d calls, of which one took %s", calls.Load(), time.Duration(longest.Load()))
		return calls.Load()
	}
}

// counted expects what so many calls wrote.
func (w *world) counted(t *testing.T, in string, account prism.AccountID, runs, calls int64) {
	t.Helper()
	for what, query := range map[string]string{
		"results": "SELECT count(*) FROM results WHERE account_id = $1 AND ref = 'written'",
		"changes that are folded, or in the tail": `SELECT (SELECT bytes - 5000000001 FROM stored_bytes WHERE account_id = $1)
	+ (SELECT count(*) FROM tail WHERE account_id = $1 AND day = 20000)`,
		"usage": "SELECT results FROM usage WHERE account_id = $1 AND model = 'written'",
	} {
		if n := scan(t, w.urls[in], query, account); n != calls {
			t.Errorf("%d calls were written as %d %s", calls, n, what)
		}
	}
	if n := scan(t, w.urls[in], sumOfRuns, account) - runs; n != calls {
		t.Errorf("%d calls were counted as %d by a run", calls, n)
	}
}

const sumOfRuns = "SELECT sum(ok)::bigint FROM runs WHERE account_id = $1"

func scan(t *testing.T, url, statement string, account prism.AccountID) int64 {
	t.Helper()
	return query[int64](t, url, statement, account.String())
}

// spec: account-move-command
func TestAccountsMoveInBothDirectionsWhileTheyAreCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var moving sync.WaitGroup
	for from, to := range map[string]string{"home": "b", "b": "home"} {
		account := w.addAccount(t, from)
		runs := scan(t, w.urls[from], sumOfRuns, account)
		moving.Go(func() {
			stop := w.writing(t, account, from)
			err := mover.Move(t.Context(), w.deps(nil, func(line string) { t.Log(line) }), account, to)
			calls := stop()
			if err != nil {
				t.Error(err)
				return
			}
			w.counted(t, to, account, runs, calls)
			w.gone(t, from, account)
			w.clean(t, account)
		})
	}
	moving.Wait()
}
