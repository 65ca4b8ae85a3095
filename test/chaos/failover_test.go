package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

const (
	// failoverLoad is how long clients call, and away is how long the standby is: longer than one attempt to save.
	failoverLoad = 12 * time.Second
	away         = 4 * time.Second
	// backAfterFailover bounds the time from the move of the address to a success at every gateway.
	backAfterFailover = 10 * time.Second
)

// TestNoResponseIsLostByAFailoverOfPostgres promotes the synchronous standby of Postgres under load. Afterwards, the history
// and the audit are those of the promoted standby: what a client received is there, once.
// spec: saved-means-replicated, save-is-not-cancelled, postgres-failover
func TestNoResponseIsLostByAFailoverOfPostgres(t *testing.T) {
	for name, failOver := range map[string]func(context.Context, *system.Database) error{
		"the standby is killed, then the primary":       primaryDies,
		"the standby is paused, the primary is demoted": primaryIsDemoted,
	} {
		t.Run(name, func(t *testing.T) {
			onceOf(t, func() string { return failOverUnderLoad(t, failOver) })
		})
	}
}

// primaryDies ends the standby, so that saves wait, and then the primary, which has rows that the standby never got.
func primaryDies(ctx context.Context, d *system.Database) error {
	errs := []error{d.Standby.Crash()}
	pass(away)
	errs = append(errs, d.Primary().Crash(), d.Standby.Restart(ctx), d.FailOver(ctx))
	return errors.Join(errs...)
}

// primaryIsDemoted pauses the standby for a while. Then the primary refuses writes, before the address moves.
func primaryIsDemoted(ctx context.Context, d *system.Database) error {
	errs := []error{d.Standby.Pause()}
	pass(away)
	errs = append(errs, d.Standby.Resume())
	pass(time.Second)
	errs = append(errs, d.Primary().Demote(ctx))
	pass(time.Second)
	errs = append(errs, d.FailOver(ctx))
	return errors.Join(errs...)
}

func failOverUnderLoad(t *testing.T, failOver func(context.Context, *system.Database) error) (late string) {
	w := startWorld(t,
		system.Config{Standby: true, Forgetful: true, Model: upstream.Config{Pause: 2 * time.Millisecond, MaxPause: time.Second}},
		load.Config{
			Seed: seed(t), Clients: 18, LeavePercent: 3, Pause: 5 * time.Millisecond,
			Tag: upstream.Tag{FailPercent: 45, SlowPercent: 4},
		})
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	loaded, stop := context.WithTimeout(ctx, failoverLoad)
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.load.Run(loaded)
	}()
	pass(time.Second)
	if err := failOver(ctx, w.Database); err != nil {
		t.Error(err)
	}
	took, err := w.load.Ready(ctx)
	if err != nil {
		t.Errorf("VIOLATION: %v after the failover", err)
	} else if took > backAfterFailover {
		late = fmt.Sprintf("calls were answered %s after the failover", took)
	}
	t.Logf("every gateway answered %s after the failover", took.Round(time.Millisecond))
	<-ended
	w.Model.Heal()
	w.load.Finish(t.Context())
	w.report(t, nil, history.Check(w.load.Histories()), w.problems(t))
	return late
}

// fullDisk makes every insert of a result fail as on a full disk.
const fullDisk = `
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON results FOR EACH ROW EXECUTE FUNCTION full_disk()`

// TestAStoreThatCannotBeWrittenAsksNoModel fills the disk of Postgres, and empties it.
// spec: unwritable-store
func TestAStoreThatCannotBeWrittenAsksNoModel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	s := startSystem(t, system.Config{Forgetful: true})
	st := newStage(t, s.Model, s)
	st.at, st.next = s.Gateways[0].Listen, s.Gateways[1].Listen
	st.prism(t)
	postgres, err := pgx.Connect(ctx, s.DatabaseURL())
	if err != nil {
		t.Fatal(err)
	}
	defer postgres.Close(ctx)
	statement := func(sql string) {
		if _, err := postgres.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	create := func(race int) int {
		return st.client.Do(ctx, load.Request{
			Method: http.MethodPost, URL: "http://" + st.at + "/v1/prisms/" + load.Slugs[0] + "/results", Key: st.key,
			Body: map[string]any{"fields": map[string]string{"message": upstream.Tag{Race: race}.String()}},
		}).Status
	}
	writable := func(want float64) func() bool {
		return func() bool {
			for _, r := range s.Results {
				if n, err := r.Metric(ctx, `prism_store_writable{database="home"}`); err != nil || n != want {
					return false
				}
			}
			return true
		}
	}
	statement(fullDisk)
	var taken sync.WaitGroup
	for race := range 8 {
		taken.Go(func() { create(race) })
	}
	until(t, "no results service can write", writable(0))
	asked := s.Model.Total().Asked
	for race := range 8 {
		if status := create(100 + race); status != http.StatusServiceUnavailable {
			t.Errorf("a create that cannot be saved was answered %d", status)
		}
	}
	if got := st.do(ctx, st.at, http.MethodGet, "/v1/results?limit=1", nil); got.Status != http.StatusOK {
		t.Errorf("a read was answered %s", got)
	}
	if n := s.Model.Total().Asked; n != asked {
		t.Errorf("the model was asked %d times for what cannot be saved", n-asked)
	}
	for _, r := range s.Results {
		if status, body, err := r.Get(ctx, "/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("%s reports that it is ready: %d %s, %v", r.Name, status, body, err)
		}
	}
	statement("DROP TRIGGER full_disk ON results")
	until(t, "every results service can write", writable(1))
	taken.Wait()
	if status := create(200); status != http.StatusOK {
		t.Errorf("a create that can be saved was answered %d", status)
	}
	report(t, s.Problems())
}
