package e2e

import (
	"net/url"
	"reflect"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// idPage is a page of a list, with only the ids.
type idPage struct {
	Data       []struct{ ID string } `json:"data"`
	NextCursor *string               `json:"next_cursor"`
}

// walk follows next_cursor from page to page and returns the ids in the order listed.
func (c *client) walk(t *testing.T, path string, limit int) (ids []string) {
	t.Helper()
	cursor := ""
	for {
		r := c.get(t, path+"&limit="+number(int64(limit))+"&cursor="+url.QueryEscape(cursor))
		r.wantStatus(t, 200)
		wantMembers(t, r.body, nil, "data", "next_cursor")
		var p idPage
		r.decode(t, &p)
		for _, item := range p.Data {
			ids = append(ids, item.ID)
		}
		if p.NextCursor == nil {
			return ids
		}
		if len(p.Data) != limit {
			t.Fatalf("a page of %d before the last one", len(p.Data))
		}
		cursor = *p.NextCursor
	}
}

// TestListing holds the lists of results and of prisms, page by page.
// spec: unknown-query-parameters
func TestListing(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: result-list
		t.Run("results are listed newest first, page by page, each once", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			var created []string
			for range 7 {
				created = append(created, s.main.create(t, prism, text("x")).ok(t).ID)
			}
			slices.Reverse(created)
			for _, limit := range []int{1, 2, 3, 6, 8, 100} {
				wantEqual(t, "the list", s.main.walk(t, "/v1/results?prism="+prism, limit), created)
			}
		})
		t.Run("a result in a list is the result as it is read", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			one := s.main.create(t, prism, text("x", "ref", "a<b"))
			s.main.get(t, "/v1/results?prism="+prism).wantBody(t, `{"data":[`+string(one.body)+`],"next_cursor":null}`)
		})
		// spec: result-list
		t.Run("results are filtered by prism, status and ref", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			first, second := own.triage(t), own.triage(t)
			ok := own.create(t, first, text("x", "ref", "r & 1")).ok(t).ID
			bad, _ := own.refused(t, first, "ref", "r2")
			elsewhere := own.create(t, second, text("x", "ref", "r & 1")).ok(t).ID
			var prism struct{ ID string }
			own.get(t, "/v1/prisms/"+first).decode(t, &prism)
			for query, want := range map[string][]string{
				"":                            {elsewhere, bad.ID, ok},
				"prism=" + first:              {bad.ID, ok},
				"prism=" + prism.ID:           {bad.ID, ok},
				"status=ok":                   {elsewhere, ok},
				"status=failed":               {bad.ID},
				"ref=r+%26+1":                 {elsewhere, ok},
				"ref=r2&status=ok":            nil,
				"ref=r2&status=failed":        {bad.ID},
				"prism=" + second + "&ref=r2": nil,
				"unknown=1&status=failed":     {bad.ID},
			} {
				if got := own.walk(t, "/v1/results?"+query, 2); !slices.Equal(got, want) {
					t.Errorf("%q lists %v, want %v", query, got, want)
				}
			}
		})
		// spec: prism-list
		t.Run("prisms are listed without the archived ones, or those alone", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			var live, archived []string
			for i := range 5 {
				var created struct{ ID string }
				slug := own.triage(t)
				own.get(t, "/v1/prisms/"+slug).decode(t, &created)
				if i%2 == 0 {
					live = append(live, created.ID)
				} else {
					own.archive(t, slug)
					archived = append(archived, created.ID)
				}
			}
			for query, want := range map[string][]string{"": live, "archived=false": live, "archived=true": archived} {
				for _, limit := range []int{1, 2, 50} {
					got := own.walk(t, "/v1/prisms?"+query, limit)
					slices.Sort(got)
					slices.Sort(want)
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%q in pages of %d lists %v, want %v", query, limit, got, want)
					}
				}
			}
			r := own.get(t, "/v1/prisms")
			wantMembers(t, r.body, nil, "data", "next_cursor")
		})
		s.runFailing(t, []failing{
			// spec: page-limit
			{"a limit of 101 is refused", call{path: "/v1/results?limit=101"}, invalid("limit: Number must be less than or equal to 100")},
			// spec: page-cursor
			{"a cursor that nobody gave is refused", call{path: "/v1/results?cursor=" + model.Mark}, invalidAt("cursor")},
			{"a cursor of prisms that nobody gave is refused", call{path: "/v1/prisms?cursor=" + model.Mark}, invalidAt("cursor")},
		})
	})
}
