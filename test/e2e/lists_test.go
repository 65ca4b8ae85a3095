package e2e

import (
	"encoding/json"
	"net/http"
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

// TestFiltersOfResults holds the filters of lists and exports of results.
func TestFiltersOfResults(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: result-list, result-filters
		t.Run("results are filtered by version, time, model and key, and the empty ref is a ref", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.triage(t)
			first := own.create(t, prism, text("x", "ref", "")).ok(t)
			own.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(oneField), "questions", raw(yesNo))).wantStatus(t, 201)
			second := own.create(t, prism, text("x")).ok(t)
			var keys struct{ Data []struct{ ID string } }
			own.get(t, "/v1/keys").decode(t, &keys)
			key := keys.Data[0].ID
			for query, want := range map[string][]string{
				"version=1":                    {first.ID},
				"version=2":                    {second.ID},
				"version=3":                    nil,
				"ref=":                         {first.ID},
				"from=" + second.CreatedAt:     {second.ID},
				"to=" + second.CreatedAt:       {first.ID},
				"from=" + first.CreatedAt:      {second.ID, first.ID},
				"key_id=" + key:                {second.ID, first.ID},
				"key_id=" + first.ID:           nil,
				"model=none":                   nil,
				"key_id=" + key + "&version=1": {first.ID},
			} {
				if got := own.walk(t, "/v1/results?"+query, 1); !slices.Equal(got, want) {
					t.Errorf("%q lists %v, want %v", query, got, want)
				}
			}
			raw := own.get(t, "/v1/results/"+first.ID+"?format=raw").body
			own.get(t, "/v1/results?version=1&format=raw").wantBody(t, `{"data":[`+string(raw)+`],"next_cursor":null}`)
			own.get(t, "/v1/results?format=csv").wantFail(t, invalid("format: Expected 'json' | 'raw'"))
		})
		// spec: result-list-fields
		t.Run("each result has what was sent with its call if that is wanted", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.triage(t)
			plain := own.create(t, prism, text("x<\"&\u007f"))
			told := own.create(t, prism, text("y", "context", "c\u2028"))
			for format, query := range map[string]string{"json": "fields=true", "raw": "format=raw&fields=true"} {
				var rows []string
				for _, created := range []reply{told, plain} {
					id := created.ok(t).ID
					read := string(own.get(t, "/v1/results/"+id+"?format="+format).body)
					var record struct{ Fields, Context json.RawMessage }
					own.get(t, "/v1/results/"+id+"/record").decode(t, &record)
					rows = append(rows, strings.TrimSuffix(read, "}")+`,"fields":`+string(record.Fields)+`,"context":`+string(record.Context)+`}`)
				}
				own.get(t, "/v1/results?"+query).wantBody(t, `{"data":[`+strings.Join(rows, ",")+`],"next_cursor":null}`)
			}
			plainly := string(own.get(t, "/v1/results").body)
			own.get(t, "/v1/results?fields=false").wantBody(t, plainly)
			own.get(t, "/v1/results?fields=1").wantFail(t, invalid("fields: Expected 'true' | 'false'"))
		})
		// spec: export-after
		t.Run("an export continues strictly behind an id", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			var ids []string
			for range 3 {
				ids = append(ids, s.main.create(t, prism, text("x")).ok(t).ID)
			}
			all := "/v1/prisms/" + prism + "/results?format=jsonl"
			path := all + "&after="
			whole := string(s.main.get(t, all).body)
			for i, id := range ids {
				lines := strings.SplitAfter(whole, "\n")
				s.main.get(t, path+id).wantBody(t, strings.Join(lines[i+1:], ""))
			}
			s.main.get(t, path+"00000000-0000-7000-8000-000000000000").wantBody(t, whole)
			s.main.get(t, path+"1").wantFail(t, invalid("after: Invalid uuid"))
			s.main.get(t, all+"&model=none").wantBody(t, "")
		})
		// spec: export-gzip
		t.Run("an export is compressed for a caller that accepts gzip", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			for range 3 {
				s.main.create(t, prism, text(strings.Repeat("Where is my parcel? ", 50))).ok(t)
			}
			for _, format := range []string{"csv", "tsv", "jsonl"} {
				export := call{path: "/v1/prisms/" + prism + "/results?format=" + format}
				plain := s.main.do(t, export)
				wantEqual(t, "the coding", plain.header.Get("Content-Encoding"), "")
				export.header = http.Header{"Accept-Encoding": {"br;q=1.0, gzip;q=0.8"}}
				zipped := s.main.do(t, export)
				zipped.wantStatus(t, 200)
				wantEqual(t, "the coding", zipped.header.Get("Content-Encoding"), "gzip")
				wantEqual(t, "the type", zipped.header.Get("Content-Type"), plain.header.Get("Content-Type"))
				if zipped.arrived >= len(plain.body) {
					t.Errorf("%s: %d bytes became %d", format, len(plain.body), zipped.arrived)
				}
				zipped.wantBody(t, string(plain.body))
			}
		})
	})
}

// TestConditionsOfChanges holds if_latest, ETag and If-Match.
func TestConditionsOfChanges(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		const column = `{"columns":[{"name":"x","question":"urgent","show":"answer"}]}`
		changed := fail{409, "conflict", "This prism was changed."}
		// spec: if-latest
		t.Run("a version is added only behind the latest that the caller names", func(t *testing.T) {
			t.Parallel()
			path := "/v1/prisms/" + s.main.triage(t) + "/versions"
			version := func(latest int, dry bool) string {
				return object("fields", raw(oneField), "questions", raw(yesNo), "if_latest", latest, "dry_run", dry)
			}
			s.main.post(t, path, version(1, true)).wantStatus(t, 200)
			s.main.post(t, path, version(1, false)).wantStatus(t, 201)
			for _, dry := range []bool{true, false} {
				s.main.post(t, path, version(1, dry)).wantFail(t, fail{409, "conflict", "The latest version is 2."})
				s.main.post(t, path, version(3, dry)).wantFail(t, fail{409, "conflict", "The latest version is 2."})
			}
		})
		// spec: prism-etag, if-match
		t.Run("a Lens is replaced and a version added only if the prism is as the caller has seen it", func(t *testing.T) {
			t.Parallel()
			path := "/v1/prisms/" + s.main.triage(t)
			put := func(tag, body string) reply {
				return s.main.do(t, call{method: "PUT", path: path + "/lens", body: body, header: http.Header{"If-Match": {tag}}})
			}
			read := s.main.get(t, path)
			tag := read.header.Get("ETag")
			wantEqual(t, "the ETag of HEAD", s.main.do(t, call{method: "HEAD", path: path}).header.Get("ETag"), tag)
			put(`W/`+tag, column).wantFail(t, changed)
			edited := put(`"x", `+tag, column)
			edited.wantStatus(t, 200)
			if next := edited.header.Get("ETag"); next == tag || next == "" {
				t.Errorf("the ETag is %q", next)
			}
			put(tag, column).wantFail(t, changed)
			put("x", column).wantFail(t, invalid("If-Match: Invalid entity tag"))
			put("*", column).wantStatus(t, 200)
			version := object("fields", raw(oneField), "questions", raw(yesNo))
			post := func(tag string) reply {
				return s.main.do(t, call{method: "POST", path: path + "/versions", body: version, header: http.Header{"If-Match": {tag}}})
			}
			post(tag).wantFail(t, changed)
			post(edited.header.Get("ETag")).wantStatus(t, 201)
			for _, action := range []string{"archive", "unarchive"} {
				before := s.main.get(t, path).header.Get("ETag")
				if after := s.main.post(t, path+"/"+action, "").header.Get("ETag"); after == before || after != s.main.get(t, path).header.Get("ETag") {
					t.Errorf("%s: the ETag was %q and is %q", action, before, after)
				}
			}
		})
	})
}
