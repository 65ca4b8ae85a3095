package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// model is a simple model of saving and retrying. A store must return what the model returns.
type model struct {
	store   sqlstore.Store
	ctx     context.Context // of the test that owns the model
	account prism.AccountID
	digest  contract.KeyDigest
	prisms  []prism.Prism
	results map[prism.ResultID]prism.Result
	order   []prism.ResultID // in which they were saved
	ids     *int
}

func checkAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	prisms := []prism.Prism{f.mine.prism, f.addPrism(t, f.mine, "other")}
	ids := 1000
	rapid.Check(t, func(rt *rapid.T) {
		// Each check has an account of its own in one store: making a store costs more than the check.
		ids++
		m := &model{
			store: f.Store, ctx: t.Context(), account: prism.AccountID{UUID: NumberedID(ids)},
			digest:  contract.KeyDigest{29: 1, 30: byte(ids >> 8), 31: byte(ids)},
			results: map[prism.ResultID]prism.Result{}, ids: &ids,
		}
		must(rt, f.CreateAccount(m.ctx, m.account, fmt.Sprintf("account %d", ids), moment(0)))
		key := keys.APIKey{ID: prism.KeyID{UUID: NumberedID(ids)}, CreatedAt: moment(0)}
		must(rt, f.CreateKey(m.ctx, m.account, key, m.digest))
		for _, p := range prisms {
			must(rt, f.CreatePrism(m.ctx, m.account, p))
			m.prisms = append(m.prisms, p)
		}
		// Few steps in many checks: a step costs a durable write, and what goes wrong between results does so among a few.
		steps := []func(*rapid.T){m.save, m.save, m.saveAgain, m.retry, m.retry, m.delete}
		for range rapid.IntRange(1, 16).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		m.agrees(rt)
	})
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *model) draw(t *rapid.T, of prism.Prism) prism.Result {
	*m.ids++
	text := rapid.StringOf(rapid.RuneFrom([]rune("aé急🙂\"\\\n")))
	r := prism.Result{
		ID: prism.ResultID{UUID: NumberedID(*m.ids)}, Prism: of.ID, Version: 1,
		Fields:    []prism.FieldValue{{Key: "zulu", Value: text.Draw(t, "value")}},
		Status:    rapid.SampledFrom([]prism.Status{prism.OK, prism.Failed, prism.Failed}).Draw(t, "status"),
		CreatedAt: moment(*m.ids),
	}
	if r.Status == prism.OK {
		r.Answers = []byte(`{}`)
	} else {
		r.Error = "It failed."
	}
	return r
}

func (m *model) drawKey(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key")
}

func (m *model) holder(key string) *prism.Result {
	for _, r := range m.results {
		if key != "" && r.IdempotencyKey == key {
			return &r
		}
	}
	return nil
}

// delete deletes a result. What it retried stays retried, and what retried it stays.
func (m *model) delete(t *rapid.T) {
	if len(m.order) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.order)-1).Draw(t, "deleted")
	id := m.order[i]
	must(t, m.store.DeleteResult(m.ctx, m.account, id, By()))
	if err := m.store.DeleteResult(m.ctx, m.account, id, By()); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("deleting twice: got error %v, want %v", err, store.ErrNotFound)
	}
	delete(m.results, id)
	m.order = slices.Delete(m.order, i, i+1)
}

func (m *model) put(r prism.Result) {
	m.results[r.ID] = r
	m.order = append(m.order, r.ID)
}

func (m *model) save(t *rapid.T) {
	r := m.draw(t, rapid.SampledFrom(m.prisms).Draw(t, "prism"))
	r.IdempotencyKey = m.drawKey(t)
	saved, err := m.store.SaveResult(m.ctx, m.account, r)
	if m.holder(r.IdempotencyKey) != nil {
		if !errors.Is(err, contract.ErrKeyTaken) {
			t.Fatalf("got error %v, want %v", err, contract.ErrKeyTaken)
		}
		return
	}
	must(t, err)
	m.put(r)
	agree(t, saved.Result, r)
}

func (m *model) saveAgain(t *rapid.T) {
	if len(m.order) == 0 {
		return
	}
	r := m.results[rapid.SampledFrom(m.order).Draw(t, "saved")]
	again := r
	again.IdempotencyKey = m.drawKey(t)
	saved, err := m.store.SaveResult(m.ctx, m.account, again)
	must(t, err)
	agree(t, saved.Result, r)
}

func (m *model) retry(t *rapid.T) {
	if len(m.order) == 0 {
		return
	}
	old := m.results[rapid.SampledFrom(m.order).Draw(t, "old")]
	r := m.draw(t, prism.Prism{ID: old.Prism})
	if rapid.Bool().Draw(t, "again") && old.RetriedBy != nil && m.results[*old.RetriedBy].ID == *old.RetriedBy {
		r = m.results[*old.RetriedBy]
	}
	saved, err := m.store.SaveRetry(m.ctx, m.account, r, old.ID)
	switch {
	case old.Status == prism.OK:
		if !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("got error %v, want %v", err, store.ErrNotFound)
		}
	case old.RetriedBy == nil:
		must(t, err)
		r.IdempotencyKey = old.IdempotencyKey
		old.IdempotencyKey, old.RetriedBy = "", &r.ID
		m.results[old.ID] = old
		m.put(r)
		agree(t, saved.Result, r)
	case *old.RetriedBy == r.ID:
		must(t, err)
		agree(t, saved.Result, m.results[r.ID])
	default:
		retried, ok := errors.AsType[*store.RetriedError](err)
		if !ok || retried.By != *old.RetriedBy {
			t.Fatalf("got error %v, want one that names %s", err, *old.RetriedBy)
		}
	}
}

// agrees compares everything at the end. Each step compares only what it returned, because comparing everything is slow.
func (m *model) agrees(t *rapid.T) {
	var all []prism.Result
	for _, p := range m.prisms {
		some, err := m.store.ExportResults(m.ctx, m.account, p.ID, store.Filter{}, store.Page{Limit: 10_000})
		must(t, err)
		all = append(all, some...)
	}
	if len(all) != len(m.results) {
		t.Fatalf("there are %d results, want %d", len(all), len(m.results))
	}
	for _, r := range all {
		agree(t, r, m.results[r.ID])
	}
	for _, key := range []string{"a", "b", "c"} {
		facts, err := m.store.CreateFacts(m.ctx, contract.CreateQuery{Key: m.digest, IdempotencyKey: key})
		must(t, err)
		want := m.holder(key)
		if (facts.Stored == nil) != (want == nil) || want != nil && facts.Stored.ID != want.ID {
			t.Fatalf("%s is held by %v, want %v", key, facts.Stored, want)
		}
	}
}

func agree(t *rapid.T, got, want prism.Result) {
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %s\nwant %s", short(got), short(want))
	}
}
