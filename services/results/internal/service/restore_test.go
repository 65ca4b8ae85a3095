package service_test

import (
	"io"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// TestARestoredDatabaseAsksItsOwnQuestions restores the database to the time before version 2, which a new version 2 then
// replaces, while the service runs on.
// spec: cached-definition
func TestARestoredDatabaseAsksItsOwnQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.prism(t, "triage")
	backup := newWorld(t).store.Store // another store with the same account, key and prism
	p, err := w.store.Prism(t.Context(), w.account, prism.Ref{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	by := store.By{Entry: w.id(), At: p.CreatedAt, Actor: store.Actor{Kind: store.OperatorActor, Name: "ops"}}
	if err := backup.CreatePrism(t.Context(), w.account, p, by); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"the lost one", "the new one"} {
		ref, label := prism.Ref{ID: id}, "A of "+question
		d := definition("text of " + question)
		d.Questions[0] = prism.Question{Key: "q", Type: prism.Choice, Text: question, Options: []prism.Option{
			{Key: "a", Label: label}, {Key: "b", Label: "B"},
		}}
		if _, err := w.AddVersion(t.Context(), w.key, ref, api.NewVersion{Definition: d}); err != nil {
			t.Fatal(err)
		}
		facts, err := w.CreateFacts(t.Context(), contract.CreateQuery{Key: w.key, Prism: ref, Format: contract.JSON})
		if err != nil {
			t.Fatal(err)
		}
		if asked := facts.Version; asked.Number != 2 || asked.Questions[0].Text != question {
			t.Errorf("a create asks %+v, want %q", asked, question)
		}
		s := w.save(id)
		s.Version, s.Format, s.Fields = 2, contract.CSV, []prism.FieldValue{{Key: d.Fields[0].Key, Value: "hello"}}
		s.Outcome.Answers = []byte(`{"q":{"type":"choice","value":"a","probabilities":{"a":1,"b":0},"confidence":1}}`)
		shown := map[string]contract.Response{}
		if shown["save"], err = w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, f := range []contract.Format{contract.CSV, contract.TSV, contract.JSONL} {
			if shown[string(f)], err = w.Read(t.Context(), w.key, s.ID, f); err != nil {
				t.Fatal(err)
			}
		}
		if shown["version"], err = w.Version(t.Context(), w.key, ref, 2); err != nil {
			t.Fatal(err)
		}
		stream, err := w.Export(t.Context(), w.key, ref, api.ExportResultsRequest{Format: contract.CSV})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := io.ReadAll(stream.Body)
		if err != nil {
			t.Fatal(err)
		}
		shown["export"] = contract.Response{Body: rows}
		for what, response := range shown {
			if !strings.Contains(string(response.Body), d.Fields[0].Key) {
				t.Errorf("%s shows %s, want the field %q", what, response.Body, d.Fields[0].Key)
			}
			if what != "jsonl" && !strings.Contains(string(response.Body), label) {
				t.Errorf("%s shows %s, want %q", what, response.Body, label)
			}
		}
		w.store.Store = backup
	}
}
