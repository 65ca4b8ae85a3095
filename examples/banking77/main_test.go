package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
)

// fake is a Prism whose runs answer every row with card_arrival, unless a test says otherwise.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	exists   bool
	archived *client.Time
	content  []byte
	puts     int
	keys     map[string]int // idempotency key → how often it was sent
	created  string         // the last body
	run      client.Run
	events   func(w http.ResponseWriter, r *http.Request)
	status   string // of every row
}

const goodKey = "prism_good"

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{keys: map[string]int{}, status: "ok", run: aRun(client.RunFinished, 200, 0)}
	f.events = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, r := range []client.Run{aRun(client.RunRunning, 100, 0), f.run} {
			text, err := json.Marshal(r)
			if err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
			_ = http.NewResponseController(w).Flush()
		}
	}
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(r *http.Request, body []byte) (int, string){
		"POST /v1/prisms": f.createPrism,
		"GET /v1/prisms/banking77": func(*http.Request, []byte) (int, string) {
			return http.StatusOK, encode(client.Prism{ArchivedAt: f.archived})
		},
		"GET /v1/files":             func(*http.Request, []byte) (int, string) { return http.StatusOK, `{"data":[` + f.file() + `]}` },
		"GET /v1/files/f":           func(*http.Request, []byte) (int, string) { return http.StatusOK, f.file() },
		"POST /v1/files":            func(*http.Request, []byte) (int, string) { return http.StatusCreated, f.file() },
		"POST /v1/files/f/complete": func(*http.Request, []byte) (int, string) { return http.StatusAccepted, f.file() },
		"PUT /v1/files/f/parts/1": func(_ *http.Request, body []byte) (int, string) {
			f.content = body
			f.puts++
			return http.StatusOK, encode(client.FilePart{Part: 1})
		},
		"POST /v1/prisms/banking77/runs": f.createRun,
		"GET /v1/runs/r":                 func(*http.Request, []byte) (int, string) { return http.StatusOK, encode(f.run) },
		"GET /v1/runs/r/rows":            f.rows,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			status, text := answer(r, body)
			reply(w, r, status, text)
		})
	}
	mux.HandleFunc("GET /v1/runs/r/events", func(w http.ResponseWriter, r *http.Request) { f.events(w, r) })
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+goodKey {
			reply(w, r, http.StatusUnauthorized, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// aRun is a run of the 200 questions.
func aRun(status client.RunStatus, ok, failed int64) client.Run {
	began := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	return client.Run{
		ID: "r", Status: status, Rows: 200, OK: ok, Failed: failed, Pending: 200 - ok - failed,
		StartedAt: &client.Time{Time: began}, FinishedAt: &client.Time{Time: began.Add(4 * time.Second)},
	}
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (f *fake) createPrism(_ *http.Request, body []byte) (int, string) {
	if f.exists {
		return http.StatusConflict, `{"error":{"code":"conflict","message":"A prism with this slug already exists."}}`
	}
	f.exists = json.Valid(body)
	return http.StatusCreated, encode(client.Prism{})
}

// file is the file before or behind its only part.
func (f *fake) file() string {
	sum := sha256.Sum256(questionsCSV)
	one := client.File{
		ID: "f", Name: "questions.csv", Format: client.FileCSV, Bytes: int64(len(questionsCSV)), SHA256: new(hex.EncodeToString(sum[:])),
		Status: client.FileUploading, PartBytes: 1 << 20, Parts: 1, Missing: []int{1},
	}
	if f.content != nil {
		one.Status, one.Missing = client.FileReady, nil
	}
	return encode(one)
}

func (f *fake) createRun(_ *http.Request, body []byte) (int, string) {
	var sent client.NewRun
	if json.Unmarshal(body, &sent) != nil || sent.FileID != "f" || sent.Fields["text"] != "text" {
		return http.StatusBadRequest, `{"error":{"code":"bad_request","message":"another run"}}`
	}
	f.keys[sent.IdempotencyKey]++
	f.created = string(body)
	return http.StatusCreated, encode(aRun(client.RunQueued, 0, 0))
}

func (f *fake) rows(r *http.Request, _ []byte) (int, string) {
	records, err := csv.NewReader(strings.NewReader(string(questionsCSV))).ReadAll()
	if err != nil || r.URL.Query().Get("format") != "jsonl" {
		return http.StatusBadRequest, `{}`
	}
	var b strings.Builder
	for i, record := range records[1:] {
		row := map[string]any{
			"text": record[0], "category": record[1], "prism_row": i + 1, "prism_status": f.status, "prism_error": nil, "intent": nil, "problem": nil,
		}
		if f.status == "ok" {
			row["intent"], row["problem"] = "card_arrival", "yes"
		} else {
			row["prism_error"] = "The model did not answer within 15 seconds."
		}
		b.WriteString(encode(row) + "\n")
	}
	return http.StatusOK, b.String()
}

func reply(w http.ResponseWriter, r *http.Request, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if strings.HasSuffix(r.URL.Path, "/rows") {
		w.Header().Set("Content-Type", "application/jsonl")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (f *fake) env(name string) string {
	return map[string]string{"PRISM_URL": f.URL + "/", "PRISM_API_KEY": goodKey}[name]
}

func TestTheFileIsRunAndItsAnswersAreComparedWithItsOwn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var out strings.Builder
	if err := run(t.Context(), []string{"-concurrency", "4"}, f.env, &out, false); err != nil {
		t.Fatal(err)
	}
	if !f.exists || string(f.content) != string(questionsCSV) || f.keys["banking77-file-1"] != 1 || !strings.Contains(f.created, `"concurrency":4`) {
		t.Errorf("%d bytes were sent, and %s", len(f.content), f.created)
	}
	for _, want := range []string{
		`^100 of 200\n200 of 200\n`, `answered +200\b`, `failed +0\b`, `rows per second +50\b`, `\b1%  have the intent`,
		`100%  say that the customer reports a problem`, `200  card_arrival`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is not in:\n%s", want, out.String())
		}
	}
}

func TestAnotherStartComesBackToTheRun(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 2 {
		if err := run(t.Context(), nil, f.env, io.Discard, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), []string{"-run", "2"}, f.env, io.Discard, false); err != nil {
		t.Fatal(err)
	}
	if f.puts != 1 || f.keys["banking77-file-1"] != 2 || f.keys["banking77-file-2"] != 1 {
		t.Errorf("the file was sent %d times, and %v", f.puts, f.keys)
	}
}

func TestAnArchivedPrismIsNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.exists, f.archived = true, &client.Time{Time: time.Date(2026, 11, 20, 14, 3, 27, 0, time.UTC)}
	err := run(t.Context(), nil, f.env, io.Discard, false)
	if err == nil || !strings.Contains(err.Error(), "unarchive") {
		t.Error(err)
	}
}

func TestSettingsThatAreMissingOrWrongSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{name: "no key", want: "make run"},
		{name: "an address without a scheme", env: map[string]string{"PRISM_API_KEY": "k", "PRISM_URL": "localhost:8080"}, want: "PRISM_URL must be an address such as http://127.0.0.1:8080"},
		{name: "fewer than no questions at once", args: []string{"-concurrency", "-1"}, want: "0 or more"},
		{name: "an unknown flag", args: []string{"-x"}, want: "not defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), c.args, func(name string) string { return c.env[name] }, io.Discard, false)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

func TestARefusedKeyIsToldAsPrismTellsIt(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	env := func(name string) string {
		return map[string]string{"PRISM_URL": f.URL, "PRISM_API_KEY": "prism_bad"}[name]
	}
	if err := run(t.Context(), nil, env, io.Discard, false); err == nil || err.Error() != "401 Invalid API key" {
		t.Error(err)
	}
}

func TestRowsWithoutAnAnswerAreAnErrorWithItsCure(t *testing.T) {
	t.Parallel()
	for status, want := range map[client.RunStatus]string{
		client.RunFinished: "finished (The model did not answer within 15 seconds). Continue with: bin/prismctl runs retry r --watch",
		client.RunPaused:   "paused (137 of the last 200 rows failed). Continue with: bin/prismctl runs resume r --watch",
	} {
		f := newFake(t)
		f.status, f.run = "failed", aRun(status, 0, 200)
		if status == client.RunPaused {
			f.run.Reason = new("137 of the last 200 rows failed.")
		}
		var out strings.Builder
		err := run(t.Context(), nil, f.env, &out, false)
		if err == nil || err.Error() != "200 of 200 questions have no answer; the run is "+want {
			t.Error(err)
		}
		if !regexp.MustCompile(`failed +200`).MatchString(out.String()) {
			t.Error(out.String())
		}
	}
}

func TestNoServerIsExplained(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.Close()
	if err := run(t.Context(), nil, f.env, io.Discard, false); err == nil || !strings.Contains(err.Error(), "is it running?") {
		t.Error(err)
	}
}

func TestStoppingLeavesTheRunGoing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.events = func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}
	err := run(ctx, nil, f.env, io.Discard, false)
	if err == nil || err.Error() != "stopped watching at 0 of 200; the run goes on, and another start comes back to it" {
		t.Error(err)
	}
}

func TestProgressIsABarOnATerminalAndLinesElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{true, "\r" + strings.Repeat("█", 20) + strings.Repeat("░", 20) + " 2 of 4, 0 s " + "\r" + strings.Repeat("█", 40) + " 4 of 4, 0 s \n"},
		{false, "2 of 4\n4 of 4\n"},
	} {
		var out strings.Builder
		p := &progress{out: &out, terminal: c.terminal, began: time.Now()}
		for _, pending := range []int64{2, 0} {
			p.step(client.Run{Rows: 4, Pending: pending})
		}
		p.end()
		if out.String() != c.want {
			t.Errorf("got %q", out.String())
		}
	}
}

func TestTheDefinitionFitsTheData(t *testing.T) {
	t.Parallel()
	var p struct {
		Slug      string
		Fields    []struct{ Key, Label string }
		Questions []struct {
			Key, Type string
			Options   []struct{ Key, Label, Description string }
			Levels    []struct{ Key, Label string }
			Enough    bool `json:"insufficient_information"`
		}
	}
	if err := json.Unmarshal(prismJSON, &p); err != nil {
		t.Fatal(err)
	}
	intent := p.Questions[0]
	if p.Slug != prismSlug || len(p.Fields) != 1 || len(intent.Options) != 77 || !intent.Enough || len(p.Questions[2].Levels) != 4 {
		t.Errorf("%+v", p)
	}
	known := map[string]bool{}
	for _, o := range intent.Options {
		if known[o.Key] || o.Label == "" || o.Description == "" {
			t.Errorf("option %+v", o)
		}
		known[o.Key] = true
	}
	rows, err := csv.NewReader(strings.NewReader(string(questionsCSV))).ReadAll()
	if err != nil || len(rows) != 201 || rows[0][0] != "text" || rows[0][1] != "category" {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows[1:] {
		if !known[row[1]] {
			t.Errorf("no option for %s", row[1])
		}
	}
}
