package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// In the tests of this file, files are uploaded and run, and results are labelled, while clocks jump back and forth by minutes and hours.
// The runs end, each row has one result, labels stay, and the counts of a run always add up.

// spec: clocks-that-jump, one-clock, one-result-a-row, run-counts, console-session
func TestFileRunsHoldWhileTheClocksOfServicesJump(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Forgetful: true, Workers: 2, Console: true, Model: upstream.Config{Pause: 5 * time.Millisecond}})
	w := newClockWorld(t, s, s.Gateways[0].URL(), s.Model)
	world := &world{System: s}
	clocks := world.clocks(t)
	began := time.Now()
	page := signIn(t, s)
	w.during(t, func() {
		offsets := []time.Duration{-time.Minute, time.Hour, -5 * time.Hour, 26 * time.Hour, 0}
		for step := range offsets {
			for i, clock := range clocks {
				must(t, clock.Set(offsets[(i+step)%len(offsets)]))
			}
			page.works(t)
			left := signIn(t, s).maxAge
			if off := left - sessionTime; off.Abs() > time.Minute {
				t.Errorf("VIOLATION: the cookie of a session lasts for %s, not %s", left, sessionTime)
			}
			pass(time.Second)
		}
	})
	for _, problem := range world.stamps(t, began) {
		t.Errorf("VIOLATION: %v", problem)
	}
	report(t, s.Problems())
}

// A worker dies and files are completed while the clock is ahead, so that leases and turns are left that lie in the future.
//
// spec: clocks-that-jump, one-result-a-row, run-counts
func TestFileRunsHoldWhileTheClockOfPostgresJumps(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Forgetful: true, Workers: 2, Model: upstream.Config{Pause: 5 * time.Millisecond}})
	w := newClockWorld(t, s, s.Gateways[0].URL(), s.Model)
	w.during(t, func() {
		for _, ahead := range []time.Duration{time.Hour, 0, -time.Hour, 3 * time.Hour, 0} {
			must(t, s.Workers[0].Kill())
			clock, err := wallclock.Of(s.Postgres.PID()) // of the processes that it has now
			must(t, err)
			must(t, clock.Set(ahead), clock.Close(), s.Workers[0].Start(t.Context()))
			pass(clockFollowed)
		}
	})
	report(t, s.Problems())
}

// clockFollowed is how long results take to learn of a new time of Postgres.
const clockFollowed = 11 * time.Second

// The process dies while its clock is ahead, and starts with the right one.
//
// spec: clocks-that-jump, one-result-a-row, run-counts
func TestFileRunsHoldWhileTheClockOfAStandalonePrismJumps(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	s, err := system.NewStandalone(ctx, histories, upstream.Config{Pause: 5 * time.Millisecond}, t.TempDir(), false)
	must(t, err)
	t.Cleanup(func() { report(t, append(s.Problems(), s.Close())) })
	w := newClockWorld(t, s, s.URL(), s.Model)
	w.during(t, func() {
		for _, offsets := range [][]time.Duration{{time.Minute, -time.Minute}, {time.Hour, -time.Hour, 3 * time.Hour}} {
			clock, err := wallclock.Of(s.Process().PID())
			must(t, err)
			for _, ahead := range offsets {
				must(t, clock.Set(ahead))
				pass(2 * time.Second)
			}
			must(t, clock.Close(), s.Kill(), s.Start(t.Context()))
			pass(time.Second)
		}
	})
}

// clockWorld is an account whose users upload, run and label.
type clockWorld struct {
	client *client.Client
	model  *upstream.Model

	mu    sync.Mutex
	races int
	used  []*labelledRun
}

// labelledRun is a run that has ended, and what was stored with it.
type labelledRun struct {
	*fileRun
	results map[int]string // ids by row
	labels  map[string]client.LabelValue
}

func newClockWorld(t *testing.T, o operated, url string, model *upstream.Model) *clockWorld {
	t.Helper()
	return &clockWorld{client: newClientOf(t, o, url), model: model}
}

// during has users work while jump is called and until all that they began has ended, and audits what they did.
func (w *clockWorld) during(t *testing.T, jump func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var users sync.WaitGroup
	for range 2 {
		users.Go(func() {
			for ctx.Err() == nil {
				w.use(t)
			}
		})
	}
	jump()
	stop()
	users.Wait()
	if len(w.used) == 0 {
		t.Fatal("nothing has ended, so nothing is shown")
	}
	t.Logf("%d runs", len(w.used))
	for _, r := range w.used {
		w.audit(t, r)
	}
}

func (w *clockWorld) use(t *testing.T) {
	f := &fileRun{client: w.client, rows: twoChunks}
	w.mu.Lock()
	f.first = w.races + 1
	w.races += f.rows
	w.mu.Unlock()
	again(t, "a run", func(ctx context.Context) error { return f.start(ctx, upstream.Tag{}) })
	again(t, "its end", func(ctx context.Context) error {
		run, err := w.client.ReadRun(ctx, f.id)
		switch {
		case err != nil:
			return err
		case run.OK+run.Failed+run.Invalid+run.Cancelled+run.Pending != run.Rows:
			t.Errorf("VIOLATION: the counts do not add up: %+v", run)
		case run.Status != client.RunFinished:
			return errNotYet
		case run.OK != run.Rows:
			t.Errorf("VIOLATION: the run has ended as %+v", run)
		}
		return nil
	})
	r := &labelledRun{fileRun: f, labels: map[string]client.LabelValue{}}
	r.results = w.results(t, f)
	for row, value := range map[int]client.LabelValue{1: "true", f.rows: "false"} {
		id := r.results[row]
		again(t, "a label", func(ctx context.Context) error {
			_, err := w.client.PutLabels(ctx, id, client.NewLabels{Labels: map[string]client.LabelValue{"urgent": value}})
			return err
		})
		r.labels[id] = value
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = append(w.used, r)
}

// results are the ids of a run's results by row, which each row has once.
func (w *clockWorld) results(t *testing.T, f *fileRun) (ids map[int]string) {
	t.Helper()
	again(t, "a list", func(ctx context.Context) error {
		ids = map[int]string{}
		for r, err := range w.client.Results(ctx, client.ResultFilter{Run: f.id}) {
			if err != nil {
				return err
			}
			row, err := strconv.Atoi(*r.Ref)
			if err != nil || ids[row] != "" {
				t.Errorf("VIOLATION: row %s has two results, or none should have: %v", *r.Ref, err)
			}
			ids[row] = r.ID
		}
		return nil
	})
	return ids
}

// audit holds what is stored of a run against what was seen at its end, and against the model.
func (w *clockWorld) audit(t *testing.T, r *labelledRun) {
	t.Helper()
	if now := w.results(t, r.fileRun); !maps.Equal(now, r.results) || len(now) != r.rows {
		t.Errorf("VIOLATION: the run has %d results, and had %d", len(now), len(r.results))
	}
	for row := range r.rows {
		if n := w.model.Count(r.first + row).Asked; n < 1 || n > mostAsked {
			t.Errorf("VIOLATION: the model was asked %d times for a row", n)
		}
	}
	for id, value := range r.labels {
		again(t, "the labels", func(ctx context.Context) error {
			got, err := w.client.ReadLabels(ctx, id)
			if err == nil && got.Labels["urgent"].Value != value {
				t.Errorf("VIOLATION: the result %s has the labels %v, not %s", id, got.Labels, value)
			}
			return err
		})
	}
}

// mostAsked is how often the model may be asked for a row: once for each time that its lease may be lost.
const mostAsked = 6

// again repeats a call until it succeeds. Only a call that took nothing or was not answered may fail.
func again(t *testing.T, what string, call func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := call(ctx)
		if err == nil {
			return
		}
		var told *client.Error
		if ctx.Err() != nil || errors.As(err, &told) && told.Status != http.StatusServiceUnavailable {
			t.Errorf("VIOLATION: %s: %v", what, err)
			runtime.Goexit()
		}
		<-tick.C
	}
}

// sessionTime is how long a session lasts at most (spec: console-session).
const sessionTime = 7 * 24 * time.Hour

// session is a browser that has signed in.
type session struct {
	url, cookie string
	maxAge      time.Duration
}

func signIn(t *testing.T, s *system.System) *session {
	t.Helper()
	link, err := s.Operate(t.Context(), "console", "link", "--print", "--account", "runner", "--url", s.Gateways[0].URL())
	must(t, err)
	_, token, _ := strings.Cut(link, "#")
	p := &session{url: s.Gateways[0].URL()}
	p.ask(t, http.MethodPost, "/console/session", `{"token":"`+token+`"}`, http.StatusNoContent)
	return p
}

// works reads the session, and makes a call with a key of it.
func (p *session) works(t *testing.T) {
	t.Helper()
	p.ask(t, http.MethodGet, "/console/session", "", http.StatusOK)
	var made struct{ Key string }
	must(t, json.Unmarshal(p.ask(t, http.MethodPost, "/console/session/key", "{}", http.StatusOK), &made))
	c, err := client.New(client.Config{URL: p.url, Key: made.Key})
	must(t, err)
	_, err = c.ReadPrism(t.Context(), load.Slugs[0])
	must(t, err)
}

func (p *session) ask(t *testing.T, method, path, body string, want int) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", p.cookie)
	answer, err := http.DefaultClient.Do(req)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	if answer.StatusCode != want {
		t.Fatalf("VIOLATION: %s %s: %d %s", method, path, answer.StatusCode, text)
	}
	for _, c := range answer.Cookies() {
		p.cookie, p.maxAge = fmt.Sprintf("%s=%s", c.Name, c.Value), time.Duration(c.MaxAge)*time.Second
	}
	return text
}
