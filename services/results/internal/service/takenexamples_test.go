package service_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// take makes, or with dry shows, a version of prism "p" with examples from labels.
func (w *world) take(t *testing.T, d prism.Definition, from api.ExamplesFromLabels, dry bool) (api.Version, error) {
	t.Helper()
	response, err := contract.Do(t.Context(), w, w.key, api.CreateVersion, api.CreateVersionRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "p"}}, NewVersion: api.NewVersion{Definition: d},
		Dry: api.Dry{DryRun: dry}, ExamplesFromLabels: &from,
	})
	var v api.Version
	if err == nil {
		decode(t, response, &v)
	}
	return v, err
}

func choiceOf(key string, options ...string) prism.Question {
	q := prism.Question{Key: key, Type: prism.Choice, Text: "?"}
	for _, o := range options {
		q.Options = append(q.Options, prism.Option{Key: o})
	}
	return q
}

func asking(questions ...prism.Question) prism.Definition {
	d := definition("text")
	d.Questions = questions
	return d
}

func answersOf(examples []prism.Example, question string) (values []string) {
	for _, e := range examples {
		at := slices.IndexFunc(e.Answers, func(a prism.ExampleAnswer) bool { return a.Question == question })
		if at < 0 {
			values = append(values, "")
			continue
		}
		values = append(values, e.Answers[at].Text())
	}
	return values
}

func countOf(values []string) map[string]int {
	n := map[string]int{}
	for _, v := range values {
		n[v]++
	}
	return n
}

func sure(int) string {
	return `{"c":{"type":"choice","value":"a","probabilities":{"a":0.75,"b":0.25},"confidence":0.5},"s":{"type":"yes_no","probability":0.5}}`
}

// spec: examples-from-labels
func TestExamplesAreTakenFromLabelsOfEachValueInTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, s := choiceOf("c", "a", "b", "rare", "gone"), prism.Question{Key: "s", Type: prism.YesNo, Text: "?"}
	of := w.questions(t, "p", c, s)
	w.saveLabelled(t, of, 1, 40, sure, map[string]func(int) string{
		"c": func(i int) string {
			switch {
			case i == 7:
				return "rare"
			case i == 9:
				return "gone"
			case i > 34:
				return "b"
			}
			return "a"
		},
		"s": func(i int) string { return []string{"true", ""}[i%2] },
	})
	d := asking(choiceOf("c", "b", "a", "rare"), s)
	from := api.ExamplesFromLabels{Question: "c", N: 9, Seed: 1}
	v, err := w.take(t, d, from, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := countOf(answersOf(v.Examples, "c")), (map[string]int{"a": 4, "b": 4, "rare": 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("taken: %v", got)
	}
	if first := countOf(answersOf(v.Examples[:3], "c")); len(first) != 3 {
		t.Errorf("the first three are %v", first)
	}
	for _, e := range v.Examples {
		found, err := w.store.FindResults(t.Context(), w.account, of, []prism.ResultID{e.Result}, store.WithInput)
		if err != nil || len(found) != 1 || !e.SameInput(found[0].Fields) {
			t.Errorf("%+v is of %+v, %v", e, found, err)
		}
		labels, err := w.store.LabelsOf(t.Context(), w.account, of, []prism.ResultID{e.Result})
		if err != nil || len(labels) != len(e.Answers) {
			t.Errorf("%+v has labels %+v, %v", e, labels, err)
		}
	}
	if again, err := w.take(t, d, from, true); err != nil || !reflect.DeepEqual(again.Examples, v.Examples) {
		t.Errorf("with the same seed: %+v, %v", again.Examples, err)
	}
	other := from
	other.Seed = 2
	if o, err := w.take(t, d, other, true); err != nil || reflect.DeepEqual(o.Examples, v.Examples) {
		t.Errorf("with another seed: %+v, %v", o.Examples, err)
	}
	p, err := w.store.Prism(t.Context(), w.account, prism.Ref{ID: of})
	if err != nil || p.Latest.Number != 1 {
		t.Fatalf("after dry runs: version %d, %v", p.Latest.Number, err)
	}
	made, err := w.take(t, d, from, false)
	if err != nil || made.Version != 2 || !reflect.DeepEqual(made.Examples, v.Examples) {
		t.Fatalf("made: %+v, %v", made, err)
	}
	if p, err = w.store.Prism(t.Context(), w.account, prism.Ref{ID: of}); err != nil || !reflect.DeepEqual(p.Latest.Examples, v.Examples) {
		t.Errorf("stored: %+v, %v", p.Latest.Examples, err)
	}
	if again, err := w.take(t, d, from, true); err != nil || !reflect.DeepEqual(again.Examples, v.Examples) { // of a former version
		t.Errorf("for version 3: %+v, %v", again.Examples, err)
	}
	if _, err := w.DeleteResult(t.Context(), w.key, v.Examples[0].Result); err != nil {
		t.Fatal(err)
	}
	if p, err = w.store.Prism(t.Context(), w.account, prism.Ref{ID: of}); err != nil || !p.Latest.Examples[0].Emptied() {
		t.Errorf("after a deletion: %+v, %v", p.Latest.Examples[0], err)
	}
}

// spec: examples-from-labels
func TestASetOfTagsIsAValueOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tags := func(options ...string) prism.Question {
		q := choiceOf("t", options...)
		q.Type = prism.Tags
		return q
	}
	of := w.questions(t, "p", tags("x", "y"))
	w.saveLabelled(t, of, 1, 12, func(int) string {
		return `{"t":{"type":"tags","values":[],"probabilities":{"x":0.25,"y":0.25}}}`
	}, map[string]func(int) string{"t": func(i int) string {
		switch i {
		case 3:
			return `["x","y"]`
		case 5:
			return `[]`
		}
		return `["x"]`
	}})
	v, err := w.take(t, asking(tags("y", "x")), api.ExamplesFromLabels{Question: "t", N: 4}, true)
	if got, want := countOf(answersOf(v.Examples, "t")), (map[string]int{`["y","x"]`: 1, `[]`: 1, `["x"]`: 2}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("taken: %v, %v", got, err)
	}
}

// spec: examples-from-labels
func TestAnInputIsTakenOnceAsItsNewestResultSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := prism.Question{Key: "s", Type: prism.YesNo, Text: "?"}
	of := w.questions(t, "p", choiceOf("c", "a", "b"), s)
	for _, label := range []string{"a", "b"} { // the same three texts twice
		w.saveLabelled(t, of, 1, 3, sure, map[string]func(int) string{"c": func(int) string { return label }})
	}
	d := asking(choiceOf("c", "a", "b"))
	v, err := w.take(t, d, api.ExamplesFromLabels{Question: "c", N: 3}, true)
	if got := answersOf(v.Examples, "c"); err != nil || !reflect.DeepEqual(got, []string{"b", "b", "b"}) {
		t.Errorf("taken: %v, %v", got, err)
	}
	more := d
	more.Fields = append(slices.Clone(d.Fields), prism.Field{Key: "more"})
	other := asking(prism.Question{Key: "c", Type: prism.YesNo, Text: "?"}, s)
	for name, row := range map[string]struct {
		d    prism.Definition
		from api.ExamplesFromLabels
		want string
	}{
		"too few":          {d, api.ExamplesFromLabels{Question: "c", N: 4}, "409 Too few labels: 3 of 4."},
		"other fields":     {more, api.ExamplesFromLabels{Question: "c", N: 1}, "409 Too few labels: 0 of 1."},
		"another type":     {other, api.ExamplesFromLabels{Question: "c", N: 1}, "409 Too few labels: 0 of 1."},
		"no labels":        {other, api.ExamplesFromLabels{Question: "s", N: 1}, "409 Too few labels: 0 of 1."},
		"no such question": {d, api.ExamplesFromLabels{Question: "s", N: 1}, "400 Invalid request: examples_from_labels.question: Unknown question"},
	} {
		for _, dry := range []bool{true, false} {
			if _, err := w.take(t, row.d, row.from, dry); fmt.Sprint(err) != row.want {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	w.store.Store = largeInputs{w.store.Store, 100_000}
	want := "400 Invalid request: examples_from_labels.n: the examples have more than 262144 bytes of JSON together: take fewer"
	if _, err := w.take(t, d, api.ExamplesFromLabels{Question: "c", N: 3}, false); fmt.Sprint(err) != want {
		t.Errorf("large ones: %v", err)
	}
}

// spec: examples-from-labels, labels-that-count
func TestLabelsThatDoNotCountAreNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "p")
	w.labelled(t, of, w.examples(t, of, 1, 3), 1, prism.UncertainSample, true)
	w.labelled(t, of, w.examples(t, of, 4, 5), 4, prism.RandomSample, true)
	if _, err := w.take(t, definition("text"), api.ExamplesFromLabels{Question: "q", N: 3}, false); fmt.Sprint(err) != "409 Too few labels: 2 of 3." {
		t.Error(err)
	}
}

// deletes is a store in which a result is deleted once, when the first version is about to be stored.
type deletes struct {
	sqlstore.Store
	first func(prism.ResultID)
}

func (d *deletes) AddVersion(ctx context.Context, account prism.AccountID, p prism.Prism, was *prism.Prism, by store.By) error {
	if first := d.first; first != nil {
		d.first = nil
		first(p.Latest.Examples[0].Result)
	}
	return d.Store.AddVersion(ctx, account, p, was, by)
}

// spec: examples-from-labels, emptied-examples
func TestAResultThatIsDeletedMeanwhileIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "p")
	w.labelled(t, of, w.examples(t, of, 1, 5), 1, prism.RandomSample, true)
	var gone prism.ResultID
	w.store.Store = &deletes{w.store.Store, func(id prism.ResultID) {
		gone = id
		if _, err := w.DeleteResult(t.Context(), w.key, id); err != nil {
			t.Error(err)
		}
	}}
	v, err := w.take(t, definition("text"), api.ExamplesFromLabels{Question: "q", N: 4}, false)
	if err != nil || len(v.Examples) != 4 || gone.IsZero() {
		t.Fatalf("got %+v, %v", v, err)
	}
	for _, e := range v.Examples {
		if e.Result == gone || e.Emptied() || !strings.HasPrefix(e.Fields[0].Value, "text ") {
			t.Errorf("taken: %+v", e)
		}
	}
}
