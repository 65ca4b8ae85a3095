package request_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: file-requests
func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0A", 32)
	got, err := parsedBody(api.CreateFile, `{"name":"é","format":"parquet","bytes":5368709120,"sha256":"`+digest+`","x":1}`)
	want := api.NewFile{Name: "é", Format: prism.FileParquet, Bytes: prism.MaxFileBytes, SHA256: new(api.SHA256)}
	for i := range want.SHA256 {
		want.SHA256[i] = 0x0a
	}
	if err != nil || !reflect.DeepEqual(got.NewFile, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for body, want := range map[string]string{
		`{}`: "name: Required; format: Required; bytes: Required",
		`[]`: "body: Expected object, received array",
		`{"name":"","format":"CSV","bytes":0.5,"sha256":"` + digest + `0"}`: "name: String must contain at least 1 character(s); " +
			"format: Expected 'csv' | 'tsv' | 'jsonl' | 'xlsx' | 'parquet'; bytes: Expected integer, received float; " +
			"bytes: Number must be greater than or equal to 1; sha256: Expected the SHA-256 of the file in hexadecimal",
		`{"name":1,"format":2,"bytes":"3","sha256":4}`: "name: Expected string, received number; format: Expected string, received number; " +
			"bytes: Expected number, received string; sha256: Expected string, received number",
		`{"name":"n","format":"csv","bytes":5368709121,"sha256":"` + digest[:62] + `zz"}`: "bytes: Number must be less than or equal to 5368709120; " +
			"sha256: Expected the SHA-256 of the file in hexadecimal",
		`{"name":"n","format":"csv","bytes":1,"sha256":null}`: "",
		`{`: malformed,
	} {
		_, err := parsedBody(api.CreateFile, body)
		wantProblems(t, err, want)
	}
}

// spec: file-requests, part-body
func TestPartsAreRead(t *testing.T) {
	t.Parallel()
	part := func(id, n, content string) (api.PutPartRequest, error) {
		return parsed(api.PutPart, request.Source{Body: request.Body{Bytes: []byte(content)}}, "file_id", id, "n", n)
	}
	got, err := part(anID, "5120", "\x00\xff")
	if err != nil || got.Part != 5120 || string(got.Content) != "\x00\xff" || got.File.String() != anID {
		t.Errorf("got %+v, %v", got, err)
	}
	for n, want := range map[string]string{
		"0": "n: Number must be greater than or equal to 1", "5121": "n: Number must be less than or equal to 5120",
		"one": "n: Expected number, received string", "1.5": "n: Expected integer, received float",
	} {
		_, err := part(anID, n, "x")
		wantProblems(t, err, want)
	}
	_, err = part("1", "1", "")
	wantProblems(t, err, "file_id: Invalid uuid; body: Required")
	_, err = part("\xff", "1", "")
	wantProblems(t, err, malformed)
	rows, err := parsed(api.ListFileRows, request.Source{Query: query("offset", "10000000", "limit", "100")}, "file_id", anID)
	if err != nil || rows.Offset != 10_000_000 || rows.Limit != 100 || rows.File.String() != anID {
		t.Errorf("got %+v, %v", rows, err)
	}
	_, err = parsed(api.ListFileRows, request.Source{Query: query("offset", "x", "limit", "101")}, "file_id", anID)
	wantProblems(t, err, "offset: Expected number, received string; limit: Number must be less than or equal to 100")
}

// spec: run-requests
func TestRunsAreRead(t *testing.T) {
	t.Parallel()
	got, err := parsedBody(api.CreateRun, `{"file_id":"`+anID+`","fields":{"b":"B","a":"A","b":"C"},"ref":"r","context":"c","version":2,
		"name":"n","rows_per_second":0.5,"concurrency":10000,"pause_at_failures":0,"idempotency_key":"k","dry_run":true}`, "prism", "tickets")
	id, _ := prism.ParseUUID(anID)
	want := api.CreateRunRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "tickets"}}, DryRun: true, NewRun: api.NewRun{
		File: prism.FileID{UUID: id}, Fields: api.ColumnsOfFields{{Field: "b", Column: "C"}, {Field: "a", Column: "A"}}, Ref: "r", Context: "c",
		Version: 2, Name: "n", PauseAt: new(0.0), IdempotencyKey: "k",
		RunLimits: api.RunLimits{RowsPerSecond: new(0.5), Concurrency: new(10_000)},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	const whole = `{"file_id":"` + anID + `","fields":{}`
	for body, want := range map[string]string{
		`{}`:                              "file_id: Required; fields: Required",
		`{"file_id":"1","fields":["a"]}`:  "file_id: Invalid uuid; fields: Expected object, received array",
		`{"file_id":1,"fields":{"a":1}}`:  "file_id: Expected string, received number; fields.a: Expected string, received number",
		whole + `,"rows_per_second":0}`:   "rows_per_second: Number must be greater than 0",
		whole + `,"rows_per_second":1e9}`: "rows_per_second: Number must be less than or equal to 100000",
		whole + `,"concurrency":1.5}`:     "concurrency: Expected integer, received float",
		whole + `,"concurrency":0}`:       "concurrency: Number must be greater than or equal to 1",
		whole + `,"pause_at_failures":-1,"dry_run":1}`: "pause_at_failures: Number must be greater than or equal to 0; " +
			"dry_run: Expected boolean, received number",
		whole + `,"pause_at_failures":1.01}`: "pause_at_failures: Number must be less than or equal to 1",
		whole + `,"ref":"","version":0,"idempotency_key":""}`: "ref: String must contain at least 1 character(s); " +
			"version: Number must be greater than or equal to 1; idempotency_key: String must contain at least 1 character(s)",
		whole + `,"ref":null,"context":null,"version":null,"name":null,"rows_per_second":null,"concurrency":null,"pause_at_failures":null,` +
			`"idempotency_key":null,"dry_run":null}`: "",
		whole + `,"labels":` + manyMembers(65, `"c"`) + `}`: "labels: Object must contain at most 64 member(s)",
		whole + `,"from_labels_of":1}`:                      "file_id: must not be sent with from_labels_of; fields: must not be sent with from_labels_of",
		`{"from_labels_of":0,"labels":{},"ref":"r","context":"c","version":"1"}`: "labels: must not be sent with from_labels_of; " +
			"ref: must not be sent with from_labels_of; context: must not be sent with from_labels_of; " +
			"from_labels_of: Number must be greater than or equal to 1; version: Expected number, received string",
		`{"from_labels_of":null}`:                           "file_id: Required; fields: Required",
		`{"from_labels_of":1,"file_id":1,"fields":[]}`:      "file_id: must not be sent with from_labels_of; fields: must not be sent with from_labels_of",
		`{"from_labels_of":1,"file_id":null,"fields":null}`: "",
		`{"from_results":{},"file_id":1,"ref":"r"}`:         "file_id: must not be sent with from_results; ref: must not be sent with from_results",
		`{"from_results":{},"from_labels_of":1}`:            "from_results: must not be sent with from_labels_of",
		`{"from_results":{"ids":[],"status":"x","q":"","where":[]}}`: "from_results.ids: Array must contain at least 1 element(s); " +
			"from_results.status: Expected 'ok' | 'failed'; from_results.q: String must contain at least 1 character(s); " +
			"from_results.where: Array must contain at least 1 element(s)",
	} {
		_, err := parsedBody(api.CreateRun, body, "prism", "p")
		wantProblems(t, err, want)
	}
}

// spec: run-from-labels, run-from-results
func TestARunOfResultsNamesThemInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	id, _ := prism.ParseUUID(anID)
	for body, want := range map[string]api.NewRun{
		`{"from_labels_of":1}`: {FromLabelsOf: 1},
		`{"from_results":{"ids":["` + anID + `"],"version":1,"q":"w","where":["a:labelled"]}}`: {FromResults: &api.ResultsOfRun{
			IDs: []prism.ResultID{{UUID: id}}, Version: 1, SearchMembers: api.SearchMembers{Q: "w", Where: []string{"a:labelled"}},
		}},
		`{"from_labels_of":2,"version":3,"name":"n","concurrency":4,"idempotency_key":"k"}`: {
			FromLabelsOf: 2, Version: 3, Name: "n", RunLimits: api.RunLimits{Concurrency: new(4)}, IdempotencyKey: "k",
		},
	} {
		got, err := parsedBody(api.CreateRun, body, "prism", "p")
		if err != nil || !reflect.DeepEqual(got.NewRun, want) {
			t.Errorf("%s: got %+v, %v, want %+v", body, got.NewRun, err, want)
		}
	}
}

// spec: run-requests
func TestLimitsOfRunsAreRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]api.RunLimits{
		`{}`:                       {},
		`{"rows_per_second":null}`: {RowsPerSecond: new(0.0)},
		`{"concurrency":null}`:     {Concurrency: new(0)},
		`{"concurrency":7,"rows_per_second":0.1}`: {Concurrency: new(7), RowsPerSecond: new(0.1)},
	} {
		got, err := parsed(api.SetRunLimits, request.Source{Body: jsonBody(body)}, "run_id", anID)
		if err != nil || got.Run.String() != anID || !reflect.DeepEqual(got.RunLimits, want) {
			t.Errorf("%s: got %+v, %v", body, got, err)
		}
	}
	_, err := parsed(api.SetRunLimits, request.Source{Body: jsonBody(`{"concurrency":0}`)}, "run_id", "1")
	wantProblems(t, err, "run_id: Invalid uuid; concurrency: Number must be greater than or equal to 1")
}

// spec: run-requests, result-list
func TestListsAndRowsOfRunsAreRead(t *testing.T) {
	t.Parallel()
	list, err := parsed(api.ListRuns, request.Source{Query: query("prism", "p", "status", "paused", "limit", "3")})
	want := api.ListRunsRequest{Prism: &prism.Ref{Slug: "p"}, Status: prism.RunPaused, PageRequest: api.PageRequest{Limit: 3}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("got %+v, %v", list, err)
	}
	for _, c := range []struct {
		query request.Query
		want  api.ListRunRowsRequest
	}{
		{query("format", "", "delimiter", "", "bom", "", "safe", ""), api.ListRunRowsRequest{Only: api.AllRows}},
		{
			query("delimiter", ";", "bom", "true", "safe", "true"),
			api.ListRunRowsRequest{Only: api.AllRows, TextStyle: api.TextStyle{Delimiter: ";", BOM: true, Safe: true}},
		},
		{query("only", "all", "format", "xlsx"), api.ListRunRowsRequest{Format: prism.RowsXLSX, Only: api.AllRows}},
		{
			query("only", "pending", "format", "jsonl", "after", "7"),
			api.ListRunRowsRequest{Format: prism.RowsJSONL, Only: prism.RowPending, After: 7},
		},
	} {
		id, _ := prism.ParseUUID(anID)
		c.want.Run = prism.RunID{UUID: id}
		if got, err := parsed(api.ListRunRows, request.Source{Query: c.query}, "run_id", anID); err != nil || got != c.want {
			t.Errorf("got %+v, %v, want %+v", got, err, c.want)
		}
	}
	_, err = parsed(api.ListRunRows, request.Source{Query: query("only", "cancelled", "format", "json", "after", "-1", "bom", "1", "delimiter", "::")}, "run_id", "1")
	wantProblems(t, err, "run_id: Invalid uuid; format: Expected 'csv' | 'tsv' | 'jsonl' | 'xlsx' | 'parquet'; "+
		"only: Expected 'all' | 'ok' | 'failed' | 'invalid' | 'pending'; after: Number must be greater than or equal to 0; "+
		"bom: Expected 'true' | 'false'; delimiter: Expected ',' | ';' | '|' | '\t'")
	// A table of Parquet has one end (spec: parquet-whole, parquet-raw).
	for want, q := range map[string]request.Query{
		"after: must not be sent with format=parquet":               query("format", "parquet", "after", "1"),
		"raw: must only be sent with format=parquet":                query("raw", "true"),
		"raw: Expected 'true' | 'false'":                            query("format", "parquet", "raw", "1"),
		"format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'": nil,
	} {
		if q == nil {
			_, err = parsed(api.ReadResult, request.Source{Query: query("format", "parquet")}, "result_id", anID)
		} else {
			_, err = parsed(api.ListRunRows, request.Source{Query: q}, "run_id", anID)
		}
		wantProblems(t, err, want)
	}
	_, err = parsed(api.ExportResults, request.Source{Query: query("format", "parquet", "after", anID, "raw", "true")}, "prism", "a")
	wantProblems(t, err, "after: must not be sent with format=parquet")
	results, err := parsedList(query("run", anID))
	if err != nil || results.Run == nil || results.Run.String() != anID {
		t.Errorf("got %+v, %v", results.Run, err)
	}
	_, err = parsedList(query("run", "1"))
	wantProblems(t, err, "run: Invalid uuid")
	// The pages of a run are in row order, so their cursors are not those of other lists of results.
	ofRun, ofAll := contract.ListOfRunResults.Cursor(prism.UUID{1}), contract.ListOfResults.Cursor(prism.UUID{1})
	if _, err := parsedList(query("run", anID, "cursor", ofRun)); err != nil {
		t.Error(err)
	}
	_, err = parsedList(query("run", anID, "cursor", ofAll))
	wantProblems(t, err, "cursor: Invalid cursor")
	_, err = parsedList(query("cursor", ofRun))
	wantProblems(t, err, "cursor: Invalid cursor")
}

// FuzzParseNewRun looks for panics, and for runs that are accepted and not valid.
func FuzzParseNewRun(f *testing.F) {
	f.Add([]byte(`{"file_id":"` + anID + `","fields":{"b":"B","b":"C"},"rows_per_second":1e-400,"concurrency":1e4,"pause_at_failures":1}`))
	f.Add([]byte(`{"file_id":"` + anID + `","fields":{"\ud800":"x","a":null},"ref":null,"version":-0,"dry_run":true}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		run, err := parsedBody(api.CreateRun, string(body), "prism", "p")
		if problems(t, err) != "" {
			return
		}
		seen := map[string]bool{}
		for _, c := range run.Fields {
			if seen[c.Field] {
				t.Fatalf("%q twice", c.Field)
			}
			seen[c.Field] = true
		}
		if l := run.RowsPerSecond; l != nil && !(*l >= 0 && *l <= 100_000) {
			t.Fatalf("%v rows a second", *l)
		}
		if l := run.Concurrency; l != nil && (*l < 0 || *l > 10_000) {
			t.Fatalf("%d at once", *l)
		}
		if p := run.PauseAt; p != nil && !(*p >= 0 && *p <= 1) {
			t.Fatalf("pause at %v", *p)
		}
	})
}
