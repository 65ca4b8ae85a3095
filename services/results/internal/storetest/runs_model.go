package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// runModel is workers, callers and time acting on one run. It knows which results were ever saved, and what must hold between them
// and the run whatever comes.
type runModel struct {
	f      *fixture
	ctx    context.Context // of the test that owns the model
	run    runs.Run
	at     time.Time
	leases []*runs.LeasedChunk             // that some worker believes to have
	sent   []contract.SaveRows             // to be repeated
	ever   map[prism.ResultID]prism.Result // that were saved, also those that were deleted since
}

// checkRunsAgainstModel lets several workers with lost leases and repeated saves, callers who pause, resume, cancel, retry and delete,
// and TendRuns act in any order.
//
// spec: one-result-a-row, run-counts, run-usage, run-states
func checkRunsAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	f.mine.prism = f.addPrism(t, f.mine, "of runs")
	file := f.fileOf(t, f.mine.account, 3, 1, 2)
	rapid.Check(t, func(rt *rapid.T) {
		m := &runModel{f: f, ctx: t.Context(), at: moment(1000), ever: map[prism.ResultID]prism.Result{}}
		n := f.newRun(f.mine, file.ID)
		n.ID = prism.RunID{UUID: By().Entry}
		n.Concurrency = rapid.SampledFrom([]int32{0, 1, 40}).Draw(rt, "concurrency")
		var err error
		m.run, err = f.CreateRun(m.ctx, f.mine.account, n, By())
		must(rt, err)
		steps := []func(*rapid.T){
			m.lease, m.lease, m.save, m.save, m.save, m.again, m.renew, m.act, m.tend, m.retryOne, m.delete,
		}
		for range rapid.IntRange(1, 24).Draw(rt, "steps") {
			m.at = m.at.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 17_000, 61_000}).Draw(rt, "ms")) * time.Millisecond)
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
			m.holds(rt)
		}
		// No run is left that the next check's workers would be served from.
		_, err = f.ActOnRun(m.ctx, f.mine.account, m.run.ID, store.RunCancel, By())
		if err != nil && !errors.Is(err, store.ErrRunOver) {
			rt.Fatal(err)
		}
		m.at = m.at.Add(time.Hour)
		for range 3 {
			m.tend(rt)
		}
		m.holds(rt)
		if r := m.read(rt); r.Pending() > 0 || r.Status != prism.RunCancelled && r.Status != prism.RunFinished {
			rt.Fatalf("the run does not end: %+v", r)
		}
	})
}

func (m *runModel) read(t *rapid.T) runs.Run {
	r, err := m.f.ReadRun(m.ctx, m.f.mine.account, m.run.ID)
	must(t, err)
	return r
}

func (m *runModel) lease(t *rapid.T) {
	l, err := m.f.LeaseChunk(m.ctx, By().Entry, m.at, m.at.Add(contract.LeaseTime))
	must(t, err)
	if l != nil {
		if l.Run.ID != m.run.ID {
			t.Fatalf("a chunk of run %s was leased", l.Run.ID)
		}
		m.leases = append(m.leases, l)
	}
}

func (m *runModel) some(t *rapid.T) *runs.LeasedChunk {
	if len(m.leases) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.leases).Draw(t, "lease")
}

func (m *runModel) save(t *rapid.T) {
	l := m.some(t)
	if l == nil {
		return
	}
	s := outcomes(l, rapid.StringOfN(rapid.RuneFrom([]rune("ooffi-")), 0, len(l.Chunk.States), -1).Draw(t, "outcomes"))
	s.Done = rapid.Bool().Draw(t, "done")
	m.sent = append(m.sent, s)
	m.store(t, s)
}

// again repeats a save whose response was lost, maybe long after.
func (m *runModel) again(t *rapid.T) {
	if len(m.sent) > 0 {
		m.store(t, rapid.SampledFrom(m.sent).Draw(t, "sent"))
	}
}

func (m *runModel) store(t *rapid.T, s contract.SaveRows) {
	before := m.results(t)
	err := m.f.SaveRows(m.ctx, s, m.at)
	if err != nil && !errors.Is(err, contract.ErrLeaseLost) {
		t.Fatal(err)
	}
	after := m.results(t)
	if err != nil && len(before) != len(after) {
		t.Fatal("a lost lease has saved something")
	}
	for _, id := range after {
		if slices.Contains(before, id) {
			continue
		}
		if _, twice := m.ever[id]; twice {
			t.Fatalf("result %s was saved twice", id)
		}
		for _, sent := range s.Rows {
			if sent.Save != nil && sent.Save.ID == id {
				m.ever[id] = store.ResultOf(*sent.Save, m.at)
			}
		}
	}
}

// results are those that are stored, in row order.
func (m *runModel) results(t *rapid.T) (ids []prism.ResultID) {
	saved, _, err := m.f.ListResults(m.ctx, m.f.mine.account, store.Filter{Run: &m.run.ID}, store.WithoutInput, store.Page{Limit: 1000})
	must(t, err)
	for _, s := range saved {
		ids = append(ids, s.Result.ID)
	}
	return ids
}

func (m *runModel) renew(t *rapid.T) {
	l := m.some(t)
	if l == nil {
		return
	}
	states, err := m.f.RenewLeases(m.ctx, []contract.Lease{l.Lease}, m.at, m.at.Add(contract.LeaseTime))
	must(t, err)
	if limit := m.run.Concurrency; limit > 0 && !states[0].Stop && (states[0].Concurrency < 1 || states[0].Concurrency > limit) {
		t.Fatalf("%d rows at once are granted of %d", states[0].Concurrency, limit)
	}
}

func (m *runModel) act(t *rapid.T) {
	a := rapid.SampledFrom([]store.Action{
		store.RunPause, store.RunResume, store.RunResume, store.RunRetry, store.RunRetry, store.RunCancel,
	}).Draw(t, "action")
	_, err := m.f.ActOnRun(m.ctx, m.f.mine.account, m.run.ID, a, store.By{Entry: By().Entry, At: m.at, Actor: operator()})
	if err != nil && !errors.Is(err, store.ErrRunOver) && !errors.Is(err, store.ErrNoFailedRows) {
		t.Fatal(err)
	}
}

func (m *runModel) tend(t *rapid.T) {
	_, err := m.f.TendRuns(m.ctx, m.at)
	must(t, err)
}

// retryOne retries a single result.
func (m *runModel) retryOne(t *rapid.T) {
	var failed []prism.ResultID
	for _, id := range m.results(t) {
		if m.ever[id].Status == prism.Failed {
			failed = append(failed, id)
		}
	}
	if len(failed) == 0 {
		return
	}
	original := rapid.SampledFrom(failed).Draw(t, "failed")
	r := m.f.ok(m.f.mine.prism)
	if rapid.Bool().Draw(t, "fails") {
		r = m.f.failed(m.f.mine.prism)
	}
	r.ID = prism.ResultID{UUID: By().Entry}
	r = called(r, m.f.mine.keyID, "fast", 7, 300_000_000_000, "EUR")
	_, err := m.f.SaveRetry(m.ctx, m.f.mine.account, r, original)
	if _, retried := errors.AsType[*store.RetriedError](err); retried {
		return
	}
	must(t, err)
	m.ever[r.ID] = r
}

func (m *runModel) delete(t *rapid.T) {
	if ids := m.results(t); len(ids) > 0 {
		must(t, m.f.DeleteResult(m.ctx, m.f.mine.account, rapid.SampledFrom(ids).Draw(t, "deleted"), By()))
	}
}

// holds compares the run with all that was ever saved.
func (m *runModel) holds(t *rapid.T) {
	r := m.read(t)
	chunks, err := m.f.RunChunks(m.ctx, m.f.mine.account, m.run.ID, 0, 100)
	must(t, err)
	var states string
	for _, c := range chunks {
		states += string(c.States)
	}
	of := func(letter string) int64 { return int64(strings.Count(states, letter)) }
	got := []int64{r.OK, r.Failed, r.Invalid, r.Cancelled, r.Pending()}
	if want := []int64{of("o"), of("f"), of("i"), of("c"), of("p")}; fmt.Sprint(got) != fmt.Sprint(want) || r.Pending() < 0 {
		t.Fatalf("the counts are %v, the states %s", got, states)
	}
	newest, err := m.f.RunResults(m.ctx, m.f.mine.account, m.run.ID, 1, 100)
	must(t, err)
	shown := map[int64]bool{}
	for _, n := range newest {
		if shown[n.Row] {
			t.Fatalf("row %d has two newest results", n.Row)
		}
		shown[n.Row] = true
		// What comes behind a failed result may be without one: a row that waits, is invalid or was cancelled.
		if is := states[n.Row-1] == runs.RowOKState; is != (n.Status == prism.OK) {
			t.Fatalf("row %d is %c with a newest result that is %s", n.Row, states[n.Row-1], n.Status)
		}
	}
	// Usage is a scan of every result that was ever saved.
	var usage runs.Usage
	for _, r := range m.ever {
		call := r.Call
		usage.InputTokens += *call.Usage.InputTokens
		usage.Currency = call.Usage.Currency
		if call.Usage.OutputTokens != nil {
			usage.OutputTokens += *call.Usage.OutputTokens
		}
		usage.Cost.Rest += *call.Usage.Cost
	}
	usage.Cost, r.Usage.Cost = whole(usage.Cost), whole(r.Usage.Cost)
	if r.Usage != usage {
		t.Fatalf("the run used %+v, and its %d results %+v", r.Usage, len(m.ever), usage)
	}
}
