package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: index-covers
func TestASearchSaysWhatItDidNotLookAt(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	s := open(t, url)
	account := prism.AccountID{UUID: prism.UUID{15: 1}}
	exec(t, url, "INSERT INTO accounts (id, name, created_at) VALUES ($1, 'a', now())", account.String())
	find := func() finding.Covered {
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
	if got := find(); got != (finding.Covered{}) {
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
	if got := find(); got != (finding.Covered{}) {
		t.Errorf("of changes that are indexed: %+v", got)
	}
	exec(t, url, "UPDATE index_cursors SET old = $2 WHERE account_id = $1", account.String(), "019a0000-0000-7000-8000-000000000000")
	if got := find(); got.From == nil || got.From.UnixMilli() != 0x019a00000000 || got.Until != nil {
		t.Errorf("while old results are indexed: %+v", got)
	}
	if more, err := s.IndexOld(t.Context(), account, 10); more || err != nil {
		t.Errorf("old results: more %v, %v", more, err)
	}
	if got := find(); got != (finding.Covered{}) {
		t.Errorf("of all that is indexed: %+v", got)
	}
}

// Of 50,000 results none has the word, or one of the answers, that are searched for.
func TestASearchForWhatIsRareLooksAtNoOtherRows(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, saving, _ := traced(t, url)
	for i := range 300 { // the newest results are looked at without the index
		r := failed(0)
		r.ID.UUID, r.IdempotencyKey = prism.UUID{1, byte(i / 256), byte(i)}, ""
		if _, err := saving.SaveResult(t.Context(), account(), r); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, url, `INSERT INTO result_index (account_id, result_id, version, terms, numbers)
SELECT $1, gen_random_uuid(), 1, ARRAY(SELECT 100 * i + n FROM generate_series(1, 40) i), '' FROM generate_series(1, 50000) n`, account().String())
	exec(t, url, "VACUUM ANALYZE result_index")
	var answers []string
	for i := range 254 {
		answers = append(answers, fmt.Sprint("option_", i))
	}
	tried := search.Filter{Filter: store.Filter{Prism: prismID()}}
	for name, f := range map[string]search.Filter{
		"a word": {Words: finding.Words{{{Tokens: []string{"nowhere"}}}}},
		"one of 254 answers": {Filter: tried.Filter, Where: finding.Conditions{
			{Subject: finding.Subject{Question: "topic"}, Operator: finding.Is, Values: answers},
		}},
		"one of 254 answers to each of two questions": {Filter: tried.Filter, Where: finding.Conditions{
			{Subject: finding.Subject{Question: "topic"}, Operator: finding.Is, Values: answers},
			{Subject: finding.Subject{Question: "mood"}, Operator: finding.Is, Values: answers},
		}},
	} {
		scans, rows := values[int64](t, url, indexScans)[0], values[int64](t, url, rowsRead)[0]
		s := open(t, url)
		const searches = 8 // more than it takes Postgres to plan for any arguments
		for range searches {
			if page, err := s.Search(t.Context(), account(), f, finding.Order{}, nil, 50); err != nil || len(page.Hits) != 0 {
				t.Fatalf("%s: found %+v, %v", name, page, err)
			}
		}
		s.Close()
		for values[int64](t, url, indexScans)[0] < scans+searches { // sessions tell what they did at their end, at the latest
			exec(t, url, "SELECT pg_sleep(0.01)")
		}
		if rows = values[int64](t, url, rowsRead)[0] - rows; rows > 1000 {
			t.Errorf("%s: %d searches looked at %d rows", name, searches, rows)
		}
	}
}

const (
	indexScans = "SELECT idx_scan + seq_scan FROM pg_stat_user_tables WHERE relname = 'result_index'"
	rowsRead   = "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_user_tables WHERE relname = 'result_index'"
)
