package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestListsOfDefinitions holds the lists of versions and of all prisms, and names.
func TestListsOfDefinitions(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: version-list, page-cursor
		t.Run("versions are listed newest first, page by page, also of an archived prism", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			path := "/v1/prisms/" + slug + "/versions"
			for range 4 {
				s.main.post(t, path, object("fields", raw(oneField), "questions", raw(yesNo))).wantStatus(t, 201)
			}
			s.main.archive(t, slug)
			first := s.main.get(t, path+"/1").body
			for _, limit := range []int{1, 2, 5, 100} {
				var got []int
				for cursor := ""; ; {
					var page struct {
						Data       []struct{ Version int }
						NextCursor *string `json:"next_cursor"`
					}
					r := s.main.get(t, path+"?limit="+number(int64(limit))+"&cursor="+url.QueryEscape(cursor))
					r.wantStatus(t, 200)
					r.decode(t, &page)
					for _, v := range page.Data {
						got = append(got, v.Version)
					}
					if page.NextCursor == nil {
						if !strings.HasSuffix(string(r.body), string(first)+`],"next_cursor":null}`) {
							t.Errorf("the first version is %s, listed in %s", first, r.body)
						}
						break
					}
					cursor = *page.NextCursor
				}
				if !slices.Equal(got, []int{5, 4, 3, 2, 1}) {
					t.Errorf("in pages of %d: %v", limit, got)
				}
			}
			s.other.get(t, path).wantFail(t, noPrism)
		})
		// spec: prism-rename, archived-prism-takes-no-change
		t.Run("a prism is renamed until it is archived", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			path := "/v1/prisms/" + slug
			p := s.main.put(t, path+"/name", `{"name":"A <new> name"}`).prism(t, 200)
			wantEqual(t, "the name", *p.Name, "A <new> name")
			wantEqual(t, "the slug", p.Slug, slug)
			if p := s.main.put(t, path+"/name", `{"name":null}`).prism(t, 200); p.Name != nil {
				t.Errorf("the name is %q", *p.Name)
			}
			s.main.put(t, path+"/name", `{}`).wantFail(t, invalid("name: Required"))
			s.other.put(t, path+"/name", `{"name":"n"}`).wantFail(t, noPrism)
			s.main.archive(t, slug)
			s.main.put(t, path+"/name", `{"name":"n"}`).wantFail(t, unchangeable)
		})
		// spec: prism-list
		t.Run("all prisms are listed, archived or not", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			var want []string
			for i := range 3 {
				slug := own.triage(t)
				want = append(want, own.get(t, "/v1/prisms/"+slug).prism(t, 200).ID)
				if i == 1 {
					own.archive(t, slug)
				}
			}
			slices.Reverse(want)
			wantEqual(t, "the list", own.walk(t, "/v1/prisms?archived=all", 2), want)
		})
	})
}
