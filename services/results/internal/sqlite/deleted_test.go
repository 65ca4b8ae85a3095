package sqlite_test

import (
	"bytes"
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
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
	_, err = s.PutLabels(t.Context(), account, of, []labels.Label{{
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

// spec: prism-searchable, index-left-out
func TestTheFileHasNoTermOfAPrismThatIsLeftOut(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	s, err := sqlite.Open(path)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	account, of := prism.AccountID{UUID: prism.UUID{1}}, prism.PrismID{UUID: prism.UUID{2}}
	must(s.CreateAccount(t.Context(), account, "a", storetest.By()))
	must(s.CreatePrism(t.Context(), account, prism.Prism{ID: of, Slug: "p", Latest: prism.Version{Number: 1}}, storetest.By()))
	save := func(i byte) {
		_, err := s.SaveResult(t.Context(), account, prism.Result{
			ID: prism.ResultID{UUID: prism.UUID{3, i}}, Prism: of, Version: 1, Status: prism.Failed, Error: "no", Context: "word",
		})
		must(err)
	}
	index := func() {
		for more := true; more; {
			more, err = s.IndexChanges(t.Context(), account, 20)
			must(err)
		}
		for more := true; more; {
			more, err = s.IndexOld(t.Context(), account, 20)
			must(err)
		}
	}
	for i := range byte(50) {
		save(i)
	}
	index()
	db, err := sql.Open("sqlite", path)
	must(err)
	defer func() { must(db.Close()) }()
	terms := func() (n int) {
		// The words of the index, and the results that have them.
		must(db.QueryRow("SELECT count(*) FROM result_index i JOIN term_index t ON t.rowid = i.id").Scan(&n))
		return n
	}
	if n := terms(); n != 50 {
		t.Fatalf("%d results are indexed, want 50", n)
	}
	must(s.SetSearchable(t.Context(), account, of, false, storetest.By()))
	save(50)
	index()
	if n := terms(); n != 0 {
		t.Errorf("%d results are indexed of a prism that is left out", n)
	}
	must(s.SetSearchable(t.Context(), account, of, true, storetest.By()))
	index()
	if n := terms(); n != 51 {
		t.Errorf("%d results are indexed, want all 51", n)
	}
	s.Close()
}
