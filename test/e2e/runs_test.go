package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

var (
	noRun   = fail{404, "not_found", "Run not found"}
	runOver = fail{409, "conflict", "This run is over."}
)

// fileRun is a run as the API shows it.
type fileRun struct {
	ID, Status, Prism                             string
	Reason                                        *string
	Version                                       int
	Rows, OK, Failed, Invalid, Cancelled, Pending int64
}

func (r reply) run(t *testing.T, status int) (run fileRun) {
	t.Helper()
	r.wantStatus(t, status)
	if err := json.Unmarshal(r.body, &run); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	if run.OK+run.Failed+run.Invalid+run.Cancelled+run.Pending != run.Rows {
		t.Errorf("the counts do not make %d: %s", run.Rows, r.body)
	}
	return run
}

// follow reads the events of a run until it is over, and returns the last.
func (c *client) follow(t *testing.T, id string) fileRun {
	t.Helper()
	r := c.get(t, "/v1/runs/"+id+"/events")
	r.wantStatus(t, 200)
	r.wantType(t, "text/event-stream")
	events := strings.Split(strings.TrimSuffix(string(r.body), "\n\n"), "\n\n")
	_, last, ok := strings.Cut(events[len(events)-1], "event: run\ndata: ")
	if !ok {
		t.Fatalf("no event: %s", r.body)
	}
	return reply{status: 200, header: r.header, body: []byte(last)}.run(t, 200)
}

// runFile runs a file whose column message is the field.
func (c *client) runFile(t *testing.T, prism, file, more string) reply {
	t.Helper()
	return c.post(t, "/v1/prisms/"+prism+"/runs", fmt.Sprintf(`{"file_id":%q,"fields":{"message":"text"}%s}`, file, more))
}

// TestRuns holds the calls on runs.
func TestRuns(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		const rows = "text,id\r\nIt broke.,a\r\n\"All\nis well\",b\r\n,c\r\n"
		// spec: run-requests, run-events, rows-are-calls
		t.Run("a run answers every row, and its results are listed in row order", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism, f := own.prism(t, oneField, yesNo), own.upload(t, "csv", rows)
			made := own.runFile(t, prism, f.ID, `,"ref":"id","idempotency_key":"k"`).run(t, 201)
			if again := own.runFile(t, prism, f.ID, `,"ref":"id","idempotency_key":"k"`).run(t, 201); again.ID != made.ID {
				t.Errorf("a repeat made the run %s", again.ID)
			}
			if done := own.follow(t, made.ID); done.Status != "finished" || done.OK != 3 || done.Version != 1 {
				t.Errorf("got %+v", done)
			}
			var page struct{ Data []struct{ Ref string } }
			r := own.get(t, "/v1/results?run="+made.ID)
			r.wantStatus(t, 200)
			if err := json.Unmarshal(r.body, &page); err != nil || len(page.Data) != 3 || page.Data[0].Ref != "a" || page.Data[2].Ref != "c" {
				t.Errorf("got %v, %s", err, r.body)
			}
			var one struct {
				Data   []struct{ Ref string }
				Cursor *string `json:"next_cursor"`
			}
			for i, cursor := 0, ""; i == 0 || one.Cursor != nil; i++ { // spec: page-cursor
				own.get(t, "/v1/results?limit=1&run="+made.ID+cursor).decode(t, &one)
				if len(one.Data) != 1 || one.Data[0].Ref != string("abc"[i]) {
					t.Fatalf("page %d: %+v", i, one)
				}
				if one.Cursor != nil {
					cursor = "&cursor=" + *one.Cursor
				}
			}
			for format, coding := range map[string]string{"csv": "gzip", "tsv": "gzip", "jsonl": "gzip", "xlsx": ""} { // spec: export-gzip
				download := own.do(t, call{
					path: "/v1/runs/" + made.ID + "/rows?format=" + format, header: http.Header{"Accept-Encoding": {"gzip"}},
				})
				download.wantStatus(t, 200)
				wantEqual(t, "the coding of "+format, download.header.Get("Content-Encoding"), coding)
			}
			own.get(t, "/v1/runs?status=finished&prism="+prism).wantStatus(t, 200)
			own.post(t, "/v1/runs/"+made.ID+"/pause", "").wantFail(t, runOver)
			own.put(t, "/v1/runs/"+made.ID+"/limits", `{"concurrency":1}`).wantFail(t, runOver)
			own.post(t, "/v1/runs/"+made.ID+"/retry", "").wantFail(t, fail{409, "conflict", "This run has no failed rows."})
		})
		// spec: file-bad-rows, file-read-again
		t.Run("a row that cannot be read is invalid with its line, and the others are answered", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			f := own.upload(t, "csv", "Report;\r\ntext;id\r\ncaf\xe9 is closed;1\r\nbroken\r\n\"x;3\r\nfine;4\r\n")
			own.post(t, "/v1/files/"+f.ID+"/read", `{"encoding":"windows-1252","header_row":2}`).file(t, 202)
			if f = own.whenRead(t, f.ID); f.Status != "ready" || f.Rows != 4 {
				t.Fatalf("got %+v", f)
			}
			var dry struct {
				Invalid []struct{ Message string }
			}
			own.runFile(t, prism, f.ID, `,"dry_run":true`).decode(t, &dry)
			if len(dry.Invalid) != 2 || dry.Invalid[1].Message != "Line 5: a quoted cell is not closed." {
				t.Errorf("a dry run tells %+v", dry)
			}
			made := own.runFile(t, prism, f.ID, "").run(t, 201)
			own.post(t, "/v1/files/"+f.ID+"/read", `{}`).wantFail(t, fail{409, "conflict", "This file is used by a run."})
			if done := own.follow(t, made.ID); done.OK != 2 || done.Invalid != 2 {
				t.Errorf("got %+v", done)
			}
			r := own.get(t, "/v1/runs/"+made.ID+"/rows?format=csv&only=invalid")
			r.wantStatus(t, 200)
			for _, want := range []string{
				"broken,,2,,invalid,\"Line 4: 1 cell, but the header has 2.\"", "\"\"\"x;3\",,3,,invalid,Line 5: a quoted cell is not closed.",
			} {
				if !strings.Contains(string(r.body), want) {
					t.Errorf("%s has no %s", r.body, want)
				}
			}
		})
		// spec: run-dry-run, row-invalid
		t.Run("a dry run tells the invalid rows and makes nothing", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			f := own.upload(t, "jsonl", `{"text":"x"}`+"\n"+`{"text":"`+strings.Repeat("y", 100_001)+`"}`+"\n")
			r := own.runFile(t, prism, f.ID, `,"dry_run":true,"rows_per_second":2`)
			r.wantStatus(t, 200)
			for _, part := range []string{
				`{"rows":2,"rows_checked":2,"invalid":[{"row":2,"message":"Invalid request: fields.message: String must contain at most 100000 character(s)"}],` +
					`"invalid_total":1,"invalid_labels":[],"invalid_labels_total":0,"tokens":`, `"model_calls":1,"seconds":0.5,`,
			} {
				if !strings.Contains(string(r.body), part) {
					t.Errorf("%s is not in %s", part, r.body)
				}
			}
			own.get(t, "/v1/runs").wantBody(t, `{"data":[],"next_cursor":null}`)
		})
		// spec: row-invalid, file-jsonl, nul-and-surrogates, duplicate-members
		t.Run("a line with what a call refuses is one invalid row with the text of the call", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			f := own.upload(t, "jsonl", `{"text":"\ud800"}`+"\n"+`{"text":"\u0000"}`+"\n{\"text\":\"\x00\"}\n"+`{"text":"x","more":{"a":"\ud800","a":2}}`)
			made := own.runFile(t, prism, f.ID, "").run(t, 201)
			if done := own.follow(t, made.ID); done.OK != 1 || done.Invalid != 3 {
				t.Errorf("got %+v", done)
			}
			const problem = "fields.message: must not contain NUL or unpaired surrogate characters"
			own.post(t, "/v1/prisms/"+prism+"/results", `{"fields":{"message":"\ud800"}}`).wantFail(t, invalid(problem))
			columns := func(text, more string, row int) string {
				return fmt.Sprintf(`{"text":%s,"more":%s,"prism_row":%d,"prism_result_id":null,"prism_status":"invalid",`+
					`"prism_error":"Invalid request: %s","urgent":null,"urgent_probability":null}`+"\n", text, more, row, problem)
			}
			own.get(t, "/v1/runs/"+made.ID+"/rows?format=jsonl&only=invalid").wantBody(t,
				columns(`"\ud800"`, "null", 1)+columns(`"\u0000"`, "null", 2)+columns(`"\u0000"`, "null", 3))
		})
		t.Run("a run is paused, changed, resumed and cancelled", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism, f := own.prism(t, oneField, yesNo), own.upload(t, "csv", "text\r\n"+strings.Repeat("x\r\n", 1000))
			path := "/v1/runs/" + own.runFile(t, prism, f.ID, `,"rows_per_second":1`).run(t, 201).ID
			if run := own.post(t, path+"/pause", "").run(t, 200); run.Status != "pausing" && run.Status != "paused" {
				t.Errorf("got %+v", run)
			}
			own.put(t, path+"/limits", `{"rows_per_second":2,"concurrency":null}`).run(t, 200)
			if run := own.post(t, path+"/resume", "").run(t, 200); run.Status != "queued" && run.Status != "running" {
				t.Errorf("got %+v", run)
			}
			own.delete(t, "/v1/files/"+f.ID).wantFail(t, fail{409, "conflict", "This file is used by a run."})
			own.post(t, path+"/cancel", "").run(t, 200)
			if run := own.follow(t, strings.TrimPrefix(path, "/v1/runs/")); run.Status != "cancelled" || run.Pending != 0 || run.Cancelled == 0 {
				t.Errorf("got %+v", run)
			}
			own.post(t, path+"/resume", "").wantFail(t, runOver)
			own.delete(t, "/v1/files/"+f.ID).wantStatus(t, 204)
		})
		// spec: run-retry, run-rows-only
		t.Run("the failed rows of a run are retried", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			script := s.model.Script(model.Status(400), model.Likely())
			prism, f := own.prism(t, oneField, yesNo), own.upload(t, "csv", "text\r\nfine\r\n"+script.Tag+"\r\nfine too\r\n")
			path := "/v1/runs/" + own.runFile(t, prism, f.ID, `,"pause_at_failures":1`).run(t, 201).ID
			if done := own.follow(t, strings.TrimPrefix(path, "/v1/runs/")); done.Failed != 1 || done.OK != 2 {
				t.Errorf("got %+v", done)
			}
			failed := string(own.get(t, path+"/rows?format=jsonl&only=failed").body)
			if strings.Count(failed, "\n") != 1 || !strings.Contains(failed, `"prism_row":2,`) {
				t.Errorf("got %s", failed)
			}
			own.post(t, path+"/retry", "").run(t, 200)
			own.follow(t, strings.TrimPrefix(path, "/v1/runs/"))
			if done := own.get(t, path).run(t, 200); done.Status != "finished" || done.OK != 3 || done.Failed != 0 {
				t.Errorf("got %+v", done)
			}
			wantEqual(t, "the number of model calls", script.Calls(), 2)
		})
		t.Run("a run needs columns that its file has", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism, f := own.prism(t, oneField, yesNo), own.upload(t, "csv", "other\r\nx\r\n")
			own.runFile(t, prism, f.ID, "").wantFail(t, invalid("fields.message: No such column"))
			own.runFile(t, "none", f.ID, "").wantFail(t, noPrism)
			own.runFile(t, prism, "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", "").wantFail(t, noFile)
			own.runFile(t, prism, own.newFile(t, "csv", 1).ID, "").wantFail(t, fileNotReady)
		})
		t.Run("runs of another account are not found", func(t *testing.T) {
			t.Parallel()
			own, other := s.ownAccount(t), s.ownAccount(t)
			run := own.runFile(t, own.prism(t, oneField, yesNo), own.upload(t, "csv", rows).ID, "").run(t, 201)
			path := "/v1/runs/" + run.ID
			for _, read := range []string{"", "/rows", "/events"} {
				other.get(t, path+read).wantFail(t, noRun)
			}
			for _, action := range []string{"pause", "resume", "cancel", "retry"} {
				other.post(t, path+"/"+action, "").wantFail(t, noRun)
			}
			other.put(t, path+"/limits", `{}`).wantFail(t, noRun)
			own.follow(t, run.ID)
		})
	}, spread)
}
