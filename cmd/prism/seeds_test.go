package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway"
	"github.com/prism-results/prism/services/results"
	"github.com/prism-results/prism/services/runs"
)

// defaultSeeds is how many histories of runs are made unless CHAOS_SEEDS says how many, and enoughSeeds with how many each kind of fault
// happens.
const defaultSeeds, enoughSeeds = 2, 50

// TestRunsAnswerEachRowOnceForEachSeed makes a history for each seed: runs of files on a store of their own, in SQLite, with workers that
// die at their steps, with calls to results that are lost, answered too late or come twice, with a model that fails, and with callers
// who pause, slow, cancel and retry. All but the faults is real: results, the workers, and the rows of the gateway. The time is that of a
// synctest bubble, so that a lease ends at once.
//
// CHAOS_SEEDS is the number of seeds (2 unless set), CHAOS_SEED the first (the time unless set).
//
// spec: one-result-a-row, worker-crash, run-counts, run-results, run-rows-columns, run-retry, retry-many-once
func TestRunsAnswerEachRowOnceForEachSeed(t *testing.T) {
	t.Parallel()
	seeds, first := number(t, "CHAOS_SEEDS", defaultSeeds), number(t, "CHAOS_SEED", uint64(time.Now().Unix()))
	empty := t.TempDir()
	s, err := results.Open(t.Context(), results.Config{DataDir: empty}, results.Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	t.Logf("seeds %d to %d", first, first+seeds-1)
	var (
		all tally
		mu  sync.Mutex
	)
	t.Run("seeds", func(t *testing.T) {
		for n := range seeds {
			t.Run(fmt.Sprint(first+n), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(empty)); err != nil {
					t.Fatal(err)
				}
				synctest.Test(t, func(t *testing.T) {
					h := &seeded{rand: rand.New(rand.NewPCG(first+n, 11)), dir: dir}
					h.run(t)
					mu.Lock()
					defer mu.Unlock()
					all.add(h.tally)
				})
			})
		}
	})
	t.Logf("rows: %d, model calls: %d, of them repeated: %d, results: %d, workers that died: %d, calls lost: %d, answers lost: %d, "+
		"calls that came late: %d, retries: %d", all.rows, all.asked, all.repeated, all.results, all.deaths, all.lost, all.unanswered,
		all.late, all.retries)
	if seeds >= enoughSeeds && (all.repeated == 0 || all.deaths == 0 || all.lost == 0 || all.unanswered == 0 || all.late == 0 || all.retries == 0) {
		t.Error("a kind of fault was in no history, so nothing is shown of it")
	}
}

// number is a variable of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// tally counts what happened in histories.
type tally struct{ rows, asked, repeated, results, deaths, lost, unanswered, late, retries int }

func (t *tally) add(o tally) {
	t.rows += o.rows
	t.asked += o.asked
	t.repeated += o.repeated
	t.results += o.results
	t.deaths += o.deaths
	t.lost += o.lost
	t.unanswered += o.unanswered
	t.late += o.late
	t.retries += o.retries
}

// seeded is the history of a seed.
type seeded struct {
	dir     string
	results *results.Service
	account prism.AccountID
	key     contract.KeyDigest
	runs    []*seededRun
	later   sync.WaitGroup // calls that come later than their callers wait

	mu      sync.Mutex
	rand    *rand.Rand
	healed  bool           // no more faults
	asked   map[string]int // model calls by the text of the row
	excused map[string]int // times that a row was under way in a worker that died
	answers []string       // the row of each answer, by its number
	tally
}

// seededRun is a run of a history.
type seededRun struct {
	id        prism.RunID
	rows      int
	invalid   int // rows
	attempts  int
	cancelled bool
}

const seededPrism = "seeds"

// text is the value of a row, which no other row has.
func (r *seededRun) text(run, row int) string { return fmt.Sprintf("row %d of run %d", row, run) }

func (h *seeded) chance(percent int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.healed && h.rand.IntN(100) < percent
}

func (h *seeded) upTo(d time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.rand.Int64N(int64(d)))
}

func (h *seeded) count(n *int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*n++
}

func (h *seeded) run(t *testing.T) {
	h.asked, h.excused = map[string]int{}, map[string]int{}
	ctx, end := context.WithCancel(t.Context())
	h.open(t)
	defer h.results.Close()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer end()
	beside.Go(func() { _ = h.results.Run(ctx) })
	for run := range 1 + h.rand.IntN(3) {
		h.runs = append(h.runs, h.start(t, run))
	}
	again := h.rand.IntN(3)
	stop := sync.OnceFunc(h.work(ctx, t))
	defer func() { // results.Close comes after all calls
		stop()
		h.later.Wait()
	}()
	h.follow(t)
	h.settle(t)
	for range again {
		h.retry(t)
		h.follow(t)
		h.settle(t)
	}
	stop()
	for i, r := range h.runs {
		h.audit(t, i, r)
	}
}

// open opens the store of the seed, with an account.
func (h *seeded) open(t *testing.T) {
	t.Helper()
	var err error
	h.results, err = results.Open(t.Context(), results.Config{DataDir: h.dir}, results.Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	operator := h.results.Operator()
	if h.account, err = operator.CreateAccount(t.Context(), "seeds"); err != nil {
		t.Fatal(err)
	}
	text, err := operator.CreateKey(t.Context(), h.account, "seeds", prism.Owner)
	if err != nil {
		t.Fatal(err)
	}
	key, ok := apikey.Parse(text)
	if !ok {
		t.Fatal("the key of an account is none")
	}
	h.key = key.Digest()
	_, err = contract.Do(t.Context(), h.results, h.key, api.CreatePrism, api.CreatePrismRequest{NewPrism: api.NewPrism{
		Slug: seededPrism, NewVersion: api.NewVersion{Definition: prism.Definition{
			Fields:    []prism.Field{{Key: "message"}},
			Questions: []prism.Question{{Key: "urgent", Type: prism.YesNo, Text: "Is it urgent?"}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// start makes a file and its run. Some of its rows are invalid.
func (h *seeded) start(t *testing.T, run int) *seededRun {
	t.Helper()
	r := &seededRun{rows: 1 + h.rand.IntN(450), attempts: 1}
	var file strings.Builder
	file.WriteString("number,text\n")
	for row := 1; row <= r.rows; row++ {
		text := r.text(run, row)
		if h.rand.IntN(50) == 0 {
			r.invalid++
			text += "\x00"
		}
		fmt.Fprintf(&file, "%d,%s\n", row, text)
	}
	h.rows += r.rows
	ctx := t.Context()
	made := created[prism.FileID](t)(contract.Do(ctx, h.results, h.key, api.CreateFile, api.CreateFileRequest{NewFile: api.NewFile{
		Name: "rows.csv", Format: prism.FileCSV, Bytes: int64(file.Len()),
	}}))
	_, err := h.results.PutPart(ctx, h.key, contract.FilePart{File: made, Number: 1, Data: []byte(file.String())})
	if err == nil {
		_, err = contract.Do(ctx, h.results, h.key, api.CompleteFile, api.FileRequest{File: made})
	}
	if err != nil {
		t.Fatal(err)
	}
	for status := ""; status != "ready"; <-time.After(time.Second) {
		f, err := contract.Do(ctx, h.results, h.key, api.ReadFile, api.FileRequest{File: made})
		var body struct{ Status string }
		if err := errors.Join(err, json.Unmarshal(f.Body, &body)); err != nil || body.Status == "unusable" {
			t.Fatalf("the file is %s, %v", f.Body, err)
		}
		status = body.Status
	}
	never := 1.0
	n := api.NewRun{
		File: made, Fields: []api.FieldColumn{{Field: "message", Column: "text"}}, Ref: "number", PauseAt: &never,
	}
	if h.chance(30) {
		n.Concurrency = new(1 + h.rand.IntN(20))
	}
	if h.chance(20) {
		n.RowsPerSecond = new(2 + 50*h.rand.Float64())
	}
	r.id = created[prism.RunID](t)(contract.Do(ctx, h.results, h.key, api.CreateRun, api.CreateRunRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: seededPrism}}, NewRun: n,
	}))
	return r
}

// created is the id of what a call made.
func created[ID any](t *testing.T) func(contract.Response, error) ID {
	return func(r contract.Response, err error) ID {
		t.Helper()
		var body struct {
			ID ID `json:"id"`
		}
		if err := errors.Join(err, json.Unmarshal(r.Body, &body)); err != nil {
			t.Fatalf("%s: %v", r.Body, err)
		}
		return body.ID
	}
}

// work has workers answer rows until stop. Each but the last ones dies, and is followed by another.
func (h *seeded) work(ctx context.Context, t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range 1 + h.rand.IntN(3) {
		workers.Go(func() {
			for ctx.Err() == nil {
				h.live(ctx, t)
				select {
				case <-time.After(h.upTo(20 * time.Second)):
				case <-ctx.Done():
				}
			}
		})
	}
	return func() {
		cancel()
		workers.Wait()
	}
}

// live is the life of a worker.
func (h *seeded) live(ctx context.Context, t *testing.T) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &seededWorker{Results: h.results, h: h, kill: cancel, underWay: map[string]bool{}, after: -1}
	if h.chance(70) {
		h.mu.Lock()
		points := crash.RunPoints()
		w.at, w.after = points[h.rand.IntN(len(points))], h.rand.IntN(8)
		if w.at == crash.BeforeModel || w.at == crash.AfterModel {
			w.after = h.rand.IntN(150)
		}
		h.mu.Unlock()
	}
	log, tracer := slog.New(slog.DiscardHandler), noop.NewTracerProvider()
	rows, err := gateway.NewRows(gateway.Config{}, gateway.RowsDeps{
		Results: w, Models: w, Metrics: prometheus.NewRegistry(), Log: log, Tracer: tracer,
	})
	if err != nil {
		t.Error(err)
		return
	}
	worker, err := runs.New(runs.Config{Concurrency: 32}, runs.Deps{
		Leases: w, Rows: rows, Metrics: prometheus.NewRegistry(), Log: log, Tracer: tracer,
	})
	if err != nil {
		t.Error(err)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { rows.Run(ctx) })
	worker.Run(ctx) // of a worker that died nothing reaches anybody while its goroutines end
	cancel()
	both.Wait()
}
