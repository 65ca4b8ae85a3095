package load

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/model"
	"github.com/prism-results/prism/test/cluster/internal/script"
)

// Config is what a load does.
type Config struct {
	// URL of Prism, and an API key.
	URL, Key string
	// Model is the URL of the model.
	Model string
	// Calls a second. Each of Repeats is a create with an idempotency key and a repeat while it is under way; each of Retries
	// is a create for which the model has no answer, and its retry.
	Reads, Creates, Repeats, Retries float64
	// Pause is how long the model takes for each answer.
	Pause time.Duration
	// Keep is how long an unused connection is kept.
	Keep time.Duration
	// Seeds is how many results there are before it begins, to be read.
	Seeds int
}

// Kind is what a request is.
type Kind string

// The kinds of requests.
const (
	Read   Kind = "read"
	Create Kind = "create"
	Keyed  Kind = "keyed create"
	Repeat Kind = "repeat"
	Vain   Kind = "create without an answer"
	Retry  Kind = "retry"
)

// Load is one run.
type Load struct {
	cfg    Config
	client *Client
	rec    *recorder
	ledger ledger
	prism  string
	run    string // begins the names of this run's calls
	asked  int    // what the model was asked before

	wg sync.WaitGroup

	mu      sync.Mutex
	calls   int
	unknown []unknown // requests without an answer that can be repeated
}

// unknown is a request that perhaps took effect, and whose repeat tells.
type unknown struct {
	want
	path string
	body any
}

// New makes a load.
func New(cfg Config) *Load {
	run := strings.ToLower(rand.Text()[:10])
	return &Load{cfg: cfg, client: NewClient(cfg.URL, cfg.Key, cmp.Or(cfg.Keep, Keep)), run: run, prism: "load-" + run}
}

// Run calls until stop is done, lets what is under way end, and reads everything back. It prints progress meanwhile.
func (l *Load) Run(ctx, stop context.Context, progress func(Progress)) (*Report, error) {
	defer l.client.Close()
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	l.rec = newRecorder()
	var ticking sync.WaitGroup
	for _, k := range []struct {
		rate float64
		call func(context.Context, time.Time)
	}{
		{l.cfg.Reads, l.read},
		{l.cfg.Creates, l.create},
		{l.cfg.Repeats, l.keyedAndRepeat},
		{l.cfg.Retries, l.vainAndRetry},
	} {
		ticking.Go(func() {
			every(stop, k.rate, func(due time.Time) { l.wg.Go(func() { k.call(ctx, due) }) })
		})
	}
	ticking.Go(func() { every(stop, 1, func(time.Time) { progress(l.rec.progress()) }) })
	ticking.Wait()
	l.wg.Wait()
	audit, err := l.audit(ctx)
	if err != nil {
		return nil, err
	}
	return l.rec.done(l.client, audit), nil
}

// every calls fn at a constant rate. It does not wait for what fn began, and makes up for what it missed.
func every(ctx context.Context, rate float64, fn func(due time.Time)) {
	if rate <= 0 {
		return
	}
	began := time.Now()
	for n := 1; ; n++ {
		due := began.Add(time.Duration(float64(n) / rate * float64(time.Second)))
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
			fn(due)
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// prepare makes the prism, and results to read.
func (l *Load) prepare(ctx context.Context) error {
	if a := l.client.do(ctx, http.MethodPost, "/v1/prisms", definition(l.prism)); a.err != nil || a.status != http.StatusCreated {
		return fmt.Errorf("load: making the prism: %w", a.problem())
	}
	var err error
	if l.asked, err = l.count(ctx); err != nil {
		return err
	}
	for range max(l.cfg.Seeds, 1) {
		w := l.newWant("seed", 0, 0)
		a := l.client.do(ctx, http.MethodPost, l.createPath(), w.body(""))
		r, v := w.judge(a)
		if v != (finding{}) {
			return fmt.Errorf("load: making a result to read: %w", a.problem())
		}
		if err := l.ledger.add(r.ID, a.body); err != nil {
			return fmt.Errorf("load: making a result to read: %w", err)
		}
	}
	return nil
}

func (a reply) problem() error {
	if a.err != nil {
		return a.err
	}
	return fmt.Errorf("status %d: %s", a.status, a.body)
}

// count asks the model how often it was asked.
func (l *Load) count(ctx context.Context) (int, error) {
	var c model.Count
	a := (&Client{url: l.cfg.Model, http: l.client.http}).do(ctx, http.MethodGet, "/count", nil)
	if a.err != nil || a.status != http.StatusOK {
		return 0, fmt.Errorf("load: the model's count: %w", a.problem())
	}
	if err := json.Unmarshal(a.body, &c); err != nil {
		return 0, fmt.Errorf("load: the model's count: %w", err)
	}
	return c.Asked, nil
}

func (l *Load) createPath() string { return "/v1/prisms/" + l.prism + "/results" }

// newWant is the right result of a new call.
func (l *Load) newWant(what string, pause time.Duration, fails int) want {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	return want{prism: l.prism, script: script.Script{
		Call: fmt.Sprintf("%s-%s-%d", what, l.run, l.calls), Pause: pause, Fails: fails,
	}}
}

// body of the create that this is the result of.
func (w want) body(key string) any {
	b := map[string]any{"fields": map[string]any{"message": w.script.String()}, "ref": w.script.Call}
	if key != "" {
		b["idempotency_key"] = key
	}
	return b
}

// formats are those in which results are read.
var formats = [...]string{"json", "json", "raw", "csv", "jsonl"}

func (l *Load) read(ctx context.Context, due time.Time) {
	e := l.ledger.any()
	format := formats[mathrand.IntN(len(formats))]
	l.rec.begin()
	a := l.client.do(ctx, http.MethodGet, "/v1/results/"+e.id+"?format="+format, nil)
	l.rec.end(Read, due, e.id+" "+format, e.judge(format, a))
}

// judge reads the answer to a read.
func (e *entry) judge(format string, a reply) finding {
	if a.err != nil {
		return finding{failed: unanswered(a.err)}
	}
	if a.status != http.StatusOK {
		return judgeError(a)
	}
	if err := e.check(format, a.body); err != nil {
		return finding{wrong: err.Error()}
	}
	return finding{}
}

func (l *Load) create(ctx context.Context, due time.Time) {
	w := l.newWant("create", l.cfg.Pause, 0)
	l.send(ctx, Create, due, unknown{w, l.createPath(), w.body("")})
}

// keyedAndRepeat sends a create, and again while the model is being asked: both have one answer.
func (l *Load) keyedAndRepeat(ctx context.Context, due time.Time) {
	w := l.newWant("keyed", l.cfg.Pause, 0)
	call := unknown{w, l.createPath(), w.body(w.script.Call)}
	first := make(chan *result, 1)
	go func() { first <- l.send(ctx, Keyed, due, call) }()
	again := due.Add(l.cfg.Pause / 2)
	<-time.After(time.Until(again))
	second := l.send(ctx, Repeat, again, call)
	// A failed result is retried by its repeat, so only usable ones have to be the same.
	if a := <-first; a != nil && second != nil && a.Status == "ok" && second.Status == "ok" && a.ID != second.ID {
		l.rec.begin()
		l.rec.end(Repeat, again, w.script.Call, finding{wrong: "the repeat has another result"})
	}
	if second == nil {
		l.repeatLater(call)
	}
}

// vainAndRetry sends a create for which the model has no answer, and retries it.
func (l *Load) vainAndRetry(ctx context.Context, due time.Time) {
	w := l.newWant("vain", l.cfg.Pause, 1)
	vain := w
	vain.failed = true
	r := l.send(ctx, Vain, due, unknown{vain, l.createPath(), w.body("")})
	if r == nil || r.Status != "failed" {
		return
	}
	retry := unknown{w, "/v1/results/" + r.ID + "/retry", nil}
	if l.send(ctx, Retry, time.Now(), retry) == nil {
		l.repeatLater(retry)
	}
}

// send makes a request that asks the model, checks its answer, and returns the result that was answered.
func (l *Load) send(ctx context.Context, kind Kind, due time.Time, u unknown) *result {
	l.rec.begin()
	a := l.client.do(ctx, http.MethodPost, u.path, u.body)
	r, v := u.judge(a)
	if r != nil {
		if err := l.ledger.add(r.ID, a.body); err != nil {
			v.wrong = err.Error()
		}
	}
	l.rec.end(kind, due, u.script.Call, v)
	return r
}

func (l *Load) repeatLater(u unknown) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unknown = append(l.unknown, u)
}
