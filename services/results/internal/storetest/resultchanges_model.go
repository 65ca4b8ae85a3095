package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// checkChangesAgainstModel has writers change results of their own while others fold, and consumers read that crash. Each writer's changes
// are told in its order, to every consumer, and each once.
//
// spec: changes, changes-order
func checkChangesAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	accounts := 0
	rapid.Check(t, func(rt *rapid.T) {
		accounts++
		m := &changesModel{f: f, ctx: t.Context(), account: prism.AccountID{UUID: prism.UUID{0: 8, 14: byte(accounts >> 8), 15: byte(accounts)}}}
		must(rt, f.CreateAccount(m.ctx, m.account, fmt.Sprintf("changing %d", accounts), moment(0)))
		must(rt, f.CreatePrism(m.ctx, m.account, f.mine.prism))
		m.check(rt)
	})
}

type changesModel struct {
	f       *fixture
	ctx     context.Context // of the test that owns the model
	account prism.AccountID
}

// change is what a consumer keeps of a changes.Change.
type change struct {
	Type   changes.Type
	Result prism.ResultID
}

func (m *changesModel) check(t *rapid.T) {
	writers := make([]*changesWriter, rapid.IntRange(1, 3).Draw(t, "writers"))
	for i := range writers {
		writers[i] = &changesWriter{changesModel: m}
		writers[i].script = rapid.SliceOfN(rapid.SampledFrom([]string{"save", "save", "fail", "retry", "label", "unlabel", "delete"}), 1, 6).Draw(t, "script")
	}
	consumers := make([]*changesConsumer, rapid.IntRange(1, 2).Draw(t, "consumers"))
	for i := range consumers {
		consumers[i] = &changesConsumer{
			limit: rapid.IntRange(1, 4).Draw(t, "limit"), crashes: rapid.SliceOfN(rapid.Bool(), 1, 5).Draw(t, "crashes"),
		}
	}
	done := make(chan struct{})
	var others sync.WaitGroup
	failures := make(chan error, len(consumers)+2)
	until := func(fn func() error) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if err := fn(); err != nil {
						failures <- err
						return
					}
				}
			}
		})
	}
	for range 2 {
		until(func() error { return m.f.Fold(m.ctx) })
	}
	for _, c := range consumers {
		until(func() error { return c.read(m) })
	}
	errs := together(len(writers), func(i int) error { return writers[i].write() })
	close(done)
	others.Wait()
	select {
	case err := <-failures:
		t.Fatal(err)
	default:
	}
	for _, err := range errs {
		must(t, err)
	}
	must(t, m.f.Fold(m.ctx))
	for _, c := range consumers {
		for before := int64(-1); before < c.saved.next; {
			before = c.saved.next
			c.crashes = []bool{false}
			must(t, c.read(m))
		}
		for _, w := range writers {
			w.agrees(t, c.saved.changes)
		}
		for i := range c.saved.changes {
			if !slices.Equal(c.saved.changes, consumers[0].saved.changes) {
				t.Fatalf("two consumers were told different changes, at %d", i)
			}
		}
	}
}

// changesWriter changes results of its own, one after the other. Each step has the changes of one transaction.
type changesWriter struct {
	*changesModel
	script []string
	live   []prism.Result
	steps  [][]change
}

func (w *changesWriter) step(made ...change) { w.steps = append(w.steps, made) }

// last is the last result that is there and has a status.
func (w *changesWriter) last(status prism.Status) (prism.Result, bool) {
	for _, r := range slices.Backward(w.live) {
		if r.Status == status && r.RetriedBy == nil {
			return r, true
		}
	}
	return prism.Result{}, false
}

func (w *changesWriter) write() error {
	for _, name := range w.script {
		if err := w.act(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (w *changesWriter) act(name string) error {
	f := w.f
	switch name {
	case "save", "fail":
		r := f.ok(f.mine.prism)
		if name == "fail" {
			r = f.failed(f.mine.prism)
		}
		w.live = append(w.live, r)
		w.step(change{changes.Created, r.ID})
		_, err := f.SaveResult(w.ctx, w.account, r)
		return err
	case "retry":
		old, found := w.last(prism.Failed)
		if !found {
			return nil
		}
		r := f.ok(f.mine.prism)
		for i := range w.live {
			if w.live[i].ID == old.ID {
				w.live[i].RetriedBy = &r.ID
			}
		}
		w.live = append(w.live, r)
		w.step(change{changes.Created, r.ID}, change{changes.Retried, old.ID})
		_, err := f.SaveRetry(w.ctx, w.account, r, old.ID)
		return err
	case "label", "unlabel":
		r, found := w.last(prism.OK)
		if !found {
			return nil
		}
		value := "true"
		if name == "unlabel" {
			value = ""
			labels, err := f.LabelsOf(w.ctx, w.account, f.mine.prism.ID, []prism.ResultID{r.ID})
			if err != nil || len(labels) == 0 {
				return err
			}
		}
		w.step(change{changes.Labelled, r.ID})
		_, err := f.PutLabels(w.ctx, w.account, f.mine.prism.ID, []labels.Label{f.label(r, "urgent", value)})
		return err
	default: // delete
		if len(w.live) == 0 {
			return nil
		}
		r := w.live[len(w.live)-1]
		w.live = w.live[:len(w.live)-1]
		w.step(change{changes.Deleted, r.ID})
		return f.DeleteResult(w.ctx, w.account, r.ID, f.by(moment(0)))
	}
}

// agrees fails the test unless the changes of the writer's results are its steps.
func (w *changesWriter) agrees(t *rapid.T, told []change) {
	mine := map[prism.ResultID]bool{}
	for _, step := range w.steps {
		for _, c := range step {
			mine[c.Result] = true
		}
	}
	told = slices.DeleteFunc(slices.Clone(told), func(c change) bool { return !mine[c.Result] })
	for _, step := range w.steps {
		for range step {
			if len(told) == 0 || !slices.Contains(step, told[0]) {
				t.Fatalf("%v is not told at its place: %v", step, told)
			}
			step = slices.DeleteFunc(slices.Clone(step), func(c change) bool { return c == told[0] })
			told = told[1:]
		}
	}
	if len(told) > 0 {
		t.Fatalf("told of what did not happen, or twice: %v", told)
	}
}

// changesConsumer keeps what it was told together with where it goes on. A crash loses what it has not kept.
type changesConsumer struct {
	limit   int
	crashes []bool // for each page, over and over
	pages   int
	saved   struct {
		changes []change
		next    int64
	}
}

// errOrder: a change has the number of one before it, or a lower one.
var errOrder = errors.New("changes are told out of order")

func (c *changesConsumer) read(m *changesModel) error {
	page, err := m.f.ReadChanges(m.ctx, m.account, changes.Filter{After: c.saved.next, Limit: c.limit})
	if err != nil {
		return err
	}
	all, last := c.saved.changes, c.saved.next
	for _, told := range page.Changes {
		if told.Seq <= last {
			return errOrder
		}
		last = told.Seq
		all = append(all, change{told.Type, told.Result})
	}
	if page.Next < last {
		return errOrder
	}
	c.pages++
	if c.crashes[c.pages%len(c.crashes)] {
		return nil
	}
	c.saved.changes, c.saved.next = all, page.Next
	return nil
}
