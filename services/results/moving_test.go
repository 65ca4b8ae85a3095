package results

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/operator"
)

// newMovable is a Prism with the databases home and b, each in a Postgres out of which accounts can be moved, and how to open them again.
func newMovable(t *testing.T) (*severalDatabases, []Database) {
	t.Helper()
	servers := map[string]*pgtest.Server{}
	for _, name := range []string{"home", "b"} {
		server, err := pgtest.Start(t.Context(), pgtest.Options{Settings: map[string]string{
			"wal_level": "logical", "max_sync_workers_per_subscription": "4", "wal_retrieve_retry_interval": "100ms",
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
		servers[name] = server
	}
	p := newPlaced(t, []string{"home", "b"}, func(name string) *pgtest.Server { return servers[name] })
	return p, []Database{{"home", Config{DatabaseURL: p.urls["home"]}}, {"b", Config{DatabaseURL: p.urls["b"]}}}
}

// saved is a prism of an account, whose results are saved.
type saved struct {
	key     contract.KeyDigest
	account prism.AccountID
	prism   prism.PrismID
	calls   atomic.Int64
}

func newSaved(t *testing.T, p *severalDatabases, name string) *saved {
	t.Helper()
	d := prism.Definition{Fields: []prism.Field{{Key: "text"}}, Questions: []prism.Question{{Key: "q", Type: prism.YesNo, Text: "?"}}}
	response, err := contract.Do(t.Context(), p, p.keys[name], api.CreatePrism, api.CreatePrismRequest{
		NewPrism: api.NewPrism{Slug: "moved", NewVersion: api.NewVersion{Definition: d}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID prism.PrismID `json:"id"`
	}
	if err := strictjson.Unmarshal(response.Body, &made); err != nil {
		t.Fatal(err)
	}
	return &saved{key: p.keys[name], account: p.accounts[name], prism: made.ID}
}

// call has a replica save a result twice, of which the second is a repeat, and read it.
func (s *saved) call(ctx context.Context, replica *severalDatabases) error {
	id, err := prism.NewUUID(time.Now(), rand.Reader)
	if err != nil {
		return err
	}
	save := contract.Save{
		Account: s.account, ID: prism.ResultID{UUID: id}, Prism: s.prism, Version: 1, IdempotencyKey: id.String(),
		Fields:  []prism.FieldValue{{Key: "text", Value: "hello"}},
		Outcome: contract.Outcome{Answers: []byte(`{"q":{"type":"yes_no","probability":0.75}}`), TookMS: 5}, Format: contract.JSON,
	}
	for range 2 {
		if _, err := replica.Save(ctx, save); err != nil {
			return err
		}
	}
	s.calls.Add(1)
	_, err = contract.Do(ctx, replica, s.key, api.ReadResult, api.ResultInFormat{ResultRequest: api.ResultRequest{Result: save.ID}, Format: contract.JSON})
	return err
}

// spec: account-moves, account-move-command
func TestNoCallOfTwoReplicasFailsWhileItsAccountMovesThereAndBack(t *testing.T) {
	t.Parallel()
	first, databases := newMovable(t)
	second := openPlaced(t, databases)
	s := newSaved(t, first, "b")
	eventually(t, func() bool { return s.call(t.Context(), second) == nil }) // it may not know yet what has moved
	done := make(chan struct{})
	var callers sync.WaitGroup
	for _, replica := range []*severalDatabases{first, second} {
		callers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := s.call(t.Context(), replica); err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
			}
		})
	}
	for _, to := range []string{"home", "b"} {
		if err := first.placed.move(t.Context(), operator.Move{
			Account: s.account, To: to, Learned: 5 * time.Second, Tell: func(line string) { t.Log(line) },
		}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	callers.Wait()
	for query, want := range map[string]int64{
		"SELECT count(*) FROM results WHERE account_id = $1":                    s.calls.Load(),
		"SELECT coalesce(sum(results), 0) FROM usage_now WHERE account_id = $1": s.calls.Load(),
		"SELECT coalesce(sum(failed), 0) FROM usage_now WHERE account_id = $1":  0,
	} {
		if n := ask(t, first.urls["b"], query, s.account); n != want {
			t.Errorf("%d of %s after %d calls", n, query, want)
		}
	}
	if n := ask(t, first.urls["home"], "SELECT count(*) FROM results WHERE account_id = $1", s.account); n != 0 {
		t.Errorf("home has %d results of an account that left", n)
	}
	t.Logf("%d results were saved", s.calls.Load())
}

func ask(t *testing.T, url, query string, account prism.AccountID) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		defer conn.Close(context.WithoutCancel(t.Context()))
		err = conn.QueryRow(t.Context(), query, account.String()).Scan(&n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
