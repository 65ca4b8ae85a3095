package service_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// TestARestoredDatabaseAsksItsOwnQuestions restores the database to the time before version 2, which a new version 2 then
// replaces.
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
	if err := backup.CreatePrism(t.Context(), w.account, p); err != nil {
		t.Fatal(err)
	}
	ask := func(question string) (asked, label string) {
		t.Helper()
		d := prism.Definition{
			Fields: []prism.Field{{Key: "text"}},
			Questions: []prism.Question{{Key: "q", Type: prism.Choice, Text: question, Options: []prism.Option{
				{Key: "a", Label: "A of " + question}, {Key: "b", Label: "B"},
			}}},
		}
		if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{ID: id}, contract.NewVersion{Definition: d}); err != nil {
			t.Fatal(err)
		}
		facts, err := w.CreateFacts(t.Context(), contract.CreateQuery{Key: w.key, Prism: prism.Ref{ID: id}, Format: contract.JSON})
		if err != nil {
			t.Fatal(err)
		}
		saved, err := w.Save(t.Context(), contract.Save{
			Account: w.account, ID: prism.ResultID{UUID: w.id()}, Prism: id, Version: facts.Version.Number, Format: contract.CSV,
			Outcome: contract.Outcome{Answers: []byte(`{"q":{"type":"choice","value":"a","probabilities":{"a":1,"b":0},"confidence":1}}`)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return facts.Version.Questions[0].Text, string(saved.Body)
	}
	for _, question := range []string{"the lost one", "the new one"} {
		asked, row := ask(question)
		if asked != question || !strings.Contains(row, "A of "+question) {
			t.Errorf("version 2 asks %q and shows %q, want %q", asked, row, question)
		}
		w.store.Store = backup
	}
}
