package main

import (
	"context"
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
)

// fake is a Prism that answers card_arrival, unless a test says otherwise.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	exists   bool
	archived string
	keys     map[string]int // idempotency key → how often it was sent
	busy     int
	busiest  int
	answer   func(w http.ResponseWriter, sent int) bool // true: it has answered
}

const goodKey = "prism_good"

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{keys: map[string]int{}, archived: "null"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/prisms", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.exists {
			reply(w, http.StatusConflict, `{"error":{"code":"conflict","message":"A prism with this slug already exists."}}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		f.exists = json.Valid(body)
		reply(w, http.StatusCreated, `{}`)
	})
	mux.HandleFunc("GET /v1/prisms/banking77", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, `{"archived_at":`+f.archived+`}`)
	})
	mux.HandleFunc("POST /v1/prisms/banking77/results", f.create)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+goodKey {
			reply(w, http.StatusUnauthorized, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Text string `json:"text"`
		Key  string `json:"idempotency_key"`
	}
	if json.NewDecoder(r.Body).Decode(&sent) != nil || sent.Text == "" {
		reply(w, http.StatusBadRequest, `{}`)
		return
	}
	f.mu.Lock()
	f.keys[sent.Key]++
	times := f.keys[sent.Key]
	f.busy++
	f.busiest = max(f.busiest, f.busy)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.busy--
		f.mu.Unlock()
	}()
	if f.answer != nil && f.answer(w, times) {
		return
	}
	reply(w, http.StatusOK, `{"status":"ok","error":null,"answers":{"intent":"card_arrival","problem":"yes","urgency":"high"}}`)
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (f *fake) env(name string) string {
	return map[string]string{"PRISM_URL": f.URL + "/", "PRISM_API_KEY": goodKey}[name]
}

func TestEveryQuestionIsAnsweredOnceUnderAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var out strings.Builder
	if err := run(t.Context(), []string{"-parallel", "4"}, f.env, &out, false); err != nil {
		t.Fatal(err)
	}
	if !f.exists || len(f.keys) != 200 || f.keys["banking77-1-001"] != 1 || f.keys["banking77-1-200"] != 1 {
		t.Errorf("%d keys were sent", len(f.keys))
	}
	if f.busiest > 4 {
		t.Errorf("%d calls at once", f.busiest)
	}
	if strings.Contains(out.String(), "went wrong") {
		t.Errorf("it reads like a failure:\n%s", out.String())
	}
	for _, want := range []string{`answered +200\b`, `failed +0\b`, `p50 +[\d.]+ ms`, `p99 +[\d.]+ ms`, `calls per second +\d+`, `\b20%  have the intent`, `100%  say that the customer reports a problem`, `200  card_arrival`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is missing:\n%s", want, out.String())
		}
	}
}

func TestASecondRunSendsTheSameKeysAndAnotherNameOthers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, name := range []string{"1", "1", "2"} {
		if err := run(t.Context(), []string{"-run", name}, f.env, io.Discard, false); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.keys) != 400 || f.keys["banking77-1-007"] != 2 || f.keys["banking77-2-007"] != 1 {
		t.Errorf("%d keys were sent", len(f.keys))
	}
}

func TestAnArchivedPrismIsNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.exists, f.archived = true, `"2026-11-20T14:03:27.412Z"`
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
		{name: "no calls at once", args: []string{"-parallel", "0"}, want: "1 or more"},
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

func TestFailedResultsAreCountedAndFailTheRun(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ int) bool {
		reply(w, http.StatusBadGateway, `{"id":"1","status":"failed","error":"The model did not answer within 15 seconds.","answers":null}`)
		return true
	}
	var out strings.Builder
	err := run(t.Context(), nil, f.env, &out, false)
	if err == nil || !strings.Contains(err.Error(), "200 of 200 questions have no answer") || !strings.Contains(err.Error(), "15 seconds") {
		t.Error(err)
	}
	if !regexp.MustCompile(`failed +200`).MatchString(out.String()) || f.keys["banking77-1-001"] != 1 {
		t.Error(out.String())
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

func TestStoppingEndsTheRunWithWhatItHas(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.answer = func(http.ResponseWriter, int) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.keys) > 20 {
			cancel()
		}
		return false
	}
	var out strings.Builder
	err := run(ctx, nil, f.env, &out, false)
	if err == nil || !strings.Contains(err.Error(), "run it again to continue") {
		t.Error(err)
	}
	if !regexp.MustCompile(`not asked +1\d\d`).MatchString(out.String()) {
		t.Error(out.String())
	}
}

func TestProgressIsABarOnATerminalAndLinesElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{true, "\r" + strings.Repeat("█", 20) + strings.Repeat("░", 20) + " 2 of 4, 0 s " + "\r" + strings.Repeat("█", 30) + strings.Repeat("░", 10) + " 3 of 4, 0 s " + "\r" + strings.Repeat("█", 40) + " 4 of 4, 0 s \n"},
		{false, "2 of 4\n3 of 4\n4 of 4\n"},
	} {
		var out strings.Builder
		p := &progress{out: &out, terminal: c.terminal, total: 4, began: time.Now()}
		for done := 2; done <= 4; done++ {
			p.step(done)
		}
		p.end()
		if out.String() != c.want {
			t.Errorf("got %q", out.String())
		}
	}
}

func TestPercentilesAreByNearestRank(t *testing.T) {
	t.Parallel()
	var all []time.Duration
	for i := 100; i >= 1; i-- {
		all = append(all, time.Duration(i))
	}
	for p, want := range map[float64]time.Duration{50: 50, 99: 99, 100: 100, 0: 1} {
		if got := percentile(all, p); got != want {
			t.Errorf("p%v is %d", p, got)
		}
	}
	if percentile(nil, 50) != 0 {
		t.Error("nothing has a percentile")
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
	if p.Slug != prismSlug || len(p.Fields) != 1 || len(intent.Options) != 20 || !intent.Enough || len(p.Questions[2].Levels) != 4 {
		t.Errorf("%+v", p)
	}
	known := map[string]bool{}
	for _, o := range intent.Options {
		if known[o.Key] || o.Label == "" || o.Description == "" {
			t.Errorf("option %+v", o)
		}
		known[o.Key] = true
	}
	questions, err := readQuestions(questionsCSV)
	if err != nil || len(questions) != 200 {
		t.Fatal(len(questions), err)
	}
	for _, q := range questions {
		if !known[q.Intent] {
			t.Errorf("no option for %s", q.Intent)
		}
	}
	if _, err := readQuestions([]byte("a,b\n\"")); err == nil {
		t.Error(fmt.Errorf("a broken file was read"))
	}
}
