package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// checkSearchAgainstModel changes results in random ways, indexes some of the changes, and finds at any moment what a look at each result
// finds.
//
// spec: result-index, index-covers
func checkSearchAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	accounts := 0
	rapid.Check(t, func(rt *rapid.T) {
		accounts++
		m := &searchModel{
			f: f, ctx: t.Context(), hidden: map[prism.PrismID]bool{},
			account: prism.AccountID{UUID: prism.UUID{0: 9, 14: byte(accounts >> 8), 15: byte(accounts)}},
		}
		must(rt, f.CreateAccount(m.ctx, m.account, fmt.Sprintf("finding %d", accounts), moment(0)))
		for i := range m.prisms {
			m.prisms[i] = f.newPrism(fmt.Sprintf("finding-%d-%d", accounts, i))
			m.prisms[i].Latest = tagged()
			must(rt, f.CreatePrism(m.ctx, m.account, m.prisms[i]))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"save": m.save, "save again": m.save, "label": m.label, "delete": m.delete, "find": m.find, "find again": m.find, "": func(*rapid.T) {},
			"fold":  func(t *rapid.T) { must(t, f.Fold(m.ctx)) },
			"index": m.index, "count": m.count, "leave out": m.leaveOut, "catch up": m.catchUp,
		})
	})
}

type searchModel struct {
	f       *fixture
	ctx     context.Context // of the test that owns the model
	account prism.AccountID
	prisms  [2]prism.Prism
	hidden  map[prism.PrismID]bool
	behind  bool             // results of a prism that was left out may not be indexed yet
	live    []*finding.Found // oldest first
}

// words are of ten scripts.
var words = strings.Split("Straße CAFÉ don't A-17 заказ ЁЛКА λάθος ΛΆΘΟΣ أُريدُ الطلــب הַחֶשְׁבּוֹן बिल เงินคืน 发票金额 退款 請求書が ガイド 청구서 잘못 x 12", " ")

func anyText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, name), rapid.SampledFrom([]string{" ", "", ", "}).Draw(t, "between"))
}

func (m *searchModel) save(t *rapid.T) {
	r := m.f.ok(rapid.SampledFrom(m.prisms[:]).Draw(t, "prism"))
	r.Fields[0].Value, r.Fields[1].Value, r.Context = anyText(t, "zulu"), anyText(t, "alpha"), anyText(t, "context")
	r.TookMS = rapid.Int64Range(0, 3).Draw(t, "took")
	r.Ref = rapid.SampledFrom([]*string{nil, pointer("x"), pointer("Заказ 12")}).Draw(t, "ref")
	saved := &finding.Found{Labels: map[string]string{}, Definition: tagged().Definition}
	if rapid.IntRange(0, 3).Draw(t, "failed") == 0 {
		r.Status, r.Answers, r.Error = prism.Failed, nil, "The model did not answer."
	} else {
		p := rapid.SampledFrom([]float64{0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1})
		topic, mood := p.Draw(t, "topic"), p.Draw(t, "mood")
		chosen := func(first float64, a, b string) string {
			if first >= 0.5 {
				return a
			}
			return b
		}
		saved.Answers = prism.Answers{
			{Question: "urgent", Type: prism.YesNo, Probability: p.Draw(t, "urgent")},
			{Question: "topic", Type: prism.Choice, Chosen: chosen(topic, "b", "a"), Confidence: p.Draw(t, "confidence"), Probabilities: []prism.KeyProbability{
				{Key: "b", Probability: topic}, {Key: "a", Probability: 1 - topic}, {Key: prism.InsufficientInformation},
			}},
			{Question: "mood", Type: prism.Scale, Chosen: chosen(mood, "low", "up"), Probabilities: []prism.KeyProbability{
				{Key: "low", Probability: mood}, {Key: "up", Probability: 1 - mood},
			}},
			{Question: "tags", Type: prism.Tags, Probabilities: []prism.KeyProbability{
				{Key: "vip", Probability: p.Draw(t, "vip")}, {Key: "a", Probability: p.Draw(t, "tag a")},
			}},
		}
		r.Answers = answerjson.Append(nil, saved.Answers)
	}
	if model := rapid.SampledFrom([]string{"", "fast", `a "b" 'c'\`}).Draw(t, "model"); model != "" {
		r.Call = &prism.ModelCall{Name: model, Tries: 1}
	}
	saved.Result = r
	m.live = append(m.live, saved)
	_, err := m.f.SaveResult(m.ctx, m.account, r)
	must(t, err)
}

func (m *searchModel) any(t *rapid.T) *finding.Found {
	if len(m.live) == 0 {
		t.Skip("no results")
	}
	return rapid.SampledFrom(m.live).Draw(t, "result")
}

func (m *searchModel) label(t *rapid.T) {
	result := m.any(t)
	question := rapid.SampledFrom([]string{"urgent", "topic", "mood", "tags"}).Draw(t, "question")
	value := rapid.SampledFrom(map[string][]string{
		"urgent": {"", "true", "false"}, "topic": {"", "a", "b"}, "mood": {"", "low", "up"}, "tags": {"", `[]`, `["vip"]`, `["vip","a"]`},
	}[question]).Draw(t, "value")
	gone, err := m.f.PutLabels(m.ctx, m.account, result.Result.Prism, []labels.Label{m.f.label(result.Result, question, value)})
	must(t, err)
	if len(gone) > 0 { // a failed result has no labels
		return
	}
	if result.Labels[question] = value; value == "" {
		delete(result.Labels, question)
	}
}

func (m *searchModel) delete(t *rapid.T) {
	of := m.any(t)
	must(t, m.f.DeleteResult(m.ctx, m.account, of.Result.ID, m.f.by(moment(0))))
	m.live = slices.DeleteFunc(m.live, func(f *finding.Found) bool { return f == of })
}

func (m *searchModel) index(t *rapid.T) {
	advance := rapid.SampledFrom([]func(context.Context, prism.AccountID, int) (bool, error){m.f.IndexChanges, m.f.IndexOld}).Draw(t, "what")
	for more := true; more; {
		var err error
		more, err = advance(m.ctx, m.account, rapid.IntRange(1, 4).Draw(t, "at once"))
		must(t, err)
		more = more && rapid.Bool().Draw(t, "goes on")
	}
}

// leaveOut leaves a prism out of searches, or no longer.
func (m *searchModel) leaveOut(t *rapid.T) {
	id, searchable := rapid.SampledFrom(m.prisms[:]).Draw(t, "prism").ID, rapid.Bool().Draw(t, "searchable")
	must(t, m.f.SetSearchable(m.ctx, m.account, id, searchable, m.f.by(moment(0))))
	m.behind = m.behind || searchable && m.hidden[id]
	m.hidden[id] = !searchable
}

// catchUp indexes all old results, and takes out those that are left out.
func (m *searchModel) catchUp(t *rapid.T) {
	for {
		lags, err := m.f.Behind(m.ctx)
		must(t, err)
		i := slices.IndexFunc(lags, func(l search.Lag) bool { return l.Account == m.account })
		if i < 0 || !lags[i].Old {
			m.behind = false
			return
		}
		_, err = m.f.IndexOld(m.ctx, m.account, rapid.IntRange(1, 4).Draw(t, "at once"))
		must(t, err)
	}
}

// covers checks what a search says that it did not look at, and tells whether that is nothing.
func (m *searchModel) covers(t *rapid.T, c finding.Covered, behind bool) bool {
	if c.Until != nil || c.Newest != 0 || c.From != nil && !behind {
		t.Fatalf("covered %+v, though all results have changes", c)
	}
	return c.From == nil
}

// filter is one whose conditions hold for some results, and those that it finds, the newest first.
func (m *searchModel) filter(t *rapid.T) (f search.Filter, schema finding.Schema, matches []*finding.Found) {
	if q := anyQuery(t); q != "" {
		var problem string
		if f.Words, problem = finding.ParseWords(q); problem != "" {
			t.Skip(problem)
		}
	}
	if rapid.Bool().Draw(t, "of a prism") {
		f.Prism = rapid.SampledFrom(m.prisms[:]).Draw(t, "prism").ID
		f.Versions = map[int32]prism.Definition{1: tagged().Definition}
		schema = finding.NewSchema(tagged().Definition)
		where := rapid.SliceOfN(rapid.SampledFrom(strings.Fields(`topic:is:a topic:is:a,b topic:not:a topic:is:insufficient_information urgent:is:yes
			urgent:not:yes urgent:from:0.3 urgent:to:0.3 urgent:from:-1 urgent:to:1.5 topic:from:0.7 topic.b:to:0.05 topic@confidence:from:0.5 mood@average:from:0.25
			mood:is:low mood.up:from:1 topic:labelled topic:unlabelled urgent:wrong mood:wrong topic:wrong topic@label:is:a topic@label:is:b
			topic@label:not:a urgent@label:is:yes urgent@label:not:yes mood@label:is:low,up @version:is:1 @version:is:2,3 @model:is:fast
			@model:not:fast @status:is:failed @status:not:failed @labelled:is:yes @labelled:is:no @took:from:2 @took:to:1 tags:is:vip
			tags:is:a,vip tags:not:vip tags:not:a,vip tags.vip:from:0.3 tags.a:to:0.1 tags@count:from:1 tags@count:to:0 tags:labelled
			tags:unlabelled tags:wrong tags@label:is:vip tags@label:not:a`)), 0, 3).Draw(t, "where")
		if rapid.Bool().Draw(t, "odd model") {
			where = append(where, `@model:is:fast,a "b" 'c'\`)
		}
		all, problems := schema.ParseConditions(where)
		if problems != nil {
			t.Fatal(problems)
		}
		f.Where = all
	}
	f.Status = rapid.SampledFrom([]prism.Status{"", "", "", prism.OK, prism.Failed}).Draw(t, "status")
	f.Ref = rapid.SampledFrom([]*string{nil, nil, nil, pointer("x")}).Draw(t, "ref filter")
	for _, r := range slices.Backward(m.live) {
		if (f.Prism == r.Result.Prism || f.Prism.IsZero() && !m.hidden[r.Result.Prism]) && (f.Status == "" || r.Result.Status == f.Status) &&
			(f.Ref == nil || r.Result.Ref != nil && *r.Result.Ref == *f.Ref) && f.Where.Match(r) &&
			(f.Words == nil || f.Words.Match(finding.Tokens(r.Result))) {
			matches = append(matches, r)
		}
	}
	return f, schema, matches
}

func (m *searchModel) find(t *rapid.T) {
	f, schema, matches := m.filter(t)
	sort := rapid.SampledFrom([]string{"", "-@created", "@created", "@took", "-@took", "urgent", "-topic", "topic.b", "-mood@average", "topic@confidence", "tags.vip", "-tags.a", "tags@count"}).Draw(t, "sort")
	o, problem := schema.ParseOrder(sort)
	if problem != "" {
		t.Skip("there is no order by an answer without a prism")
	}
	slices.SortFunc(matches, o.Compare)
	var want, got []prism.ResultID
	for _, r := range matches {
		want = append(want, r.Result.ID)
	}
	var at *search.Position
	all := true
	for {
		page, err := m.f.Search(m.ctx, m.account, f, o, at, rapid.IntRange(1, 3).Draw(t, "limit"))
		must(t, err)
		all = m.covers(t, page.Covered, m.behind || m.hidden[f.Prism] && !o.ByID()) && all
		for _, h := range page.Hits {
			got = append(got, prism.ResultID{UUID: h.ID})
		}
		if at = page.Next; at == nil {
			break
		}
	}
	if !all { // what is found is in order, and not yet all
		want = slices.DeleteFunc(want, func(id prism.ResultID) bool { return !slices.Contains(got, id) })
	}
	if !slices.Equal(got, want) {
		t.Fatalf("found by %q %v, want %v", sort, got, want)
	}
}

func (m *searchModel) count(t *rapid.T) {
	f, _, matches := m.filter(t)
	by := []finding.Subject{
		{Measure: finding.Status},
		{Measure: finding.Labelled},
		{Question: "topic"},
		{Question: "urgent"},
		{Question: "topic", Measure: finding.Label},
		{Question: "urgent", Measure: finding.Label},
		{Question: "tags"},
		{Question: "tags", Measure: finding.Label},
	}
	got, err := m.f.Counts(m.ctx, m.account, f, by)
	must(t, err)
	if m.behind && !got.Exact && int(got.Total) <= len(matches) {
		return
	}
	if int(got.Total) != len(matches) || !got.Exact {
		t.Fatalf("counted %+v, want %d", got, len(matches))
	}
	for i, subject := range by {
		want := map[string]int64{}
		for _, r := range matches {
			for _, value := range r.Counted(subject) {
				if subject.Question == "" || !f.Prism.IsZero() {
					want[value]++
				}
			}
		}
		for _, v := range got.By[i] {
			if subject.Question != "" && f.Prism.IsZero() {
				continue // without a prism there are no definitions
			}
			if want[v.Value] != v.N {
				t.Fatalf("%v: %d of %q, want %d", subject, v.N, v.Value, want[v.Value])
			}
			delete(want, v.Value)
		}
		if len(want) > 0 {
			t.Fatalf("%v: not counted: %v", subject, want)
		}
	}
}

func anyQuery(t *rapid.T) string {
	var parts []string
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		word := rapid.SampledFrom(words).Draw(t, "word")
		runes := []rune(word)
		switch rapid.SampledFrom([]string{"word", "word", "not", "phrase", "prefix", "part", "or"}).Draw(t, "part") {
		case "not":
			word = "-" + word
		case "phrase":
			word = `"` + word + " " + rapid.SampledFrom(words).Draw(t, "next") + `"`
		case "prefix":
			word = string(runes[:min(3, len(runes))]) + "*"
		case "part":
			word = string(runes[len(runes)/2:])
		case "or":
			word = "or " + word
		}
		parts = append(parts, word)
	}
	return strings.TrimPrefix(strings.Join(parts, " "), "or ")
}
