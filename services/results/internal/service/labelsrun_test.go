package service_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// readAtOnce is a store in which files are read at once, and the content of the last one.
type readAtOnce struct {
	sqlstore.Store
	blobs.Blobs
	content []byte
	waiting func() // is called when a file is looked at
}

func (r *readAtOnce) File(ctx context.Context, account prism.AccountID, id prism.FileID) (files.File, error) {
	r.waiting()
	f, err := r.Store.File(ctx, account, id)
	f.Status = prism.FileReady
	return f, err
}

func (r *readAtOnce) Put(_ context.Context, _ store.FileOwner, _ string, data []byte) error {
	r.content = append(r.content, data...)
	return nil
}

// spec: run-from-labels, labels-that-count
func TestTheFileOfARunFromLabelsHasEachLabelledInputOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	choice := func(options ...string) prism.Question {
		q := prism.Question{Key: "c", Type: prism.Choice, Text: "?"}
		for _, o := range options {
			q.Options = append(q.Options, prism.Option{Key: o})
		}
		return q
	}
	of := w.questions(t, "p", choice("a", "b"), prism.Question{Key: "s", Type: prism.YesNo, Text: "?"})
	second := definition("text")
	second.Questions = []prism.Question{choice("a", "c"), {Key: "s", Type: prism.Choice, Text: "?", Options: []prism.Option{{Key: "x"}, {Key: "y"}}}}
	ref := prism.Ref{ID: of}
	if _, err := w.AddVersion(t.Context(), w.key, ref, api.NewVersion{Definition: second}); err != nil {
		t.Fatal(err)
	}
	answers := func(int) string {
		return `{"c":{"type":"choice","value":"a","probabilities":{"a":0.75,"b":0.25},"confidence":0.5},"s":{"type":"yes_no","probability":0.5}}`
	}
	for range 2 { // the same three texts twice
		w.saveLabelled(t, of, 1, 3, answers, map[string]func(int) string{
			"c": func(i int) string { return []string{"a", "b", ""}[i-1] }, "s": func(int) string { return "true" },
		})
	}
	w.saveLabelled(t, of, 1, 4, answers, nil)                                              // newer ones, and one more text, without labels
	kept := &readAtOnce{Store: w.store.Store, Blobs: w.blobs.Blobs, waiting: w.FillPlaces} // which panics if the call has a place
	w.store.Store, w.blobs.Blobs = kept, kept
	n, err := w.LabelsRun(t.Context(), w.key, ref, api.NewRun{FromLabelsOf: 1, Name: "n"})
	want := api.NewRun{
		FromLabelsOf: 1, Version: 2, Name: "n", File: n.File, Ref: "ref", Context: "context",
		Fields: []api.FieldColumn{{Field: "text", Column: "field.text"}}, Labels: []api.FieldColumn{{Field: "c", Column: "label.c"}},
	}
	if err != nil || n.File.IsZero() || !reflect.DeepEqual(n, want) {
		t.Errorf("got %+v, %v", n, err)
	}
	var lines strings.Builder
	for i, label := range []string{"a", "b"} {
		_, _ = fmt.Fprintf(&lines, `{"ref":null,"context":null,"field.text":"text %d","label.c":%q}`+"\n", i+1, label)
	}
	if string(kept.content) != lines.String() {
		t.Errorf("the file is\n%swant\n%s", kept.content, lines.String())
	}
}

// spec: run-from-labels
func TestARunFromLabelsIsRefusedForAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	w.labelled(t, of, w.examples(t, of, 1, 3), 1, prism.UncertainSample, true)
	large := w.save(w.prism(t, "large"))
	large.Fields[0].Value = strings.Repeat("x", tabular.MaxRowBytes)
	w.saved(t, large)
	w.labelled(t, large.Prism, []prism.ResultID{large.ID}, 1, prism.RandomSample, true)
	more := definition("text", "subject")
	if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{ID: of}, api.NewVersion{Definition: more}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		slug        string
		from, other int32
		want        string
	}{
		{"none", 1, 1, "404 Prism not found"},
		{"tickets", 3, 1, "404 Prism version not found"},
		{"tickets", 1, 3, "404 Prism version not found"},
		{"tickets", 1, 2, "400 Missing fields: subject"},
		{"tickets", 1, 1, "409 Too few labels: 0 of 1."}, // uncertain ones never count
		{"large", 1, 1, "400 Invalid request: from_labels_of: an input has more than 1 MiB"},
	} {
		n := api.NewRun{FromLabelsOf: c.from, Version: c.other}
		if _, err := w.LabelsRun(t.Context(), w.key, prism.Ref{Slug: c.slug}, n); fmt.Sprint(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// largeInputs is a store whose results have a field of this many bytes.
type largeInputs struct {
	sqlstore.Store
	bytes int
}

func (l largeInputs) FindResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input,
) ([]prism.Result, error) {
	found, err := l.Store.FindResults(ctx, account, id, ids, in)
	for i := range found {
		found[i].Fields = []prism.FieldValue{{Key: found[i].Fields[0].Key, Value: strings.Repeat("x", l.bytes)}}
	}
	return found, err
}

// spec: run-from-labels
func TestTheFileOfARunFromLabelsHas64MiBAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	w.labelled(t, of, w.examples(t, of, 1, 70), 1, prism.RandomSample, true)
	w.store.Store = largeInputs{w.store.Store, 1_000_000}
	_, err := w.LabelsRun(t.Context(), w.key, prism.Ref{ID: of}, api.NewRun{FromLabelsOf: 1, Version: 1})
	if want := "400 Invalid request: from_labels_of: the inputs have more than 64 MiB"; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
}

// spec: run-from-labels, audit-changes-only
func TestAFileOfLabelsWithoutARunIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.run(t)
	fromLabels := func(key string) api.NewRun {
		n := newRun(w.ready(t, []byte(tickets)).ID)
		n.FromLabelsOf, n.IdempotencyKey = 1, key
		return n
	}
	create := func(n api.NewRun) error {
		_, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, n)
		return err
	}
	first, repeated, refused, dry := fromLabels("k"), fromLabels("k"), fromLabels(""), fromLabels("")
	refused.Fields = nil
	if err := errors.Join(create(first), create(repeated)); err != nil {
		t.Fatal(err)
	}
	if err := create(refused); err == nil {
		t.Error("a run without its field is made")
	}
	if _, err := w.DropLabelsFile(t.Context(), w.key, dry.File); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		file prism.FileID
		kept bool
	}{"first": {first.File, true}, "repeated": {repeated.File, false}, "refused": {refused.File, false}, "dry": {dry.File, false}} {
		if _, err := w.File(t.Context(), w.key, c.file); (err == nil) != c.kept {
			t.Errorf("the file of the %s call: %v", name, err)
		}
	}
	if _, err := w.DropLabelsFile(t.Context(), w.key, first.File); fmt.Sprint(err) != "409 This file is used by a run." {
		t.Error(err)
	}
	if _, entries := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 100}}); strings.Contains(entries, "file.delete") {
		t.Errorf("after run %s the audit has %s", made, entries)
	}
}
