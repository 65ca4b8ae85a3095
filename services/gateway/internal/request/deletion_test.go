package request_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: results-delete, results-delete-filter
func TestADeletionIsReadFromTheBody(t *testing.T) {
	t.Parallel()
	empty, ref := "", "r"
	at := time.Date(2026, 1, 2, 1, 4, 5, 500_000, time.UTC)
	for body, want := range map[string]api.DeleteResultsRequest{
		`{"ref":"r","before":null,"status":null,"dry_run":null}`: {ResultDeletion: api.ResultDeletion{Ref: &ref}},
		`{"ref":"","other":1}`:                        {ResultDeletion: api.ResultDeletion{Ref: &empty}},
		`{"before":"2026-01-02T03:04:05.0005+02:00"}`: {ResultDeletion: api.ResultDeletion{Before: &at}},
		`{"before":"0001-01-01T00:00:00Z"}`:           {ResultDeletion: api.ResultDeletion{Before: new(time.Time{})}},
		`{"q":"a","where":["q:labelled"]}`: {
			ResultDeletion: api.ResultDeletion{SearchMembers: api.SearchMembers{Q: "a", Where: []string{"q:labelled"}}},
		},
		`{"status":"failed","dry_run":true}`: {ResultDeletion: api.ResultDeletion{Status: prism.Failed}, DryRun: true},
	} {
		want.Prism = prism.Ref{Slug: "tickets"}
		if got, err := parsedBody(api.DeleteResults, body, "prism", "tickets"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v %v, want %+v", body, got, err, want)
		}
	}
	const none = "400 Invalid request: ref: send at least one of ref, from, before, status, version, model, key_id, run, assignee, ids, q, where"
	for body, want := range map[string]string{
		`{}`: none, `{"dry_run":true}`: none, `{"ref":null,"before":null}`: none,
		`{"ref":1,"before":"","status":"done","dry_run":0}`: "400 Invalid request: ref: Expected string, received number; " +
			"before: Invalid datetime; status: Expected 'ok' | 'failed'; dry_run: Expected boolean, received number",
		`{"where":[]}`:   "400 Invalid request: where: Array must contain at least 1 element(s)",
		`{"where":null}`: none,
		`{"q":"","where":["` + strings.Repeat("r", 8001) + `"]}`: "400 Invalid request: q: String must contain at least 1 character(s); " +
			"where.0: String must contain at most 8000 character(s)",
		`{"status":1}`: "400 Invalid request: status: Expected string, received number",
		`{"ref":"` + strings.Repeat("r", 201) + `"}`: "400 Invalid request: ref: String must contain at most 200 character(s)",
		`[]`: "400 Invalid request: body: Expected object, received array",
	} {
		if _, err := parsedBody(api.DeleteResults, body, "prism", "tickets"); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

// spec: export-selected, results-delete-filter, deletion-expect
func TestASelectionIsRead(t *testing.T) {
	t.Parallel()
	id, err := prism.ParseUUID(anID)
	if err != nil {
		t.Fatal(err)
	}
	ids := []prism.ResultID{{UUID: id}}
	got, err := parsedBody(api.ExportSelected, `{"ids":["`+anID+`"],"format":"xlsx"}`, "prism", "tickets")
	if err != nil || !reflect.DeepEqual(got.Selection, api.Selection{IDs: ids, Format: api.XLSX}) {
		t.Errorf("got %+v, %v", got, err)
	}
	deleted, err := parsedBody(api.DeleteResults, `{"from":"2026-11-01T00:00:00Z","version":2,"model":"m","key_id":"`+anID+`","run":"`+anID+
		`","assignee":"me","ids":["`+anID+`"],"expect":0}`, "prism", "tickets")
	want := api.ResultDeletion{
		From: new(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)), Version: 2, Model: "m", Key: prism.KeyID{UUID: id}, Run: prism.RunID{UUID: id},
		Assignee: "me", IDs: ids, Expect: new(0),
	}
	if err != nil || !reflect.DeepEqual(deleted.ResultDeletion, want) {
		t.Errorf("got %+v, %v", deleted.ResultDeletion, err)
	}
	many := `"` + anID + `"` + strings.Repeat(`,"`+anID+`"`, 1000)
	for body, want := range map[string]string{
		`{}`: "ids: Required", `{"ids":[]}`: "ids: Array must contain at least 1 element(s)",
		`{"ids":[` + many + `]}`:        "ids: Array must contain at most 1000 element(s)",
		`{"ids":["1"],"format":"json"}`: "ids.0: Invalid uuid; format: Expected 'csv' | 'tsv' | 'jsonl' | 'xlsx' | 'parquet'",
	} {
		_, err := parsedBody(api.ExportSelected, body, "prism", "tickets")
		wantProblems(t, err, want)
	}
}
