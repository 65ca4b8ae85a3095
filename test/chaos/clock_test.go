package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// TestClocksThatJumpChangeNothing sets the wall clock of each service a minute back and an hour forward, again and again,
// while clients call. No clock of a service may show in an id, a time, a lease or an expiry.
// spec: one-clock, clocks-that-jump, key-expiry, linearizable
func TestClocksThatJumpChangeNothing(t *testing.T) {
	t.Parallel()
	onceOf(t, func() string { return jump(t) })
}

const (
	back, forward = -time.Minute, time.Hour
	// clockError is how exactly a results service knows the time of the database, on a machine of any load.
	clockError = time.Second
)

func jump(t *testing.T) (late string) {
	t.Helper()
	lc := contended(t)
	lc.Tag.SlowPercent = 5
	w := startWorld(t, system.Config{
		Forgetful: true, Model: upstream.Config{Pause: 20 * time.Millisecond, MaxPause: 2 * time.Second},
	}, lc)
	clocks := w.clocks(t)
	began := time.Now()
	lasts, ends := w.expiring(t, 30*time.Minute), w.expiring(t, 2*time.Second)
	expired := time.Now().Add(2*time.Second + clockError)

	loaded, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.load.Run(loaded)
	}()
	for step := range 4 {
		for i, clock := range clocks {
			if err := clock.Set([]time.Duration{back, forward, 0}[(i+step)%3]); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Second)
		for _, got := range w.each(t, "/v1/results?limit=1", lasts) {
			if got.Status != http.StatusOK {
				t.Errorf("a key that expires in half an hour is answered %s", got)
			}
		}
		if time.Now().Before(expired) {
			continue
		}
		for _, got := range w.each(t, "/v1/results?limit=1", ends) {
			if got.Status != http.StatusUnauthorized {
				t.Errorf("a key that has expired is answered %s", got)
			}
		}
	}
	stop()
	<-ended
	w.Model.Heal()
	w.load.Finish(t.Context())
	w.report(t, nil, history.Check(w.load.Histories()), append(w.problems(t), w.stamps(t, began)...))
	w.listed(t)
	return w.undisturbed(t)
}

// clocks are the wall clocks of all services.
func (w *world) clocks(t *testing.T) (clocks []*wallclock.Clock) {
	t.Helper()
	for _, p := range w.Parts() {
		clock, err := wallclock.TakeOver(p.Process().PID())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := clock.Close(); err != nil {
				t.Error(err)
			}
		})
		clocks = append(clocks, clock)
	}
	return clocks
}

// expiring makes an API key that expires.
func (w *world) expiring(t *testing.T, after time.Duration) string {
	t.Helper()
	client := load.NewClient(0, 1)
	defer client.Close()
	got := client.Do(t.Context(), load.Request{
		Method: http.MethodPost, URL: "http://" + w.Gateways[0].Listen + "/v1/keys", Key: w.keys[0],
		Body: map[string]any{"name": "expiring", "expires_at": time.Now().Add(after).UTC().Format(time.RFC3339Nano)},
	})
	var made struct{ Key string }
	if err := json.Unmarshal(got.Body, &made); err != nil || made.Key == "" {
		t.Fatalf("no key was made: %s", got)
	}
	return made.Key
}

// each reads a path of each gateway as often as there are results services: the gateway asks them in turn.
func (w *world) each(t *testing.T, path, key string) (all []load.Reply) {
	t.Helper()
	client := load.NewClient(0, 1)
	defer client.Close()
	for _, g := range w.Gateways {
		for range w.Results {
			all = append(all, client.Do(t.Context(), load.Request{Method: http.MethodGet, URL: "http://" + g.Listen + path, Key: key}))
		}
	}
	return all
}

// stamps holds that each result has the time at which it was saved, and an id with the time at which its call began.
func (w *world) stamps(t *testing.T, began time.Time) (problems []error) {
	t.Helper()
	l, err := w.read(t)
	if err != nil {
		return []error{err}
	}
	for _, r := range l.all {
		ms, err := strconv.ParseInt(strings.ReplaceAll(r.ID[:13], "-", ""), 16, 64)
		if err != nil {
			return []error{err}
		}
		id := time.UnixMilli(ms)
		switch {
		case r.CreatedAt.Before(began.Add(-clockError)) || r.CreatedAt.After(time.Now().Add(clockError)):
			problems = append(problems, fmt.Errorf("%s was created at %s, not between %s and now", r.ID, r.CreatedAt, began))
		case id.After(r.CreatedAt.Add(clockError)) || id.Before(r.CreatedAt.Add(-longestCall)):
			problems = append(problems, fmt.Errorf("the id %s of %s was created at %s", r.ID, id, r.CreatedAt))
		}
	}
	return problems
}

// listed holds that each gateway lists and exports each result once, in the order of the ids.
func (w *world) listed(t *testing.T) {
	t.Helper()
	l, err := w.read(t)
	if err != nil {
		t.Fatal(err)
	}
	client := load.NewClient(4, 0)
	defer client.Close()
	get := func(gateway *system.Part, path, key string) []byte {
		got := client.Do(t.Context(), load.Request{Method: http.MethodGet, URL: "http://" + gateway.Listen + path, Key: key})
		if got.Status != http.StatusOK {
			t.Fatalf("%s: %s", path, got)
		}
		return got.Body
	}
	for _, g := range w.Gateways {
		for i, key := range w.keys {
			account := fmt.Sprintf("account-%d", i)
			var listed []string
			for cursor := "/v1/results?limit=17"; cursor != ""; {
				var page struct {
					Data       []struct{ ID string }
					NextCursor *string `json:"next_cursor"`
				}
				if err := json.Unmarshal(get(g, cursor, key), &page); err != nil {
					t.Fatal(err)
				}
				for _, r := range page.Data {
					listed = append(listed, r.ID)
				}
				cursor = ""
				if page.NextCursor != nil {
					cursor = "/v1/results?limit=17&cursor=" + *page.NextCursor
				}
			}
			slices.Reverse(listed)
			if want := l.ids(account, ""); !slices.Equal(listed, want) {
				t.Errorf("VIOLATION: %s lists %d results of %s of %d, or in another order", g.Name, len(listed), account, len(want))
			}
			for _, slug := range load.Slugs {
				var exported []string
				for line := range strings.Lines(string(get(g, "/v1/prisms/"+slug+"/results?format=jsonl", key))) {
					var r struct {
						ID string `json:"result_id"`
					}
					if err := json.Unmarshal([]byte(line), &r); err != nil {
						t.Fatal(err)
					}
					exported = append(exported, r.ID)
				}
				if want := l.ids(account, slug); !slices.Equal(exported, want) {
					t.Errorf("VIOLATION: %s exports %d results of %s of %d, or in another order", g.Name, len(exported), slug, len(want))
				}
			}
		}
	}
}

// ids are the ids of an account's results, or of those of one prism, in their order.
func (l *ledger) ids(account, prism string) (ids []string) {
	for _, r := range l.all {
		if r.Account == account && (prism == "" || r.Prism == prism) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
