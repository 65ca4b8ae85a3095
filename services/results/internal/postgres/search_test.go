package postgres_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/search"
)

// spec: index-covers
func TestASearchSaysWhatItDidNotLookAt(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	s := open(t, url)
	account := prism.AccountID{UUID: prism.UUID{15: 1}}
	exec(t, url, "INSERT INTO accounts (id, name, created_at) VALUES ($1, 'a', now())", account.String())
	find := func() search.Covered {
		t.Helper()
		page, err := s.Search(t.Context(), account, search.Filter{}, finding.Order{Subject: finding.Subject{Measure: finding.Took}}, nil, 10)
		if err != nil || len(page.Hits) != 0 || page.Next != nil {
			t.Fatalf("found %+v, %v", page, err)
		}
		return page.Covered
	}
	change := `INSERT INTO changes (account_id, seq, at, type, prism_id, result_id)
SELECT $1, n, to_timestamp(n), 1, gen_random_uuid(), gen_random_uuid() FROM generate_series(%s) AS n`
	exec(t, url, strings.Replace(change, "%s", "1, 20000", 1), account.String())
	if got := find(); got != (search.Covered{}) {
		t.Errorf("of 20,000 changes: %+v", got)
	}
	exec(t, url, strings.Replace(change, "%s", "20001, 20002", 1), account.String())
	if got := find(); got.Until == nil || got.Until.Unix() != 20_001 || got.From != nil {
		t.Errorf("of 20,002 changes: %+v", got)
	}
	for more := true; more; {
		var err error
		if more, err = s.IndexChanges(t.Context(), account, 10_000); err != nil {
			t.Fatal(err)
		}
	}
	if got := find(); got != (search.Covered{}) {
		t.Errorf("of changes that are indexed: %+v", got)
	}
	exec(t, url, "UPDATE index_cursors SET old = $2 WHERE account_id = $1", account.String(), "019a0000-0000-7000-8000-000000000000")
	if got := find(); got.From == nil || got.From.UnixMilli() != 0x019a00000000 || got.Until != nil {
		t.Errorf("while old results are indexed: %+v", got)
	}
	if more, err := s.IndexOld(t.Context(), account, 10); more || err != nil {
		t.Errorf("old results: more %v, %v", more, err)
	}
	if got := find(); got != (search.Covered{}) {
		t.Errorf("of all that is indexed: %+v", got)
	}
}
