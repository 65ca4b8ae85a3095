package e2e

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestExport holds GET /v1/prisms/{prism}/results.
func TestExport(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: export
		t.Run("an export has one header row and every result, oldest first, as single reads have them", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			var ids []string
			for i := range 4 {
				ids = append(ids, s.main.create(t, prism, text(fmt.Sprintf("line %d\r\nand \"more\"", i), "ref", "r")).ok(t).ID)
			}
			failed, _ := s.main.refused(t, prism)
			ids = append(ids, failed.ID)
			for format, headerEnd := range map[string]string{"csv": "\r\n", "tsv": "\n", "jsonl": ""} {
				want, typ := "", ""
				for i, id := range ids {
					one := s.main.read(t, id, format)
					header, row, _ := strings.Cut(string(one.body), headerEnd)
					switch {
					case headerEnd == "":
						want += string(one.body)
					case i == 0:
						want += header + headerEnd + row
					default:
						want += row
					}
					typ = one.header.Get("Content-Type")
				}
				r := s.main.get(t, "/v1/prisms/"+prism+"/results?format="+format)
				r.wantStatus(t, 200)
				r.wantType(t, typ)
				r.wantBody(t, want)
			}
		})
		t.Run("an export of a prism without results is its header row", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			s.main.get(t, "/v1/prisms/"+prism+"/results?format=csv").wantBody(t, "result_id,ref,version,status,error,created_at,message,urgent,urgent_probability\r\n")
			s.main.get(t, "/v1/prisms/"+prism+"/results?format=jsonl").wantBody(t, "")
		})
		// spec: export
		t.Run("an export is filtered by status and time, from inclusive and to exclusive", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			first := s.main.create(t, prism, text("x")).ok(t)
			bad, _ := s.main.refused(t, prism)
			last := s.main.create(t, prism, text("x")).ok(t)
			if first.CreatedAt == bad.CreatedAt || bad.CreatedAt == last.CreatedAt {
				t.Fatal("three calls over the network in one millisecond")
			}
			for query, want := range map[string][]string{
				"&status=ok":                        {first.ID, last.ID},
				"&status=failed":                    {bad.ID},
				"&from=" + bad.CreatedAt:            {bad.ID, last.ID},
				"&to=" + bad.CreatedAt:              {first.ID},
				"&from=" + last.CreatedAt:           {last.ID},
				"&from=2000-01-01T00:00:00Z":        {first.ID, bad.ID, last.ID},
				"&to=2000-01-01T00:00:00Z":          nil,
				"&from=2000-01-01T01:00:00%2B02:00": {first.ID, bad.ID, last.ID},
				"&status=ok&from=" + bad.CreatedAt + "&to=" + url.QueryEscape(last.CreatedAt): nil,
			} {
				r := s.main.get(t, "/v1/prisms/"+prism+"/results?format=tsv"+query)
				r.wantStatus(t, 200)
				var got []string
				for _, row := range strings.Split(strings.TrimSuffix(string(r.body), "\n"), "\n")[1:] {
					id, _, _ := strings.Cut(row, "\t")
					got = append(got, id)
				}
				wantEqual(t, query, got, want)
			}
		})
		// spec: export-parquet, parquet-whole, export-gzip
		t.Run("an export as parquet is streamed whole, and cannot be continued", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			for range 3 {
				s.main.create(t, prism, text("x")).ok(t)
			}
			path := "/v1/prisms/" + prism + "/results?format=parquet&raw=true"
			r := s.main.get(t, path)
			r.wantStatus(t, 200)
			r.wantType(t, "application/vnd.apache.parquet")
			if !bytes.HasPrefix(r.body, []byte("PAR1")) || !bytes.HasSuffix(r.body, []byte("PAR1")) || r.header.Get("Content-Encoding") != "" {
				t.Errorf("got %d bytes, %v", len(r.body), r.header)
			}
			s.main.get(t, path+"&after=0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10").wantFail(t, invalidAt("after"))
		})
		t.Run("an export by the prism's id is the same", func(t *testing.T) {
			t.Parallel()
			bySlug := s.main.get(t, s.fill(t, "/v1/prisms/{archived}/results?format=csv"))
			s.main.get(t, s.fill(t, "/v1/prisms/{archived_id}/results?format=csv")).wantBody(t, string(bySlug.body))
		})
		const path = "/v1/prisms/{one}/results"
		s.runFailing(t, []failing{
			{"an export in json is refused", call{path: path + "?format=json"}, invalidAt("format")},
		})
	})
}
