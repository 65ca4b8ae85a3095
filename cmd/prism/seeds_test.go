package main

import (
	"bufio"
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

	"github.com/prism-results/prism/pkg/apierr"
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
	seeds, first := number(t, "CHAOS_SEEDS", defaultSeeds), number(t, "CHAOS_SEED", uint64(time.Now().Unix())) //nolint:gosec // positive
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
					h := &seeded{rand: rand.New(rand.NewPCG(first+n, 11)), dir: dir} //nolint:gosec // not secret
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
	_, err = h.results.CreatePrism(t.Context(), h.key, contract.NewPrism{Slug: seededPrism, NewVersion: contract.NewVersion{
		Definition: prism.Definition{
			Fields:    []prism.Field{{Key: "message"}},
			Questions: []prism.Question{{Key: "urgent", Type: prism.YesNo, Text: "Is it urgent?"}},
		},
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
	made := created[prism.FileID](t)(h.results.CreateFile(ctx, h.key, contract.NewFile{
		Name: "rows.csv", Format: contract.FileCSV, Bytes: int64(file.Len()),
	}))
	_, err := h.results.PutPart(ctx, h.key, contract.FilePart{File: made, Number: 1, Data: []byte(file.String())})
	if err == nil {
		_, err = h.results.CompleteFile(ctx, h.key, made)
	}
	if err != nil {
		t.Fatal(err)
	}
	for status := ""; status != "ready"; <-time.After(time.Second) {
		f, err := h.results.File(ctx, h.key, made)
		var body struct{ Status string }
		if err := errors.Join(err, json.Unmarshal(f.Body, &body)); err != nil || body.Status == "unusable" {
			t.Fatalf("the file is %s, %v", f.Body, err)
		}
		status = body.Status
	}
	never := 1.0
	n := contract.NewRun{
		File: made, Fields: []contract.FieldColumn{{Field: "message", Column: "text"}}, Ref: "number", PauseAt: &never,
	}
	if h.chance(30) {
		n.Concurrency = new(1 + h.rand.Int32N(20))
	}
	if h.chance(20) {
		n.RowsPerSecond = new(2 + 50*h.rand.Float64())
	}
	r.id = created[prism.RunID](t)(h.results.CreateRun(ctx, h.key, prism.Ref{Slug: seededPrism}, n))
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

// seededWorker is what a worker sees of results and of the model until it dies.
type seededWorker struct {
	contract.Results
	h    *seeded
	kill context.CancelFunc

	mu       sync.Mutex
	at       crash.Point
	after    int // times that the point is passed
	dead     bool
	underWay map[string]bool // rows that were asked and are not saved
}

// renewing is a step at which no worker dies.
const renewing crash.Point = "renewing"

// errCut is a call whose response does not come.
var errCut = errors.New("the connection was cut")

// pass tells whether the worker lives behind a point.
func (w *seededWorker) pass(p crash.Point) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead || p != w.at {
		return !w.dead
	}
	if w.after--; w.after >= 0 {
		return true
	}
	w.dead = true
	w.kill()
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.deaths++
	for text := range w.underWay {
		w.h.excused[text]++
	}
	return false
}

// over is a call over a connection that may break: before the call or behind it, or the call comes later than its caller waits.
func over[T any](w *seededWorker, call func() (T, error)) (none T, err error) {
	h := w.h
	switch {
	case h.chance(4):
		h.count(&h.lost)
		<-time.After(h.upTo(time.Second))
		return none, contract.ErrUnavailable
	case h.chance(4):
		h.count(&h.late)
		h.later.Go(func() {
			<-time.After(h.upTo(90 * time.Second))
			_, _ = call()
		})
		return none, errCut
	}
	result, err := call()
	if h.chance(4) {
		h.count(&h.unanswered)
		return none, errCut
	}
	return result, err
}

func (w *seededWorker) LeaseChunk(ctx context.Context, worker prism.UUID) (*contract.Chunk, error) {
	if !w.pass(crash.BeforeLease) {
		return nil, errCut
	}
	ctx = context.WithoutCancel(ctx)
	c, err := over(w, func() (*contract.Chunk, error) { return w.Results.LeaseChunk(ctx, worker) })
	if c != nil && !w.pass(crash.AfterLease) {
		return nil, errCut
	}
	return c, err
}

func (w *seededWorker) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	if !w.pass(renewing) {
		return nil, errCut
	}
	ctx = context.WithoutCancel(ctx)
	return over(w, func() ([]contract.LeaseState, error) { return w.Results.RenewLeases(ctx, leases) })
}

func (w *seededWorker) SaveRows(ctx context.Context, rows contract.SaveRows) error {
	if !w.pass(crash.BeforeRows) {
		return errCut
	}
	ctx = context.WithoutCancel(ctx)
	_, err := over(w, func() (struct{}, error) {
		err := w.Results.SaveRows(ctx, rows)
		if err == nil {
			w.saved(rows.Rows)
		}
		return struct{}{}, err
	})
	if err == nil && !w.pass(crash.AfterRows) {
		return errCut
	}
	return err
}

func (w *seededWorker) saved(rows []contract.RowOutcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range rows {
		if o.Save != nil {
			delete(w.underWay, o.Save.Fields[0].Value)
		}
	}
}

// oneAnswer divides the number of an answer, so that it is a part of a probability that a float64 and its decimal form keep exactly.
const oneAnswer = 1 << 24

// List implements contract.Models.
func (w *seededWorker) List(context.Context) ([]contract.Model, error) {
	return []contract.Model{{Name: "counting", Default: true}}, nil
}

// Ask implements contract.Models. No two answers are equal.
func (w *seededWorker) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	text := a.Fields[0].Value
	if !w.pass(crash.BeforeModel) || w.h.chance(2) || !w.begin(text) {
		return contract.Outcome{}, contract.ErrUnavailable
	}
	took := 5*time.Millisecond + w.h.upTo(200*time.Millisecond)
	if w.h.chance(2) {
		took += w.h.upTo(8 * time.Second)
	}
	<-time.After(took)
	if !w.pass(crash.AfterModel) || w.h.chance(1) {
		return contract.Outcome{}, errCut
	}
	o := contract.Outcome{TookMS: took.Milliseconds(), Overloaded: w.h.chance(2)}
	if w.h.chance(12) {
		o.Error = "The model refused."
		return o, nil
	}
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	o.Answers = fmt.Appendf(nil, `{"urgent":{"type":"yes_no","probability":%v}}`, 0.5+float64(len(w.h.answers))/oneAnswer)
	w.h.answers = append(w.h.answers, text)
	return o, nil
}

// begin begins a model call, unless the worker has died.
func (w *seededWorker) begin(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return false
	}
	w.underWay[text] = true
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.asked[text]++
	return true
}

// shown is a run as the API shows it.
type shown struct {
	Status                                        contract.RunStatus
	Rows, OK, Failed, Invalid, Cancelled, Pending int
}

// look reads a run, whose counts always add up.
func (h *seeded) look(t *testing.T, r *seededRun) (s shown) {
	t.Helper()
	read, err := h.results.FileRun(t.Context(), h.key, r.id)
	if err := errors.Join(err, json.Unmarshal(read.Body, &s)); err != nil {
		t.Fatal(err)
	}
	if s.OK+s.Failed+s.Invalid+s.Cancelled+s.Pending != s.Rows || s.Rows != r.rows {
		t.Fatalf("VIOLATION: the counts of %d rows do not add up: %s", r.rows, read.Body)
	}
	return s
}

func (s shown) over() bool {
	return s.Status == contract.RunFinished || s.Status == contract.RunCancelled
}

// act does something to a run. Runs that are over refuse it.
func (h *seeded) act(t *testing.T, r *seededRun, a contract.RunAction) (done bool) {
	t.Helper()
	_, err := h.results.ActOnRun(t.Context(), h.key, r.id, a)
	if err != nil && !errors.Is(err, apierr.RunOver()) && !errors.Is(err, apierr.NoFailedRows()) {
		t.Fatal(err)
	}
	return err == nil
}

// follow lets runs go on under faults for some minutes or until all are over, while callers change them.
func (h *seeded) follow(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute + h.upTo(4*time.Minute)); time.Now().Before(end); <-time.After(h.upTo(3 * time.Second)) {
		left := 0
		for _, r := range h.runs {
			s := h.look(t, r)
			if s.over() {
				continue
			}
			left++
			switch {
			case s.Status == contract.RunPaused && h.chance(30):
				h.act(t, r, contract.ResumeRun)
			case h.chance(4):
				h.act(t, r, contract.PauseRun)
			case h.chance(1):
				r.cancelled = h.act(t, r, contract.CancelRun) || r.cancelled
			case h.chance(4):
				_, err := h.results.SetRunLimits(t.Context(), h.key, r.id, contract.RunLimits{Concurrency: new(int32(h.upTo(20)))})
				if err != nil && !errors.Is(err, apierr.RunOver()) {
					t.Fatal(err)
				}
			}
		}
		if left == 0 && !h.retrying(t) {
			return
		}
	}
}

// settle waits without faults until all runs are over.
func (h *seeded) settle(t *testing.T) {
	t.Helper()
	h.heal(true)
	defer h.heal(false)
	for end := time.Now().Add(time.Hour); ; <-time.After(time.Second) {
		left := 0
		for _, r := range h.runs {
			s := h.look(t, r)
			if s.over() {
				continue
			}
			left++
			if s.Status == contract.RunPaused {
				h.act(t, r, contract.ResumeRun)
			}
			if time.Now().After(end) {
				t.Fatalf("VIOLATION: a run does not end: %+v", s)
			}
		}
		if left == 0 && !h.retrying(t) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("VIOLATION: a retry does not end")
		}
	}
}

func (h *seeded) heal(healed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.healed = healed
}

// retrying tells whether a retry of many results is under way.
func (h *seeded) retrying(t *testing.T) bool {
	t.Helper()
	const never = 1 << 40 // results that match
	_, err := h.results.RetryResults(t.Context(), h.key, contract.ResultRetry{Prism: prism.Ref{Slug: seededPrism}, Expect: never})
	return errors.Is(err, apierr.AreRetried())
}

// retry has the failed rows sent again, by their runs or as results of their prism.
func (h *seeded) retry(t *testing.T) {
	t.Helper()
	many := h.chance(50)
	if many {
		q := contract.ResultRetry{Prism: prism.Ref{Slug: seededPrism}, DryRun: true}
		match, err := h.results.RetryResults(t.Context(), h.key, q)
		var body struct{ Retrying int64 }
		if err := errors.Join(err, json.Unmarshal(match.Body, &body)); err != nil {
			t.Fatal(err)
		}
		if q.DryRun, q.Expect = false, body.Retrying; q.Expect > 0 {
			if _, err := h.results.RetryResults(t.Context(), h.key, q); err != nil {
				t.Fatal(err)
			}
			h.count(&h.retries)
			for _, r := range h.runs {
				r.attempts++
			}
		}
	}
	for _, r := range h.runs {
		if !many && h.act(t, r, contract.RetryRun) {
			h.count(&h.retries)
			r.attempts++
		}
	}
}

// savedResult is a result as the API shows it.
type savedResult struct {
	ID, Ref, Status string
	Answers         *struct{ Urgent struct{ Probability float64 } }
}

// audit holds a run that is over, its results and its download against each other and against the model.
func (h *seeded) audit(t *testing.T, number int, r *seededRun) {
	t.Helper()
	of := h.saved(t, r)
	run := h.look(t, r)
	if !r.cancelled && (run.Cancelled != 0 || run.Invalid != r.invalid) || run.Pending != 0 {
		t.Errorf("VIOLATION: run %d with %d invalid rows ended as %+v", number, r.invalid, run)
	}
	stream, err := h.results.RunRows(t.Context(), h.key, r.id, contract.RunRows{Format: contract.RowsJSONL})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	counts := map[string]int{}
	for row := 1; row <= r.rows; row++ {
		var got struct {
			Number string
			Row    int     `json:"prism_row"`
			ID     *string `json:"prism_result_id"`
			Status string  `json:"prism_status"`
		}
		if !lines.Scan() {
			t.Fatalf("VIOLATION: the download ends before row %d: %v", row, lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		counts[got.Status]++
		text, saved := r.text(number, row), of[row]
		if got.Row != row || got.Number != strconv.Itoa(row) {
			t.Errorf("VIOLATION: row %d is %s", row, lines.Bytes())
		}
		// A row whose retry was cancelled is cancelled, and shows no result.
		shows := len(saved) > 0 && got.Status != string(contract.RowCancelled)
		if len(saved) > r.attempts || (got.ID != nil) != shows || shows != (got.Status == "ok" || got.Status == "failed") {
			t.Errorf("VIOLATION: row %d is %s and has %d results of %d attempts", row, lines.Bytes(), len(saved), r.attempts)
			continue
		}
		for i, s := range saved {
			last := i == len(saved)-1
			if !last && s.Status != "failed" || last && shows && (s.ID != *got.ID || s.Status != got.Status) {
				t.Errorf("VIOLATION: row %d is %s and its result %d of %d is %+v", row, lines.Bytes(), i+1, len(saved), s)
			}
			if s.Answers == nil {
				continue
			}
			if n := int((s.Answers.Urgent.Probability - 0.5) * oneAnswer); h.answers[n] != text {
				t.Errorf("VIOLATION: row %d has the answer of %q", row, h.answers[n])
			}
		}
		asked := h.asked[text]
		if asked < len(saved) || asked > len(saved)+h.excused[text] {
			t.Errorf("VIOLATION: row %d has %d results of %d model calls; it was under way in %d workers that died",
				row, len(saved), asked, h.excused[text])
		}
		h.tally.results += len(saved)
		h.tally.asked += asked
		h.repeated += asked - len(saved)
	}
	if lines.Scan() {
		t.Errorf("VIOLATION: behind the last row: %.100s", lines.Bytes())
	}
	if counts["ok"] != run.OK || counts["failed"] != run.Failed || counts["invalid"] != run.Invalid || counts["cancelled"] != run.Cancelled {
		t.Errorf("VIOLATION: the download of run %d has %v and the run %+v", number, counts, run)
	}
}

// saved are the results of a run by row, oldest first.
func (h *seeded) saved(t *testing.T, r *seededRun) map[int][]savedResult {
	t.Helper()
	q := contract.ResultList{ResultFilter: contract.ResultFilter{Run: &r.id}, Format: contract.Raw, Page: contract.Page{Limit: 100}}
	of, before := map[int][]savedResult{}, 0
	for {
		page, err := h.results.ListResults(t.Context(), h.key, q)
		var body struct {
			Data       []savedResult
			NextCursor string `json:"next_cursor"`
		}
		if err := errors.Join(err, json.Unmarshal(page.Body, &body)); err != nil {
			t.Fatal(err)
		}
		for _, s := range body.Data {
			row, err := strconv.Atoi(s.Ref)
			if err != nil || row < before {
				t.Errorf("VIOLATION: a result of row %s comes behind one of row %d", s.Ref, before)
			}
			before = row
			of[row] = append(of[row], s)
		}
		if q.Page.Cursor = body.NextCursor; body.NextCursor == "" {
			return of
		}
	}
}
