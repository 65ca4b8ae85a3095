package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// checkDistributionAgainstModel changes results while others number the changes and count them, and stop in between, and compares the
// counts with those of every result that was ever saved, with the labels that it has, or had when it was deleted.
//
// spec: distribution-exact, distribution-once, distribution-deleted, distribution-labels
func checkDistributionAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	accounts := 0
	rapid.Check(t, func(rt *rapid.T) {
		accounts++
		m := &distributionModel{
			f: f, ctx: t.Context(), account: prism.AccountID{UUID: prism.UUID{0: 9, 14: byte(accounts >> 8), 15: byte(accounts)}},
			ever: map[prism.ResultID]*everResult{},
		}
		of := f.mine.prism
		of.Latest = tagged()
		must(rt, f.CreateAccount(m.ctx, m.account, fmt.Sprintf("counted %d", accounts), moment(0)))
		must(rt, f.CreatePrism(m.ctx, m.account, of))
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			m.step(rt)
			m.agrees(rt, false)
		}
		must(rt, f.Fold(m.ctx))
		must(rt, f.BeginCounting(m.ctx, m.account))
		for more := true; more; {
			var err error
			more, err = f.Count(m.ctx, m.account, 2)
			must(rt, err)
		}
		m.agrees(rt, true)
		waiting, err := f.WaitingAccounts(m.ctx)
		must(rt, err)
		if slices.ContainsFunc(waiting, func(w distribution.Waiting) bool { return w.Account == m.account }) {
			rt.Fatal("an account without anything to count waits")
		}
	})
}

type distributionModel struct {
	f       *fixture
	ctx     context.Context // of the test that owns the model
	account prism.AccountID
	ever    map[prism.ResultID]*everResult
	order   []prism.ResultID // of the results that were saved
	early   int
}

// everResult is a result that was saved once, and may be deleted.
type everResult struct {
	prism.Result
	answers prism.Answers
	labels  map[string]string
}

// distributionQuestions have their label values, and one that the results do not have.
var distributionQuestions = map[string][]string{"urgent": {"true", "false"}, "topic": {"a", "b"}, "mood": {"low", "up"}, "tags": {`[]`, `["vip"]`, `["vip","a"]`}}

// step has some of what can happen at the same time. Each action tells afterwards what it did.
func (m *distributionModel) step(t *rapid.T) {
	actions := map[string]func(*rapid.T) func() error{
		"save": m.save, "retry": m.retry, "label": m.label, "delete": m.delete, "deleteMany": m.deleteMany,
		"fold": func(*rapid.T) func() error { return func() error { return m.f.Fold(m.ctx) } },
		"begin": func(*rapid.T) func() error {
			return func() error { return m.f.BeginCounting(m.ctx, m.account) }
		},
		"count": m.count, "index": m.index,
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(actions))), 1, 4, rapid.ID).Draw(t, "at once")
	var calls []func() error
	for _, name := range names {
		if call := actions[name](t); call != nil {
			calls = append(calls, call)
		}
	}
	for _, err := range together(len(calls), func(i int) error { return calls[i]() }) {
		must(t, err)
	}
}

func (m *distributionModel) draw(t *rapid.T) *everResult {
	r := &everResult{Result: m.f.ok(m.f.mine.prism), labels: map[string]string{}}
	if rapid.Bool().Draw(t, "an early id") { // of a call that began long before
		m.early++
		r.ID.UUID = prism.FirstUUID(moment(-1000 * m.early))
	}
	r.CreatedAt = time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC).Add(rapid.SampledFrom([]time.Duration{
		0, 15*time.Minute - time.Millisecond, 15 * time.Minute, 59 * time.Minute, time.Hour, 25 * time.Hour,
	}).Draw(t, "at"))
	if rapid.Bool().Draw(t, "with a ref") {
		ref := "r"
		r.Ref = &ref
	}
	p := rapid.SampledFrom([]float64{0, 0.004, 0.005, 0.494, 0.5, 0.9, 1}).Draw(t, "p")
	r.answers = prism.Answers{{Question: "urgent", Type: prism.YesNo, Probability: p}}
	if rapid.Bool().Draw(t, "more questions") {
		chosen := func(question string, typ prism.QuestionType, keys ...string) prism.Answer {
			key := rapid.SampledFrom(keys).Draw(t, question)
			return prism.Answer{Question: question, Type: typ, Chosen: key, Probabilities: []prism.KeyProbability{{Key: key, Probability: 1}}}
		}
		r.answers = append(r.answers, chosen("topic", prism.Choice, "a", "b"), chosen("mood", prism.Scale, "low", "up"), prism.Answer{
			Question: "tags", Type: prism.Tags, Probabilities: []prism.KeyProbability{
				{Key: "vip", Probability: rapid.SampledFrom([]float64{0, 0.4, 0.5, 1}).Draw(t, "vip")}, {Key: "a", Probability: p},
			},
		})
	}
	r.Answers = answerjson.Append(nil, r.answers)
	return r
}

func (m *distributionModel) keep(r *everResult) {
	m.ever[r.ID] = r
	m.order = append(m.order, r.ID)
}

// some draws a result with a status that was saved; it may be deleted.
func (m *distributionModel) some(t *rapid.T, status prism.Status) *everResult {
	var candidates []prism.ResultID
	for _, id := range m.order {
		if m.ever[id].Status == status {
			candidates = append(candidates, id)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return m.ever[rapid.SampledFrom(candidates).Draw(t, "result")]
}

func (m *distributionModel) save(t *rapid.T) func() error {
	r := m.draw(t)
	if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
		r.Status, r.Answers, r.Error, r.answers = prism.Failed, nil, "It failed.", nil
	}
	m.keep(r)
	return func() error {
		_, err := m.f.SaveResult(m.ctx, m.account, r.Result)
		return err
	}
}

func (m *distributionModel) retry(t *rapid.T) func() error {
	old := m.some(t, prism.Failed)
	if old == nil {
		return nil
	}
	r := m.draw(t)
	m.keep(r)
	return func() error {
		_, err := m.f.SaveRetry(m.ctx, m.account, r.Result, old.ID)
		if retried := (*store.RetriedError)(nil); errors.As(err, &retried) || errors.Is(err, store.ErrNotFound) {
			r.Status, r.answers = prism.Failed, nil // nothing was saved
			return nil
		}
		return err
	}
}

// label puts, replaces or removes some labels of a result.
func (m *distributionModel) label(t *rapid.T) func() error {
	r := m.some(t, prism.OK)
	if r == nil {
		return nil
	}
	values := map[string]string{}
	for _, a := range r.answers {
		if rapid.Bool().Draw(t, "label") {
			values[a.Question] = rapid.SampledFrom(append([]string{""}, distributionQuestions[a.Question]...)).Draw(t, "value")
		}
	}
	var put []labels.Label
	for question, value := range values {
		put = append(put, m.f.label(r.Result, question, value))
	}
	return func() error {
		gone, err := m.f.PutLabels(m.ctx, m.account, m.f.mine.prism.ID, put)
		if err != nil || len(gone) > 0 {
			return err
		}
		for question, value := range values {
			if r.labels[question] = value; value == "" {
				delete(r.labels, question)
			}
		}
		return nil
	}
}

func (m *distributionModel) delete(t *rapid.T) func() error {
	r := m.some(t, rapid.SampledFrom([]prism.Status{prism.OK, prism.OK, prism.Failed}).Draw(t, "status"))
	if r == nil {
		return nil
	}
	return func() error {
		if err := m.f.DeleteResult(m.ctx, m.account, r.ID, m.f.by(moment(0))); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	}
}

// deleteMany deletes what has the ref.
func (m *distributionModel) deleteMany(*rapid.T) func() error {
	ref := "r"
	now := moment(0).Add(1000 * time.Hour)
	d := deletion.Job{Account: m.account, ID: m.f.id(), Prism: m.f.mine.prism.ID, Ref: &ref, SavedBefore: now, Before: now, DueAt: now}
	return func() error {
		if err := m.f.AddDeletion(m.ctx, d, "triage", 1, m.f.by(now)); err != nil {
			return err
		}
		for ended := false; !ended; {
			var err error
			if _, ended, err = m.f.DeletePart(m.ctx, &d, now.Add(time.Minute), m.f.by(now)); err != nil {
				return err
			}
		}
		return nil
	}
}

// count counts a piece, and may stop at any place in it.
func (m *distributionModel) count(t *rapid.T) func() error {
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	stops := rapid.Bool().Draw(t, "stops")
	return func() error {
		ctx, cancel := context.WithCancel(m.ctx)
		defer cancel()
		if stops {
			go cancel()
		}
		_, err := m.f.Count(ctx, m.account, limit)
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// index indexes some changes, which the search for answers then reads by.
func (m *distributionModel) index(t *rapid.T) func() error {
	n := rapid.IntRange(1, 3).Draw(t, "indexed")
	return func() error {
		_, err := m.f.IndexChanges(m.ctx, m.account, n)
		return err
	}
}

// agrees compares the counts of each question.
func (m *distributionModel) agrees(t *rapid.T, exact bool) {
	from := time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)
	questions := slices.Sorted(maps.Keys(distributionQuestions))
	if !exact {
		questions = []string{rapid.SampledFrom(questions).Draw(t, "question")}
	}
	for _, question := range questions {
		filter := distribution.Filter{Prism: m.f.mine.prism.ID, Question: question, From: from, To: from.Add(48 * time.Hour)}
		if rapid.Bool().Draw(t, "of a time") {
			filter.From, filter.To = from.Add(15*time.Minute), from.Add(time.Hour)
		}
		m.agreesSearched(t, filter)
		counts, err := m.f.ReadDistribution(m.ctx, m.account, filter)
		must(t, err)
		if !counts.Exact {
			if exact {
				t.Fatal("everything is counted, and the counts are not exact")
			}
			continue
		}
		m.compare(t, filter, counts, func(*everResult) bool { return true })
	}
}

// agreesSearched compares the counts of the results that a search finds, which are not deleted.
//
// spec: distribution-searched
func (m *distributionModel) agreesSearched(t *rapid.T, f distribution.Filter) {
	d := tagged().Definition
	where, problems := finding.NewSchema(d).ParseConditions(rapid.SliceOfN(rapid.SampledFrom([]string{
		"urgent:is:yes", "urgent:to:0.005", "topic:is:a", "topic:labelled", "mood:unlabelled", "urgent:wrong", "@labelled:is:no",
		"tags:is:vip", "tags.a:to:0.4", "tags:wrong",
	}), 0, 2).Draw(t, "where"))
	if problems != nil {
		t.Fatal(problems)
	}
	filter := search.Filter{
		Filter: store.Filter{Prism: f.Prism, From: f.From, To: f.To}, Where: where, Versions: map[int32]prism.Definition{1: d},
	}
	searched := distribution.Searched{Question: f.Question}
	covered, err := m.f.Visit(m.ctx, m.account, filter, searched.Count)
	must(t, err)
	found := searched.Counts(covered)
	if !found.Exact {
		t.Fatal("a search of all results is not exact")
	}
	m.compare(t, f, found, func(r *everResult) bool {
		_, err := m.f.Record(m.ctx, m.account, r.ID)
		if errors.Is(err, store.ErrNotFound) {
			return false
		}
		must(t, err)
		return where.Match(&finding.Found{Result: r.Result, Answers: r.answers, Labels: r.labels, Definition: d})
	})
}

// compare compares counts with those of the results that are counted.
func (m *distributionModel) compare(t *rapid.T, f distribution.Filter, found distribution.Found, counts func(*everResult) bool) {
	got, want := map[time.Time]distribution.Counts{}, map[time.Time]distribution.Counts{}
	for _, q := range found.Quarters {
		sum := got[q.At]
		sum.Add(&q.Counts)
		got[q.At] = sum
	}
	for _, r := range m.ever {
		at := slices.IndexFunc(r.answers, func(a prism.Answer) bool { return a.Question == f.Question })
		if at < 0 || !counts(r) || r.CreatedAt.Before(f.From) || !r.CreatedAt.Before(f.To) {
			continue
		}
		begin := r.CreatedAt.Truncate(15 * time.Minute)
		c := want[begin]
		if c.Values == nil {
			c.Values = map[string]int64{}
		}
		answer, value, p := r.answers[at], r.answers[at].Chosen, 1.
		switch answer.Type {
		case prism.Tags:
			keys := []string{}
			for _, k := range answer.Probabilities {
				p = min(p, max(k.Probability, 1-k.Probability))
				if k.Probability >= 0.5 {
					keys = append(keys, `"`+k.Key+`"`)
					c.Values["."+k.Key]++
				}
			}
			c.Values["."]++
			value = "[" + strings.Join(keys, ",") + "]"
		case prism.YesNo:
			value, p = fmt.Sprint(answer.Probability >= 0.5), answer.Probability
			if c.Bins == nil {
				c.Bins = make([]int64, 101)
			}
			c.Bins[int(math.Floor(p*100+0.5))]++
			c.Values[value]++
		default:
			c.Values[value]++
		}
		c.Probability += int64(p*1e6 + 0.5)
		if label, labelled := r.labels[f.Question]; labelled {
			c.Labelled++
			if label == value {
				c.Right++
			}
		}
		want[begin] = c
	}
	for at, c := range got {
		for value, n := range c.Values {
			if n == 0 {
				t.Fatalf("%v has no %s, and tells it", at, value)
			}
		}
	}
	if !maps.EqualFunc(got, want, func(a, b distribution.Counts) bool {
		return maps.Equal(a.Values, b.Values) && slices.Equal(a.Bins, b.Bins) && a.Probability == b.Probability && a.Labelled == b.Labelled && a.Right == b.Right
	}) {
		t.Fatalf("%s\ngot  %v\nwant %v", f.Question, got, want)
	}
}
