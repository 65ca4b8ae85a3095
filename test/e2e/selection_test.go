package e2e

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
)

// sheet is the first sheet of a workbook, as XML.
func (r reply) sheet(t *testing.T) string {
	t.Helper()
	r.wantStatus(t, 200)
	r.wantType(t, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
	book, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := book.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSelections holds what is done with results that people have selected.
func TestSelections(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: export-xlsx, export-selected
		t.Run("results are exported as a workbook, all or by their ids", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			first := own.create(t, slug, text("first <1>", "ref", "r")).ok(t).ID
			second := own.create(t, slug, text("second")).ok(t).ID
			path := "/v1/prisms/" + slug + "/results"
			all := own.get(t, path+"?format=xlsx").sheet(t)
			if !strings.Contains(all, first) || !strings.Contains(all, second) || !strings.Contains(all, "first &lt;1&gt;") ||
				strings.Index(all, ">Message<") > strings.Index(all, ">Result ID<") {
				t.Errorf("got %s", all)
			}
			ids := []string{second, "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", second}
			one := own.post(t, path+"/export", object("ids", ids, "format", "xlsx")).sheet(t)
			if strings.Contains(one, first) || strings.Count(one, second) != 1 {
				t.Errorf("got %s", one)
			}
			for filter, want := range map[string]int{"ref=r": 1, "ref=x": 0, "version=1": 2, "version=2": 0, "run=" + first: 0} {
				found := own.get(t, path+"?format=jsonl&"+filter)
				if found.wantStatus(t, 200); strings.Count(string(found.body), "\n") != want {
					t.Errorf("%s: got %s", filter, found.body)
				}
			}
			rows := own.post(t, path+"/export", object("ids", []string{second, first}, "format", "jsonl"))
			rows.wantStatus(t, 200)
			if got := string(rows.body); strings.Count(got, "\n") != 2 || strings.Index(got, first) > strings.Index(got, second) {
				t.Errorf("got %s", got)
			}
			other := own.triage(t)
			if got := string(own.post(t, "/v1/prisms/"+other+"/results/export", object("ids", ids)).body); strings.Contains(got, second) {
				t.Errorf("another prism: %s", got)
			}
			s.other.post(t, path+"/export", object("ids", ids)).wantFail(t, fail{404, "not_found", "Prism not found"})
			own.post(t, path+"/export", `{}`).wantFail(t, invalid("ids: Required"))
		})
		// spec: assignees-put
		t.Run("results are counted for a member by each filter, and assigned if they are as many as expected", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			first := own.create(t, slug, text("hello", "ref", "r")).ok(t).ID
			second := own.create(t, slug, text("hello")).ok(t).ID
			own.create(t, own.triage(t), text("hello")).ok(t)
			var ada struct{ ID string }
			own.post(t, "/v1/members", object("name", "Ada", "role", "labeller")).decode(t, &ada)
			path := "/v1/prisms/" + slug + "/results/assign"
			assign := func(more ...any) reply { return own.post(t, path, object(more...)) }
			var record struct {
				KeyID string `json:"key_id"`
				Model struct{ Name string }
			}
			own.get(t, "/v1/results/"+first+"/record").decode(t, &record)
			for filters, want := range map[string]string{
				`"ref":"r"`: "1", `"ref":"x"`: "0", `"version":1`: "2", `"version":2`: "0", `"status":"failed"`: "0",
				`"model":"` + record.Model.Name + `","key_id":"` + record.KeyID + `"`: "2", `"model":"none"`: "0", `"run":"` + record.KeyID + `"`: "0",
				`"from":"2020-01-01T00:00:00Z"`: "2", `"to":"2020-01-01T00:00:00Z"`: "0", `"assignee":"none"`: "2", `"assignee":"me"`: "0",
				`"ids":["` + first + `","` + record.KeyID + `"]`: "1", `"ref":null`: "2",
			} {
				assigned := own.post(t, path, `{"member_id":null,"dry_run":true,`+filters+`}`)
				assigned.wantStatus(t, 200)
				assigned.wantBody(t, `{"assigned":`+want+`,"before":[]}`)
			}
			assign("member_id", ada.ID, "expect", 1).wantFail(t, fail{409, "conflict", "2 results match now."})
			assign("member_id", record.KeyID, "expect", 2).wantFail(t, fail{404, "not_found", "Member not found"})
			assign("member_id", ada.ID).wantFail(t, invalid("expect: Required"))
			s.other.post(t, path, object("member_id", nil, "expect", 0)).wantFail(t, fail{404, "not_found", "Prism not found"})
			one := assign("member_id", ada.ID, "ids", []string{first}, "expect", 1)
			one.wantBody(t, `{"assigned":1,"before":[{"member_id":null,"ids":["`+first+`"]}]}`)
			none := assign("member_id", nil, "expect", 2)
			none.wantBody(t, `{"assigned":2,"before":[{"member_id":"`+ada.ID+`","ids":["`+first+`"]}]}`)
			none = assign("member_id", nil, "ids", []string{second}, "expect", 1)
			none.wantBody(t, `{"assigned":1,"before":[]}`)
			own.get(t, "/v1/results/"+first+"/assignee").wantBody(t, `{"result_id":"`+first+`","member":null}`)
			if _, body := own.audit(t, "limit=5"); strings.Count(body, `"results.assign"`) != 2 || !strings.Contains(body, `{"assigned":1,"member_id":"`+ada.ID+`"}`) {
				t.Errorf("the audit: %s", body)
			}
		})
		// spec: results-delete-filter, deletion-expect
		t.Run("results are counted for a deletion by each filter, and deleted if they are as many as expected", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			first := own.create(t, slug, text("hello")).ok(t).ID
			own.create(t, slug, text("hello")).ok(t)
			path := "/v1/prisms/" + slug + "/results/delete"
			var record struct {
				KeyID string `json:"key_id"`
				Model struct{ Name string }
			}
			own.get(t, "/v1/results/"+first+"/record").decode(t, &record)
			for filters, want := range map[string]string{
				object("ids", []string{first, record.KeyID}):               `{"deleting":1}`,
				object("ids", []string{first}, "q", "goodbye"):             `{"deleting":0}`,
				object("version", 1):                                       `{"deleting":2}`,
				object("version", 2):                                       `{"deleting":0}`,
				object("key_id", record.KeyID, "model", record.Model.Name): `{"deleting":2}`,
				object("model", "none"):                                    `{"deleting":0}`,
				object("run", record.KeyID):                                `{"deleting":0}`,
				object("assignee", "none"):                                 `{"deleting":2}`,
				object("assignee", "me"):                                   `{"deleting":0}`,
				object("from", "2020-01-01T00:00:00Z"):                     `{"deleting":2}`,
				object("from", "2999-01-01T00:00:00Z"):                     `{"deleting":0}`,
				object("from", "2020-01-01T00:00:00Z", "where", []string{"intent:is:card"}, "q", "hello"): "",
			} {
				counted := own.post(t, path, strings.TrimSuffix(filters, "}")+`,"dry_run":true}`)
				if counted.wantStatus(t, 200); want != "" {
					counted.wantBody(t, want)
				}
			}
			own.post(t, path, object("ids", []string{first}, "expect", 2)).wantFail(t, fail{409, "conflict", "1 results match now."})
			deleted := own.post(t, path, object("ids", []string{first}, "expect", 1))
			deleted.wantStatus(t, 202)
			deleted.wantBody(t, `{"deleting":1}`)
		})
	})
}
