package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/testkit/chathost"
	"github.com/prism-results/prism/test/chaos/internal/fault"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
)

// passing are the faults that may pass: when only the first call fails so, the next one is answered.
var passing = []chathost.Fault{chathost.OutOfOrder, chathost.TooManyCalls, chathost.BrokenFrame}

// codeOf is the error code of a result whose host always fails in a way.
func codeOf(f chathost.Fault) string {
	if f == chathost.OutOfOrder {
		return "refused"
	}
	if f == chathost.NoAnswer {
		return "no_usable_answer"
	}
	return string(f)
}

// hostedCall is a create whose text tells the host of its model how to fail.
type hostedCall struct {
	prism, ref, text string
	code             string // of the result; "" if it is to be ok
	result           string // the id that the response has
}

// Each of the built-in hosts fails at random, and gateways and results services are killed meanwhile. Every call, repeated with its key
// until it is answered, has one result, with the code of the fault that was injected. A failed one whose response was lost is retried by the
// repeat.
//
// spec: failure-classes, error-codes, one-save-per-result, repeat-of-a-failed-result
func TestEachResultOfHostsThatFailIsSavedOnceWithTheClassOfItsFault(t *testing.T) {
	t.Parallel()
	plan := seed(t)
	file := "default: openai\nmodels:\n"
	var prisms []string
	for _, h := range chathost.Hosts() {
		server := chathost.New(h)
		t.Cleanup(server.Close)
		for _, how := range []string{"stated", "sampled", ""} {
			name, more := h.Name, ""
			if how != "" {
				name, more = h.Name+"-"+how, ", probabilities: "+how
			}
			prisms = append(prisms, name)
			file += fmt.Sprintf("  - {name: %s, provider: openai-chat, host: %s, base_url: %q, model: %s, api_key_env: HOST_KEY%s}\n",
				name, h.Name, server.BaseURL(), chathost.Model, more)
		}
	}
	path := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSystem(t, system.Config{Models: map[string]string{
		"PRISM_MODELS_FILE": path, "HOST_KEY": chathost.Key, "PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "",
	}})
	h := &hosted{System: s, client: load.NewClient(16, 0)}
	t.Cleanup(h.client.Close)
	h.prepare(t, prisms)

	ctx, cancel := context.WithTimeout(t.Context(), length(t))
	defer cancel()
	var work sync.WaitGroup
	work.Go(func() { h.kill(ctx, plan) })
	for i := range 8 {
		work.Go(func() { h.drive(ctx, t, rand.New(rand.NewPCG(plan, uint64(i))), prisms) })
	}
	work.Wait()
	h.audit(t)
	for _, err := range s.Problems() {
		t.Errorf("VIOLATION: %v", err)
	}
	t.Logf("seed %d: %d calls of %d models", plan, len(h.calls), len(prisms))
}

// hosted is a system whose models are scripted hosts.
type hosted struct {
	*system.System
	client *load.Client
	key    string

	mu    sync.Mutex
	calls []*hostedCall
}

func (h *hosted) url(path string) string { return h.Gateways[0].URL() + path }

// prepare makes an account, and a prism for each model with the model's name.
func (h *hosted) prepare(t *testing.T, models []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	var err error
	if h.key, err = h.Account(ctx, "hosted"); err != nil {
		t.Fatal(err)
	}
	for _, name := range models {
		r := h.client.Insist(ctx, load.Request{Method: http.MethodPost, URL: h.url("/v1/prisms"), Key: h.key, Body: map[string]any{
			"slug": name, "model": name, "fields": []any{map[string]any{"key": "text", "label": "Text"}},
			"questions": []any{map[string]any{"key": "urgent", "type": "yes_no", "text": "Is it urgent?"}},
		}})
		if r.Err != nil || r.Status != http.StatusCreated {
			t.Fatalf("the prism %s: %s", name, r)
		}
	}
}

// kill kills one gateway or results service after the other, and starts it again.
func (h *hosted) kill(ctx context.Context, seed uint64) {
	var plan []fault.Fault
	rnd := rand.New(rand.NewPCG(seed, 39))
	parts := slices.Concat(h.Gateways, h.Results)
	for at := time.Second; ; at += time.Duration(1+rnd.IntN(2)) * time.Second {
		if end, ok := ctx.Deadline(); !ok || time.Now().Add(at+time.Second).After(end) {
			break
		}
		plan = append(plan, fault.Fault{Kind: fault.Kill, Target: parts[rnd.IntN(len(parts))].Name, At: at, Length: 300 * time.Millisecond})
	}
	fault.NewRunner(h.System).Run(ctx, plan)
}

// drive makes one call after the other until ctx ends, and repeats each with its key until it has a result.
func (h *hosted) drive(ctx context.Context, t *testing.T, rnd *rand.Rand, prisms []string) {
	for ctx.Err() == nil {
		c := &hostedCall{prism: prisms[rnd.IntN(len(prisms))], ref: fmt.Sprintf("call-%016x", rnd.Uint64()), text: "nothing fails"}
		faults := chathost.Faults()
		switch rnd.IntN(4) {
		case 0:
		case 1:
			c.text = chathost.Once(passing[rnd.IntN(len(passing))])
		default:
			f := faults[rnd.IntN(len(faults))]
			c.text, c.code = chathost.Always(f), codeOf(f)
		}
		h.mu.Lock()
		h.calls = append(h.calls, c)
		h.mu.Unlock()
		h.finish(t, c, rnd)
	}
}

// finish repeats a call until it has a result.
func (h *hosted) finish(t *testing.T, c *hostedCall, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(t.Context(), recoveryBudget)
	defer cancel()
	for {
		r := h.client.Do(ctx, load.Request{
			Method: http.MethodPost, URL: h.Gateways[rnd.IntN(len(h.Gateways))].URL() + "/v1/prisms/" + c.prism + "/results", Key: h.key,
			Body: map[string]any{"text": c.text, "ref": c.ref, "idempotency_key": c.ref},
		})
		if r.Err == nil && (r.Status == http.StatusOK || r.Status == http.StatusBadGateway) {
			of := r.Result()
			if c.result = of.ID; (of.Status == history.OK) != (c.code == "") && !timedOut(of.Error, of.TookMS) {
				t.Errorf("VIOLATION: %q to %s is answered %s", c.text, c.prism, r)
			}
			return
		}
		if r.Err == nil && r.Status < 500 {
			t.Errorf("VIOLATION: %q to %s is answered %s", c.text, c.prism, r)
			return
		}
		if !load.Wait(ctx, 50*time.Millisecond) {
			t.Errorf("VIOLATION: %q to %s has no result: %s", c.text, c.prism, r)
			return
		}
	}
}

// timedOut tells whether a result failed only because the model took its whole time, as on a machine that does too much at once.
func timedOut(text *string, took int64) bool {
	return text != nil && *text == contract.TimeoutText && took >= contract.ModelWait.Milliseconds()
}

// audit reads all results and their records.
func (h *hosted) audit(t *testing.T) {
	t.Helper()
	saved := map[string][]string{} // ids by ref
	query := "/v1/results?limit=100"
	for cursor := ""; ; {
		var page struct {
			Data []struct{ ID, Ref string }
			Next *string `json:"next_cursor"`
		}
		h.get(t, query+cursor, &page)
		for _, r := range page.Data {
			saved[r.Ref] = append(saved[r.Ref], r.ID)
		}
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	if len(h.calls) == 0 || len(saved) != len(h.calls) {
		t.Errorf("VIOLATION: %d calls have results, of %d", len(saved), len(h.calls))
	}
	for _, c := range h.calls {
		var last []string // those that no other one retried
		late := false
		for _, id := range saved[c.ref] {
			var record struct {
				Code    *string `json:"error_code"`
				Error   *string
				TookMS  int64 `json:"took_ms"`
				Model   struct{ Name string }
				Retried *string `json:"retried_by"`
			}
			h.get(t, "/v1/results/"+id+"/record", &record)
			if timedOut(record.Error, record.TookMS) {
				late = true
			} else if code := record.Code; (code == nil) != (c.code == "") || code != nil && *code != c.code || record.Model.Name != c.prism {
				t.Errorf("VIOLATION: the record of %q to %s has %+v, want %q", c.text, c.prism, record, c.code)
			}
			if record.Retried == nil {
				last = append(last, id)
			}
		}
		if len(last) != 1 || last[0] != c.result || c.code == "" && !late && len(saved[c.ref]) > 1 {
			t.Errorf("VIOLATION: %q to %s has the results %v, at last %v, and was answered with %s", c.text, c.prism, saved[c.ref], last, c.result)
		}
	}
}

// get reads a document, from a gateway that may just have begun.
func (h *hosted) get(t *testing.T, path string, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), recoveryBudget)
	defer cancel()
	for {
		r := h.client.Do(ctx, load.Request{Method: http.MethodGet, URL: h.url(path), Key: h.key})
		if r.Err == nil && r.Status == http.StatusOK {
			if err := json.Unmarshal(r.Body, into); err != nil {
				t.Fatal(err)
			}
			return
		}
		if !load.Wait(ctx, 50*time.Millisecond) {
			t.Fatalf("%s: %s", path, r)
		}
	}
}
