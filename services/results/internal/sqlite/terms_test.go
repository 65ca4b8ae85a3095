package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlite"
)

func TestRowsOfTheIndexAreFoundHoweverRareTheyAre(t *testing.T) {
	t.Parallel()
	const (
		all, fourth, one, other = 10, 11, 12, 10*36 + 11 // whose words are a, b, c and ab
		rows                    = 300
	)
	s, path, _, _ := answered(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", path)
	must(err)
	defer func() { must(db.Close()) }()
	account := prism.AccountID{UUID: prism.UUID{1}}
	texts := map[prism.UUID]string{}
	insert := func(account prism.AccountID, n int, text string) {
		id := prism.UUID{byte(n >> 8), byte(n)}
		texts[id] = text
		_, err := db.Exec("INSERT INTO result_index (account_id, result_id, version, terms, numbers) VALUES ($1, $2, 1, $3, x'')", account.UUID[:], id[:], text)
		must(err)
	}
	for n := range rows {
		words := []string{"a"}
		for word, often := range map[string]int{"b": 4, "ab": 5, "c": rows} {
			if n%often == 0 {
				words = append(words, word)
			}
		}
		insert(account, n, strings.Join(words, " "))
	}
	has := func(id prism.UUID, term finding.Term) bool {
		return slices.Contains(strings.Fields(texts[id]), map[finding.Term]string{all: "a", fourth: "b", one: "c", other: "ab"}[term])
	}
	ids := slices.SortedFunc(func(yield func(prism.UUID) bool) {
		for id := range texts {
			if !yield(id) {
				return
			}
		}
	}, func(a, b prism.UUID) int { return bytes.Compare(b[:], a[:]) })
	insert(prism.AccountID{UUID: prism.UUID{2}}, rows, "a b c ab")

	type groups = [][]finding.Term
	for _, c := range []struct {
		needs  finding.Needs
		rarity sqldb.Rarity
	}{
		{finding.Needs{Words: groups{{all}}}, sqldb.Most},
		{finding.Needs{Words: groups{{fourth}}}, sqldb.Few},
		{finding.Needs{Words: groups{{other, all}, {one}}}, sqldb.Few},
		{finding.Needs{Facts: groups{{fourth, other}, {all}}}, sqldb.Most},
		{finding.Needs{Words: groups{{fourth, all}, {other}}, Facts: groups{{all, one}, {one, other}}}, sqldb.Few},
		{finding.Needs{Facts: groups{{99}}}, sqldb.Few},
	} {
		rarity, err := s.Rarity(t.Context(), c.needs)
		must(err)
		if rarity != c.rarity {
			t.Errorf("%v has the rarity %d, want %d", c.needs, rarity, c.rarity)
		}
		want := slices.DeleteFunc(slices.Clone(ids), func(id prism.UUID) bool {
			lacks := func(term finding.Term) bool { return !has(id, term) }
			words := len(c.needs.Words) == 0 || slices.ContainsFunc(c.needs.Words, func(g []finding.Term) bool { return !slices.ContainsFunc(g, lacks) })
			return !words || slices.ContainsFunc(c.needs.Facts, func(g []finding.Term) bool {
				return !slices.ContainsFunc(g, func(term finding.Term) bool { return has(id, term) })
			})
		})
		for _, r := range []sqldb.Rarity{sqldb.Some, sqldb.Few, sqldb.Most} {
			var got []prism.UUID
			l := sqldb.NewList("list")
			l.Write("SELECT f.result_id")
			s.Having(&l, account, c.needs, r)
			l.Write(" ORDER BY f.result_id DESC")
			must(s.Run(t.Context(), l.Complete(), sqldb.ReadRows(&got, (*sqldb.Row).UUID)))
			if !slices.Equal(got, want) {
				t.Errorf("%v by %d: %d rows, want %d", c.needs, r, len(got), len(want))
			}
		}
	}
}

func TestTheRarityOfTermsIsWhatTheyCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found, rows int64
		terms       int
		want        sqldb.Rarity
	}{
		{100_000, 1_000_000_000, 9, sqldb.Few},
		{100_001, 1_000_000_000, 1, sqldb.Some},
		{333_333, 1_000_000, 1, sqldb.Some},
		{333_334, 1_000_000, 8, sqldb.Most},
		{333_334, 1_000_000, 9, sqldb.Some},
		{2, 3, 1, sqldb.Most},
		{0, 0, 1, sqldb.Few},
	} {
		needs := finding.Needs{Facts: [][]finding.Term{make([]finding.Term, c.terms)}}
		if got := sqlite.RarityOf(c.found, c.rows, needs); got != c.want {
			t.Errorf("%s: got %d, want %d", fmt.Sprint(c), got, c.want)
		}
	}
}

// What few rows have is found without the others.
func TestASearchForWhatIsRareLooksAtNoOtherRows(t *testing.T) {
	t.Parallel()
	s, path, _, _ := answered(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for r, want := range map[sqldb.Rarity]string{
		sqldb.Few:  "SEARCH f USING INTEGER PRIMARY KEY",
		sqldb.Some: "SEARCH f USING COVERING INDEX sqlite_autoindex_result_index_1",
		sqldb.Most: "SEARCH f USING INDEX sqlite_autoindex_result_index_1",
	} {
		l := sqldb.NewList("list")
		l.Write("EXPLAIN QUERY PLAN SELECT f.result_id")
		s.Having(&l, prism.AccountID{}, finding.Needs{Words: [][]finding.Term{{1}}}, r)
		l.Add(" ORDER BY f.result_id DESC LIMIT ", int64(10))
		rows, err := db.Query(l.Complete().Text, make([]byte, 16), "x", 10)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(plan[0], want) {
			t.Errorf("rarity %d: the plan is %q, want %s", r, plan, want)
		}
	}
}
