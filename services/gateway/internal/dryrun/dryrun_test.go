package dryrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/dryrun"
	"github.com/prism-results/prism/services/gateway/internal/size"
)

// plan is a results with a planned run, and a model-proxy.
type plan struct {
	contract.Runs
	contract.Models
	contract.RunPlan
	rows    func(chunk int32) []contract.ChunkRow
	wait    time.Duration // of each look at a chunk
	err     error
	asked   []contract.PlanRows
	price   *api.Price
	from    api.ProbabilitySource
	order   *string
	samples *int
}

func (p *plan) PlanRun(_ context.Context, _ contract.KeyDigest, _ prism.Ref, n api.NewRun) (contract.RunPlan, error) {
	p.Run = n
	return p.RunPlan, p.err
}

func (p *plan) PlanRows(_ context.Context, _ contract.KeyDigest, q contract.PlanRows) ([]contract.ChunkRow, error) {
	<-time.After(p.wait)
	p.asked = append(p.asked, q)
	return p.rows(q.Chunk), nil
}

func (*plan) States(context.Context) ([]api.ModelState, error) { return nil, nil }

func (p *plan) Check(context.Context, string) (contract.ModelCheck, error) {
	return contract.ModelCheck{}, nil
}

func (p *plan) List(context.Context) ([]api.Model, error) {
	return []api.Model{{Name: "other", Default: false}, {Name: "fast", Default: true, Price: p.price, Probabilities: p.from, Order: p.order, Samples: p.samples}}, nil
}

func newPlan(rows int64, chunks int32) *plan {
	p := &plan{rows: func(chunk int32) []contract.ChunkRow {
		return []contract.ChunkRow{rowOf(int64(chunk)+1, "one two three")}
	}}
	p.RunPlan = contract.RunPlan{
		Account: prism.AccountID{UUID: prism.UUID{1}}, Prism: prism.PrismID{UUID: prism.UUID{2}}, Rows: rows, Chunks: chunks,
		Version: prism.Version{Number: 3, Definition: prism.Definition{
			Instructions: "Be brief.", // 3 tokens
			Fields:       []prism.Field{{Key: "text"}},
			Questions: []prism.Question{
				{Key: "a", Type: prism.YesNo, Text: "Is it?"}, {Key: "b", Type: prism.YesNo, Text: "Is it?"}, // 3 tokens each
			},
		}},
	}
	return p
}

func rowOf(row int64, text string) contract.ChunkRow {
	return contract.ChunkRow{Row: row, Fields: []prism.FieldValue{{Key: "text", Value: text}}}
}

type answer struct {
	Rows        int64 `json:"rows"`
	RowsChecked int64 `json:"rows_checked"`
	Invalid     []struct {
		Row     int64
		Message string
	}
	InvalidTotal  int64 `json:"invalid_total"`
	InvalidLabels []struct {
		Row     int64  `json:"row"`
		Message string `json:"message"`
	} `json:"invalid_labels"`
	InvalidLabelsTotal int64    `json:"invalid_labels_total"`
	Tokens             int64    `json:"tokens"`
	ModelCalls         int64    `json:"model_calls"`
	Seconds            *float64 `json:"seconds"`
	Cost               *float64 `json:"cost"`
	Currency           *string  `json:"currency"`
}

var estimator = size.New(nil)

func run(stopping context.Context, t *testing.T, p *plan, n api.NewRun) answer {
	t.Helper()
	d := dryrun.Deps{Results: p, Models: p, Estimator: estimator, Places: fair.NewQueue(1, 0), Stopping: func() context.Context { return stopping }}
	response, err := d.Run(t.Context(), contract.KeyDigest{}, prism.Ref{Slug: "p"}, n)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(response.Body, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// spec: run-dry-run, rows-are-calls
func TestADryRunSaysWhatTheRunWouldDo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_001)
	large := strings.Repeat("word ", 19_998)
	p := newPlan(4, 2)
	p.price, p.from = &api.Price{Currency: "EUR", Input: 2, PerCall: new(0.25)}, api.Logprobs
	p.rows = func(chunk int32) []contract.ChunkRow {
		return [][]contract.ChunkRow{
			{rowOf(1, "one two three"), rowOf(2, long)},
			{rowOf(3, "one two three"), {Row: 4, Fields: rowOf(4, large).Fields, Context: large}},
		}[chunk]
	}
	got := run(t.Context(), t, p, api.NewRun{RunLimits: api.RunLimits{RowsPerSecond: new(0.5)}})
	if got.Rows != 4 || got.RowsChecked != 4 || got.InvalidTotal != 2 || len(got.Invalid) != 2 {
		t.Fatalf("got %+v", got)
	}
	if m := got.Invalid[0]; m.Row != 2 || m.Message != "Invalid request: fields.text: String must contain at most 100000 character(s)" {
		t.Errorf("got %+v", m)
	}
	if m := got.Invalid[1]; m.Row != 4 || !strings.HasPrefix(m.Message, "Request too large: about ") {
		t.Errorf("got %+v", m)
	}
	// Two rows of 3 tokens in a call for each of 2 questions, with the instructions and one question.
	if got.ModelCalls != 4 || got.Tokens != 2*(2*3+2*3+2*3) {
		t.Errorf("got %d calls, %d tokens", got.ModelCalls, got.Tokens)
	}
	if *got.Seconds != 4 || *got.Currency != "EUR" || *got.Cost != float64(got.Tokens)*2/1e6+4*0.25 {
		t.Errorf("got %v s, %v %s", *got.Seconds, *got.Cost, *got.Currency)
	}
	for i, q := range p.asked {
		if q.Chunk != int32(i) || q.Run.Version != 3 || q.Prism.ID != p.Prism {
			t.Errorf("asked %+v", q)
		}
	}
	p = newPlan(1, 1)
	got = run(t.Context(), t, p, api.NewRun{})
	if got.ModelCalls != 1 || got.Tokens != 3+3+2*3 || got.Seconds != nil || got.Cost != nil || got.Currency != nil || got.Invalid == nil {
		t.Errorf("got %+v", got)
	}
}

// spec: run-dry-run
func TestADryRunListsTheFirstHundredInvalidRows(t *testing.T) {
	t.Parallel()
	p := newPlan(250, 250)
	p.rows = func(chunk int32) []contract.ChunkRow { return []contract.ChunkRow{{Row: int64(chunk) + 1}} }
	got := run(t.Context(), t, p, api.NewRun{})
	if got.InvalidTotal != 250 || len(got.Invalid) != 100 || got.Invalid[99].Row != 100 || got.Invalid[0].Message != "Missing fields: text" ||
		got.ModelCalls != 0 || got.Tokens != 0 {
		t.Errorf("got %d of %d, %+v", len(got.Invalid), got.InvalidTotal, got.Invalid[99])
	}
}

// spec: run-labels-invalid
func TestADryRunListsTheFirstHundredCellsThatAreNoLabel(t *testing.T) {
	t.Parallel()
	p := newPlan(80, 80)
	p.rows = func(chunk int32) []contract.ChunkRow {
		row := rowOf(int64(chunk)+1, "one two three")
		row.InvalidLabels = []string{"labels.a: Expected 'true' | 'false'", "labels.b: Expected 'true' | 'false'"}
		return []contract.ChunkRow{row}
	}
	got := run(t.Context(), t, p, api.NewRun{})
	if got.InvalidLabelsTotal != 160 || len(got.InvalidLabels) != 100 || got.InvalidLabels[99].Row != 50 ||
		got.InvalidLabels[99].Message != "labels.b: Expected 'true' | 'false'" || got.InvalidTotal != 0 || got.ModelCalls != 80 {
		t.Errorf("got %+v", got)
	}
}

// spec: run-dry-run
func TestADryRunOfALargeFileSaysHowManyRowsItHasChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlan(1000, 1000)
		p.wait = time.Second
		got := run(t.Context(), t, p, api.NewRun{})
		if got.RowsChecked != 20 || got.Rows != 1000 || got.ModelCalls != 1000 || got.Tokens != 1000*12 {
			t.Errorf("got %+v", got)
		}
		stopping, stop := context.WithCancel(t.Context())
		time.AfterFunc(2500*time.Millisecond, stop)
		if got := run(stopping, t, p, api.NewRun{}); got.RowsChecked != 3 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestWhatCannotBePlannedIsTheAnswer(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 1)
	p.err = apierr.FileNotReady()
	d := dryrun.Deps{Results: p, Models: p, Estimator: estimator, Places: fair.NewQueue(1, 0), Stopping: t.Context}
	if _, err := d.Run(t.Context(), contract.KeyDigest{}, prism.Ref{}, api.NewRun{}); !errors.Is(err, p.err) || len(p.asked) != 0 {
		t.Errorf("got %v", err)
	}
}

// spec: run-dry-run, label-orders
func TestEachOrderOfAQuestionIsACall(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 1)
	p.from, p.order = api.Logprobs, new("cyclic")
	options := []prism.Option{{Key: "a", Label: "One"}, {Key: "b", Label: "Two"}}
	p.Version.Questions[1] = prism.Question{Key: "b", Type: prism.Choice, Text: "Is it?", Options: options, InsufficientInformation: true}
	got := run(t.Context(), t, p, api.NewRun{})
	n, err := estimator.ForCall(t.Context()).Count(p.Version.Questions[1].Texts()...)
	once := int64(n)
	// Two orders of the yes_no and three of the choice: 3 tokens of the row and 3 of the instructions each, and their questions.
	if want := 5*(3+3) + 2*3 + 3*once; err != nil || got.ModelCalls != 5 || got.Tokens != want {
		t.Errorf("got %d calls, %d tokens, want %d", got.ModelCalls, got.Tokens, want)
	}
}

// spec: run-dry-run, option-groups
func TestEachGroupOfOptionsIsACall(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 1)
	p.from = api.Logprobs
	q := prism.Question{Key: "b", Type: prism.Choice, Text: "Is it?"}
	for i := range 77 {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprint("o", i), Label: "One"})
	}
	p.Version.Questions[1] = q
	got := run(t.Context(), t, p, api.NewRun{})
	n, err := estimator.ForCall(t.Context()).Count(q.Texts()...)
	// The yes_no, five groups and the last round, which has 16 of the 77 options.
	if want := 7*(3+3) + 3 + int64(n+n*16/77); err != nil || got.ModelCalls != 7 || got.Tokens != want {
		t.Errorf("got %d calls, %d tokens, want %d", got.ModelCalls, got.Tokens, want)
	}
}

// spec: run-dry-run, asked-parts
func TestEachTagIsACall(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 1)
	p.from = api.Logprobs
	q := prism.Question{Key: "b", Type: prism.Tags, Text: "About?", Options: []prism.Option{{Key: "a", Label: "One"}, {Key: "b", Label: "Two", Description: "of them"}}}
	p.Version.Questions[1] = q
	want := 3*(3+3) + 3 // the yes_no, and each option with the text of the question
	for _, part := range q.Parts() {
		n, err := estimator.ForCall(t.Context()).Count(part.Text)
		if err != nil {
			t.Fatal(err)
		}
		want += n
	}
	if got := run(t.Context(), t, p, api.NewRun{}); got.ModelCalls != 3 || got.Tokens != int64(want) {
		t.Errorf("got %d calls, %d tokens, want %d", got.ModelCalls, got.Tokens, want)
	}
}

// spec: run-dry-run, sampled-answers
func TestEachSampleIsACall(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 1)
	p.from = api.Native
	once := run(t.Context(), t, p, api.NewRun{})
	p.from, p.samples = api.Sampled, new(5)
	if got := run(t.Context(), t, p, api.NewRun{}); got.ModelCalls != 5 || got.Tokens != 5*once.Tokens {
		t.Errorf("got %d calls, %d tokens, want five times %d", got.ModelCalls, got.Tokens, once.Tokens)
	}
}

// spec: dry-run-places
func TestDryRunsOfAccountsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := fair.NewQueue(1, 0)
		var mu sync.Mutex
		var calls sync.WaitGroup
		order := ""
		for _, account := range []string{"a", "b", "a", "a"} {
			p := newPlan(3, 3)
			p.rows = func(chunk int32) []contract.ChunkRow {
				mu.Lock()
				defer mu.Unlock()
				order += account
				return []contract.ChunkRow{rowOf(int64(chunk)+1, "one")}
			}
			p.wait = time.Second
			d := dryrun.Deps{Results: p, Models: p, Estimator: estimator, Places: places, Stopping: t.Context}
			calls.Go(func() {
				if _, err := d.Run(fair.With(t.Context(), account), contract.KeyDigest{}, prism.Ref{}, api.NewRun{}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		calls.Wait()
		// A chunk of a and one of b until b has none left.
		if want := "abababaaaaaa"; order != want {
			t.Errorf("the chunks were of %s, want %s", order, want)
		}
	})
}

// spec: dry-run-places
func TestADryRunWithoutAPlaceIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := fair.NewQueue(1, 0)
		if !places.TryTake("a", fair.Preferred) {
			t.Fatal("no place")
		}
		p := newPlan(1, 1)
		p.err = errors.New("planned")
		d := dryrun.Deps{Results: p, Models: p, Estimator: estimator, Places: places, Stopping: t.Context}
		_, err := d.Run(t.Context(), contract.KeyDigest{}, prism.Ref{}, api.NewRun{})
		if !errors.Is(err, contract.ErrUnavailable) || errors.Is(err, p.err) {
			t.Error(err)
		}
	})
}

// A dry run that gets no turn any more tells of the rows that it has checked.
//
// spec: dry-run-places, run-dry-run
func TestADryRunEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := fair.NewQueue(1, 0)
		p := newPlan(3, 3)
		p.wait = time.Second
		d := dryrun.Deps{Results: p, Models: p, Estimator: estimator, Places: places, Stopping: t.Context}
		response := make(chan contract.Response, 1)
		go func() {
			r, err := d.Run(fair.With(t.Context(), "a"), contract.KeyDigest{}, prism.Ref{}, api.NewRun{})
			if err != nil {
				t.Error(err)
			}
			response <- r
		}()
		<-time.After(time.Millisecond)
		go func() { _ = places.Take(t.Context(), "b", fair.Preferred) }()
		var a answer
		if err := json.Unmarshal((<-response).Body, &a); err != nil || a.RowsChecked != 1 || a.Rows != 3 {
			t.Errorf("got %+v, %v", a, err)
		}
		if n := places.Taken(); n != 1 {
			t.Errorf("%d places are held, want that of the other account", n)
		}
	})
}
