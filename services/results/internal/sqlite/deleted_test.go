package sqlite_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: deleted-bytes, label-deleted, index-deletion
func TestTheFileHasNoByteOfADeletedResult(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	account, of := prism.AccountID{UUID: prism.UUID{1}}, prism.PrismID{UUID: prism.UUID{2}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.CreateAccount(t.Context(), account, "a", storetest.By()))
	must(s.CreatePrism(t.Context(), account, prism.Prism{ID: of, Slug: "p", Latest: prism.Version{Number: 1}}, storetest.By()))
	ref := "the ref of a person"
	for i := range byte(50) {
		_, err := s.SaveResult(t.Context(), account, prism.Result{
			ID: prism.ResultID{UUID: prism.UUID{3, i}}, Prism: of, Version: 1, Status: prism.Failed, Error: "no", Ref: &ref,
			// Of more than a page, and of less.
			Context: strings.Repeat("the text of a person ", 1+int(i)*20), IdempotencyKey: "the key of a person" + string('A'+rune(i)),
		})
		must(err)
	}
	labelled := prism.Result{ID: prism.ResultID{UUID: prism.UUID{3, 50}}, Prism: of, Version: 1, Status: prism.OK, Answers: []byte("{}")}
	_, err = s.SaveResult(t.Context(), account, labelled)
	must(err)
	_, err = s.PutLabels(t.Context(), account, of, []store.Label{{
		Result: labelled.ID, Version: 1, Question: "q", Value: "v", Annotator: strings.Repeat("the name of a person ", 100),
	}})
	must(err)
	for i := range byte(50) { // the index has each word in parts, which are cut where words begin alike
		word := prism.Result{ID: prism.ResultID{UUID: prism.UUID{4, i}}, Prism: of, Version: 1, Status: prism.Failed, Error: "no"}
		word.Context = string('a'+rune(i%26)) + strings.Repeat(string('a'+rune(i/26)), 3) + "secretword"
		_, err := s.SaveResult(t.Context(), account, word)
		must(err)
	}
	for more := true; more; {
		more, err = s.IndexChanges(t.Context(), account, 20)
		must(err)
	}
	has := func() bool {
		b, err := os.ReadFile(path)
		must(err)
		return bytes.Contains(b, []byte("of a person")) || bytes.Contains(b, []byte("secretword"))
	}
	s.Close()
	if !has() {
		t.Fatal("the test looks for the wrong bytes")
	}
	s, err = sqlite.Open(path)
	must(err)
	for i := range byte(51) {
		must(s.DeleteResult(t.Context(), account, prism.ResultID{UUID: prism.UUID{3, i}}, storetest.By()))
	}
	for i := range byte(50) {
		must(s.DeleteResult(t.Context(), account, prism.ResultID{UUID: prism.UUID{4, i}}, storetest.By()))
	}
	s.Close()
	if has() {
		t.Error("the file has bytes of a result that was deleted")
	}
}
