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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// userWorld is an account whose users upload, run, label and export.
type userWorld struct {
	client *client.Client
	model  *upstream.Model
	// cut means that connections are cut within calls. The answer to a call whose end nobody knows is a 500, and a row of which nobody
	// knows whether the model was asked has failed.
	cut bool

	mu    sync.Mutex
	races int
	used  []*labelledRun
}

// labelledRun is a run that has ended, and what was stored with it.
type labelledRun struct {
	*fileRun
	results map[int]savedRow
	labels  map[string]client.LabelValue
}

func newUserWorld(t *testing.T, o operated, url string, model *upstream.Model) *userWorld {
	t.Helper()
	return &userWorld{client: newClientOf(t, o, url), model: model}
}

// during has users work while fail is called and until all that they began has ended, and audits what they did.
func (w *userWorld) during(t *testing.T, fail func()) {
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
	users.Go(func() {
		for ctx.Err() == nil {
			w.export(t)
		}
	})
	fail()
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

func (w *userWorld) use(t *testing.T) {
	f := &fileRun{client: w.client, rows: twoChunks}
	w.mu.Lock()
	f.first = w.races + 1
	w.races += f.rows
	w.mu.Unlock()
	w.again(t, "a run", func(ctx context.Context) error { return f.start(ctx, upstream.Tag{}) })
	w.again(t, "its end", func(ctx context.Context) error {
		run, err := w.client.ReadRun(ctx, f.id)
		switch {
		case err != nil:
			return err
		case run.OK+run.Failed+run.Invalid+run.Cancelled+run.Pending != run.Rows:
			t.Errorf("VIOLATION: the counts do not add up: %+v", run)
		case run.Status != client.RunFinished:
			return errNotYet
		case run.OK == 0, run.OK+run.Failed != run.Rows:
			t.Errorf("VIOLATION: the run has ended as %+v", run)
		}
		return nil
	})
	r := &labelledRun{fileRun: f, labels: map[string]client.LabelValue{}}
	r.results = w.results(t, f)
	if !w.cut {
		w.timedOut(t, r.results)
	}
	for row, value := range map[int]client.LabelValue{1: "true", f.rows: "false"} {
		id := r.results[row].id
		if r.results[row].status == "failed" {
			continue // and has no labels
		}
		w.again(t, "a label", func(ctx context.Context) error {
			_, err := w.client.PutLabels(ctx, id, client.NewLabels{Labels: map[string]client.LabelValue{"urgent": value}})
			return err
		})
		r.labels[id] = value
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = append(w.used, r)
}

// timedOut holds that rows failed only because the model took its whole time, as on a machine that does too much at once.
func (w *userWorld) timedOut(t *testing.T, results map[int]savedRow) {
	t.Helper()
	for row, result := range results {
		if result.status != "failed" {
			continue
		}
		w.again(t, "a record", func(ctx context.Context) error {
			record, err := w.client.ReadRecord(ctx, result.id)
			if err == nil && (record.ErrorCode == nil || *record.ErrorCode != client.ErrorTimeout || record.TookMS < 15_000) {
				t.Errorf("VIOLATION: row %d failed: %+v", row, record)
			}
			return err
		})
	}
}

// results are those of a run by row, which each row has once.
func (w *userWorld) results(t *testing.T, f *fileRun) (rows map[int]savedRow) {
	t.Helper()
	w.again(t, "a list", func(ctx context.Context) error {
		rows = map[int]savedRow{}
		for r, err := range w.client.Results(ctx, client.ResultFilter{Run: f.id}) {
			if err != nil {
				return err
			}
			row, err := strconv.Atoi(*r.Ref)
			if err != nil || rows[row] != (savedRow{}) {
				t.Errorf("VIOLATION: row %s has two results, or none should have: %v", *r.Ref, err)
			}
			rows[row] = savedRow{r.ID, string(r.Status)}
		}
		return nil
	})
	return rows
}

// audit holds what is stored of a run against what was seen at its end, and against the model.
func (w *userWorld) audit(t *testing.T, r *labelledRun) {
	t.Helper()
	if now := w.results(t, r.fileRun); !maps.Equal(now, r.results) || len(now) != r.rows {
		t.Errorf("VIOLATION: the run has %d results, and had %d", len(now), len(r.results))
	}
	for row := range r.rows {
		if n := w.model.Count(r.first + row).Asked; n < 1 && r.results[row+1].status == "ok" || n > mostAsked {
			t.Errorf("VIOLATION: the model was asked %d times for a row", n)
		}
	}
	for id, value := range r.labels {
		w.again(t, "the labels", func(ctx context.Context) error {
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

// export reads all results, of which there is each one once, and those of each run that had ended before.
func (w *userWorld) export(t *testing.T) {
	w.mu.Lock()
	before := slices.Clone(w.used)
	w.mu.Unlock()
	var exported map[string]bool
	w.again(t, "an export", func(ctx context.Context) error {
		exported = map[string]bool{}
		type line struct {
			ID string `json:"result_id"`
		}
		for r, err := range client.Rows[line](w.client.ExportResults(ctx, load.Slugs[0], client.Export{Format: client.JSONL})) {
			if err != nil {
				return err
			}
			if exported[r.ID] {
				t.Errorf("VIOLATION: an export has %s twice", r.ID)
			}
			exported[r.ID] = true
		}
		return nil
	})
	for _, r := range before {
		for row, saved := range r.results {
			if !exported[saved.id] {
				t.Errorf("VIOLATION: an export is without %s of row %d", saved.id, row)
			}
		}
	}
}

// again repeats a call until it succeeds. Only a call that took nothing or was not answered may fail.
func (w *userWorld) again(t *testing.T, what string, call func(ctx context.Context) error) {
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
		may := !errors.As(err, &told) || told.Status == http.StatusServiceUnavailable || w.cut && told.Status == http.StatusInternalServerError
		if ctx.Err() != nil || !may {
			t.Errorf("VIOLATION: %s: %v", what, err)
			runtime.Goexit()
		}
		<-tick.C
	}
}

// session is a browser that has signed in.
type session struct {
	url, cookie string
	maxAge      time.Duration
}

func signIn(t *testing.T, s *system.System) *session {
	t.Helper()
	p := &session{url: s.Gateways[0].URL()}
	answered(t, "a sign-in", http.StatusNoContent, func() (status int, text []byte) {
		link, err := s.Operate(t.Context(), "console", "link", "--print", "--account", runner, "--url", p.url)
		must(t, err)
		_, token, _ := strings.Cut(link, "#")
		return p.answer(t, http.MethodPost, "/console/session", `{"token":"`+token+`"}`)
	})
	return p
}

// works reads the session, and makes a call with a key of it.
func (p *session) works(t *testing.T) {
	t.Helper()
	p.ask(t, http.MethodGet, "/console/session", "", http.StatusOK)
	c, err := client.New(client.Config{URL: p.url, Key: p.key(t)})
	must(t, err)
	_, err = c.ReadPrism(t.Context(), load.Slugs[0])
	must(t, err)
}

// key makes an API key of the session.
func (p *session) key(t *testing.T) string {
	t.Helper()
	var made struct{ Key string }
	must(t, json.Unmarshal(p.ask(t, http.MethodPost, "/console/session/key", "{}", http.StatusOK), &made))
	return made.Key
}

func (p *session) ask(t *testing.T, method, path, body string, want int) []byte {
	t.Helper()
	return answered(t, method+" "+path, want, func() (status int, text []byte) { return p.answer(t, method, path, body) })
}

// answered makes a call of the console until it has an answer: what a busy machine had no time for was not taken, which is a 503, or its
// response was lost, which is a 500.
func answered(t *testing.T, what string, want int, call func() (status int, text []byte)) []byte {
	t.Helper()
	status, text := call()
	for end := time.Now().Add(recoveryBudget); status >= http.StatusInternalServerError && time.Now().Before(end); {
		load.Wait(t.Context(), time.Second)
		status, text = call()
	}
	if status != want {
		t.Fatalf("VIOLATION: %s: %d %s", what, status, text)
	}
	return text
}

func (p *session) answer(t *testing.T, method, path, body string) (status int, text []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", p.cookie)
	answer, err := http.DefaultClient.Do(req)
	must(t, err)
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	must(t, err)
	for _, c := range answer.Cookies() {
		p.cookie, p.maxAge = fmt.Sprintf("%s=%s", c.Name, c.Value), time.Duration(c.MaxAge)*time.Second
	}
	return answer.StatusCode, text
}
