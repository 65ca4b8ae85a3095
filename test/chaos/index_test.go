package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Whatever the writer of the index leaves behind when it dies at a step, searches find, order and count what is stored, and nothing of a
// prism that is left out.
//
// spec: index-lag, result-index, index-left-out, prism-searchable
func TestSearchesFindWhatIsStoredAfterTheWriterOfTheIndexDied(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{true, false} {
		for _, point := range []crash.Point{crash.InIndex, crash.AfterIndex} {
			t.Run(fmt.Sprintf("%s, Postgres %t", point, postgres), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
				defer cancel()
				searchesAcross(ctx, t, &searchStage{stage: standalone(t, postgres), searchable: true}, point)
			})
		}
	}
}

// refs are those of the results.
var refs = []string{"word0", "word1", "word2", "word3"}

type searchStage struct {
	*stage
	saved      int
	searchable bool
}

// searchRow is what a list says of a result.
type searchRow struct {
	ID     string
	Ref    string
	Status string
	TookMS int64 `json:"took_ms"`
}

func searchesAcross(ctx context.Context, t *testing.T, st *searchStage, point crash.Point) {
	t.Helper()
	for round := range 4 {
		if err := st.victim.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := st.victim.StartArmed(ctx, point); err != nil {
			t.Fatal(err)
		}
		st.saveUntilDead(ctx, t)
		if err := st.victim.Start(ctx); err != nil {
			t.Fatal(err)
		}
		st.reachable(ctx, t)
		st.compare(ctx, t)
		st.save(ctx)
		st.deleteOldest(ctx, t)
		// Results that are left out, or indexed anew, take the same steps.
		st.setSearchable(ctx, t, round%2 == 1)
		if st.searchable {
			until(t, "all is indexed again", func() bool { return st.search(ctx, t, "sort=@took").From == "" })
			st.compare(ctx, t)
		}
	}
}

// saveUntilDead saves some results, with which the process comes to its step. It may do so before it takes a call.
func (s *searchStage) saveUntilDead(ctx context.Context, t *testing.T) {
	t.Helper()
	dying, ended := context.WithTimeout(ctx, toDie)
	defer ended()
	died := make(chan error, 1)
	go func() { died <- s.victim.Died(dying) }()
	pause := time.NewTicker(200 * time.Millisecond)
	defer pause.Stop()
	for saved := 0; ; {
		select {
		case err := <-died:
			if err != nil {
				t.Fatal(err)
			}
			return
		case <-pause.C:
			if saved < len(refs) && s.save(dying) {
				saved++
			}
		}
	}
}

// save saves a result, and tells whether there was a response.
func (s *searchStage) save(ctx context.Context) bool {
	s.saved++
	return s.do(ctx, s.at, http.MethodPost, "/v1/prisms/"+load.Slugs[0]+"/results", map[string]any{
		"fields": map[string]string{"message": upstream.Tag{Race: int(s.begun.Add(1)), FailPercent: 30}.String()},
		"ref":    refs[s.saved%len(refs)],
	}).Status != 0
}

func (s *searchStage) setSearchable(ctx context.Context, t *testing.T, searchable bool) {
	t.Helper()
	path := "/v1/prisms/" + load.Slugs[0] + "/searchable"
	if got := s.do(ctx, s.at, http.MethodPut, path, map[string]any{"searchable": searchable}); got.Status != http.StatusOK {
		t.Fatalf("searchable is not changed: %s", got)
	}
	s.searchable = searchable
}

func (s *searchStage) deleteOldest(ctx context.Context, t *testing.T) {
	t.Helper()
	all := s.search(ctx, t, "").Data
	if len(all) > 0 {
		s.do(ctx, s.at, http.MethodDelete, "/v1/results/"+all[len(all)-1].ID, nil)
	}
}

// searchPage is a page of results.
type searchPage struct {
	Data []searchRow
	From string `json:"indexed_from"`
}

// search is the first page of a list of the prism.
func (s *searchStage) search(ctx context.Context, t *testing.T, query string) searchPage {
	t.Helper()
	return s.page(ctx, t, "prism="+load.Slugs[0]+"&"+query)
}

func (s *searchStage) page(ctx context.Context, t *testing.T, query string) (page searchPage) {
	t.Helper()
	got := s.do(ctx, s.at, http.MethodGet, "/v1/results?limit=100&"+query, nil)
	if err := json.Unmarshal(got.Body, &page); err != nil || got.Status != http.StatusOK {
		t.Fatalf("%s: %s, %v", query, got, err)
	}
	return page
}

func (s *searchStage) count(ctx context.Context, t *testing.T, query string) int {
	t.Helper()
	got := s.do(ctx, s.at, http.MethodGet, "/v1/results/counts?by=@status&"+query, nil)
	var counts struct{ Total int }
	if err := json.Unmarshal(got.Body, &counts); err != nil || got.Status != http.StatusOK {
		t.Fatalf("%s: %s, %v", query, got, err)
	}
	return counts.Total
}

// compare looks at each result, and has Prism search.
func (s *searchStage) compare(ctx context.Context, t *testing.T) {
	t.Helper()
	stored := s.search(ctx, t, "").Data
	if len(stored) == 0 {
		t.Error("no result is stored")
	}
	if !s.searchable {
		s.compareLeftOut(ctx, t, stored)
		return
	}
	byTook := slices.Clone(stored)
	slices.SortStableFunc(byTook, func(a, b searchRow) int { return int(a.TookMS - b.TookMS) })
	s.finds(ctx, t, "sort=@took", byTook)
	for _, ref := range refs {
		s.finds(ctx, t, "sort=@took&q="+ref, rowsOf(byTook, func(r searchRow) bool { return r.Ref == ref }))
	}
	for _, status := range []string{"ok", "failed"} {
		want := rowsOf(byTook, func(r searchRow) bool { return r.Status == status })
		s.finds(ctx, t, "sort=@took&where="+url.QueryEscape("@status:is:"+status), want)
		if got := s.count(ctx, t, "status="+status+"&prism="+load.Slugs[0]); got != len(want) {
			t.Errorf("%d are counted with the status %s, want %d", got, status, len(want))
		}
	}
}

// compareLeftOut has Prism search everywhere, and in the prism that is left out.
func (s *searchStage) compareLeftOut(ctx context.Context, t *testing.T, stored []searchRow) {
	t.Helper()
	for _, ref := range refs {
		if got := s.page(ctx, t, "sort=@took&q="+ref).Data; len(got) > 0 {
			t.Errorf("%s finds %v of a prism that is left out, which has %d results", ref, got, len(stored))
		}
	}
	if n := s.count(ctx, t, "q="+strings.Join(refs, "+or+")); n > 0 {
		t.Errorf("%d results are counted of a prism that is left out", n)
	}
	got := s.do(ctx, s.at, http.MethodGet, "/v1/results?q="+refs[0]+"&prism="+load.Slugs[0], nil)
	if got.Status != http.StatusConflict {
		t.Errorf("a search of the prism is %s", got)
	}
}

func rowsOf(rows []searchRow, has func(searchRow) bool) (some []searchRow) {
	for _, r := range rows {
		if has(r) {
			some = append(some, r)
		}
	}
	return some
}

func (s *searchStage) finds(ctx context.Context, t *testing.T, query string, want []searchRow) {
	t.Helper()
	if got := s.search(ctx, t, query).Data; !slices.Equal(got, want) {
		t.Errorf("%s finds %v, want %v", query, got, want)
	}
}
