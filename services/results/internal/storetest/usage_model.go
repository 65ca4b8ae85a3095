package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// Deleter is a store that can delete results. Usage does not change when it does.
type Deleter interface {
	// DeleteSome deletes some results of an account.
	DeleteSome(ctx context.Context, account prism.AccountID) error
}

// checkUsageAgainstModel compares usage with a scan of every result that was ever saved, also of those that were deleted.
//
// spec: usage-is-exact
func checkUsageAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	prisms := []prism.Prism{f.mine.prism, f.addPrism(t, f.mine, "other")}
	accounts := 0
	rapid.Check(t, func(rt *rapid.T) {
		accounts++
		m := &usageModel{f: f, ctx: t.Context(), account: prism.AccountID{UUID: prism.UUID{0: 7, 14: byte(accounts >> 8), 15: byte(accounts)}}}
		must(rt, f.CreateAccount(m.ctx, m.account, fmt.Sprintf("account %d", accounts), moment(0)))
		for _, p := range prisms {
			must(rt, f.CreatePrism(m.ctx, m.account, p))
		}
		steps := []func(*rapid.T){m.save, m.save, m.retry, m.fold, m.delete}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		m.agrees(rt, prisms)
	})
}

type usageModel struct {
	f       *fixture
	ctx     context.Context // of the test that owns the model
	account prism.AccountID
	ever    []prism.Result // that were saved
}

func (m *usageModel) draw(t *rapid.T) prism.Result {
	r := m.f.ok(prism.Prism{ID: m.f.mine.prism.ID})
	if rapid.Bool().Draw(t, "failed") {
		r = m.f.failed(prism.Prism{ID: r.Prism})
	}
	r.CreatedAt = prism.Day(20_000).Start().Add(rapid.SampledFrom([]time.Duration{
		0, 24*time.Hour - time.Millisecond, 24 * time.Hour, 36 * time.Hour,
	}).Draw(t, "at"))
	if rapid.Bool().Draw(t, "recorded") {
		currency := rapid.SampledFrom([]string{"", "EUR", "USD"}).Draw(t, "currency")
		key := prism.KeyID{UUID: prism.UUID{15: rapid.Byte().Draw(t, "key") % 3}}
		model := rapid.SampledFrom([]string{"", "fast", "strong"}).Draw(t, "model")
		r = called(r, key, model, rapid.Int64Range(0, 1<<40).Draw(t, "tokens")/2, rapid.Int64Min(0).Draw(t, "cost"), currency)
	}
	return r
}

// save saves some results at once.
func (m *usageModel) save(t *rapid.T) {
	some := make([]prism.Result, rapid.IntRange(1, 3).Draw(t, "at once"))
	for i := range some {
		some[i] = m.draw(t)
	}
	for _, err := range together(len(some), func(i int) error {
		_, err := m.f.SaveResult(m.ctx, m.account, some[i])
		return err
	}) {
		must(t, err)
	}
	m.ever = append(m.ever, some...)
}

// retry races two retries of the last result. One of them is saved.
func (m *usageModel) retry(t *rapid.T) {
	if len(m.ever) == 0 {
		return
	}
	of, retries := m.ever[len(m.ever)-1], []prism.Result{m.draw(t), m.draw(t)}
	for i, err := range together(len(retries), func(i int) error {
		_, err := m.f.SaveRetry(m.ctx, m.account, retries[i], of.ID)
		return err
	}) {
		if err == nil {
			m.ever = append(m.ever, retries[i])
		}
	}
}

func (m *usageModel) fold(t *rapid.T) { must(t, m.f.Fold(m.ctx)) }

func (m *usageModel) delete(t *rapid.T) {
	if d, ok := m.f.Store.(Deleter); ok {
		must(t, d.DeleteSome(m.ctx, m.account))
	}
}

func (m *usageModel) agrees(t *rapid.T, prisms []prism.Prism) {
	filter := usage.Filter{
		By:   rapid.SampledFrom([]api.UsageBy{api.ByDay, api.ByPrism, api.ByModel, api.ByKey}).Draw(t, "by"),
		From: rapid.SampledFrom([]prism.Day{0, 20_000, 20_001}).Draw(t, "from"),
		To:   rapid.SampledFrom([]prism.Day{math.MaxInt32, 20_001}).Draw(t, "to"),
	}
	if rapid.Bool().Draw(t, "of a model") {
		filter.Model = "fast"
	}
	if rapid.Bool().Draw(t, "of a key") {
		filter.Key = &prism.KeyID{UUID: prism.UUID{15: 1}}
	}
	sums := map[usage.Sum]usage.Sum{}
	for _, r := range m.ever {
		call, at := prism.ModelCall{}, prism.DayOf(r.CreatedAt)
		if r.Call != nil {
			call = *r.Call
		}
		if at < filter.From || at >= filter.To || filter.Model != "" && call.Name != filter.Model || filter.Key != nil && r.Key != *filter.Key {
			continue
		}
		group := usage.Sum{Currency: call.Usage.Currency}
		switch filter.By {
		case api.ByDay:
			group.Day = at
		case api.ByPrism:
			group.Name = prisms[0].Slug
		case api.ByModel:
			group.Name = call.Name
		case api.ByKey:
			group.Key = r.Key
		}
		sum, found := sums[group]
		if !found {
			sum = group
		}
		sum.Results++
		if r.Status == prism.Failed {
			sum.Failed++
		}
		add := func(to *int64, n *int64) {
			if n != nil {
				*to += *n
			}
		}
		add(&sum.InputTokens, call.Usage.InputTokens)
		add(&sum.OutputTokens, call.Usage.OutputTokens)
		var cost prism.Cost
		add(&cost.Rest, call.Usage.Cost)
		sum.Cost = whole(sum.Cost.Add(whole(cost)))
		sums[group] = sum
	}
	got, _, err := m.f.ReadUsage(m.ctx, m.account, filter)
	must(t, err)
	for _, s := range got {
		s.Cost = whole(s.Cost)
		of := usage.Sum{Day: s.Day, Name: s.Name, Key: s.Key, Currency: s.Currency}
		if want := sums[of]; s != want {
			t.Fatalf("got  %+v\nwant %+v", s, want)
		}
		delete(sums, of)
	}
	if len(sums) > 0 {
		t.Fatalf("usage misses %+v", sums)
	}
	results := map[usage.Sum]int64{}
	for _, s := range got {
		results[s.Group()] += s.Results
	}
	if !slices.IsSortedFunc(got, func(a, b usage.Sum) int {
		most := 0
		if filter.By != api.ByDay {
			most = cmp.Compare(results[b.Group()], results[a.Group()])
		}
		return cmp.Or(most, cmp.Compare(a.Day, b.Day), cmp.Compare(a.Name, b.Name), bytes.Compare(a.Key.UUID[:], b.Key.UUID[:]),
			cmp.Compare(a.Currency, b.Currency))
	}) {
		t.Fatalf("the sums are not in order: %+v", got)
	}
}
