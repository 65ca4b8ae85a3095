package request_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

const allFormats = "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"

func TestReadListsPathThenFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, id string
		formats  []string
		want     string
	}{
		{"an id in upper case passes", strings.ToUpper(anID), nil, ""},
		// spec: format-parameter
		{"an empty format is json", anID, []string{""}, ""},
		// spec: format-parameter
		{"an unknown format", anID, []string{"yaml"}, allFormats},
		{"a format in upper case", anID, []string{"CSV"}, allFormats},
		// spec: format-parameter
		{"a repeated format", anID, []string{"csv", "csv"}, allFormats},
		{"a format repeated empty", anID, []string{"", ""}, allFormats},
		{"no id", "", nil, "result_id: Invalid uuid"},
		{"an id without hyphens", strings.ReplaceAll(anID, "-", ""), nil, "result_id: Invalid uuid"},
		// spec: invalid-uuid
		{"an id in braces", "{" + anID + "}", nil, "result_id: Invalid uuid"},
		// spec: invalid-uuid
		{"an id as a URN", "urn:uuid:" + anID, nil, "result_id: Invalid uuid"},
		{"an id with NUL has both problems", anID[:35] + "\x00", nil, "result_id: " + unclean + "; result_id: Invalid uuid"},
		{"both", "x", []string{"y"}, "result_id: Invalid uuid; " + allFormats},
		{"a path that is not UTF-8", "\xff", []string{"y"}, malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedRead(c.id, c.formats)
			wantProblems(t, err, c.want)
		})
	}
	for _, f := range api.Formats() {
		got, err := parsedRead(anID, []string{string(f)})
		if err != nil || got.Format != f || got.Result.String() != anID {
			t.Errorf("%s: %+v %v", f, got, err)
		}
	}
}

// spec: retry-body
func TestRetryIgnoresABodyThatIsFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		id   string
		body request.Body
		want string
	}{
		{"an absent body", anID, request.Body{}, ""},
		{"plain text", anID, textBody("\x00\xff{"), ""},
		{"empty plain text", anID, textBody(""), ""},
		{"an object", anID, jsonBody(`{"fields":5}`), ""},
		{"null", anID, jsonBody(`null`), ""},
		{"a string with NUL, which is not read", anID, jsonBody(`"\u0000\ud800"`), ""},
		{"an empty JSON body", anID, jsonBody(""), malformed},
		{"broken JSON", anID, jsonBody("{"), malformed},
		{"two values", anID, jsonBody("1 2"), malformed},
		{"broken JSON comes before the path", "x", jsonBody("{"), malformed},
		{"the path comes after the body", "x", jsonBody("{}"), "result_id: Invalid uuid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedRetry(c.id, c.body)
			wantProblems(t, err, c.want)
			_, err = parsed(api.RevokeKey, request.Source{Body: c.body}, "key_id", c.id)
			wantProblems(t, err, strings.Replace(c.want, "result_id", "key_id", 1))
			_, err = parsed(api.ArchivePrism, request.Source{Body: c.body}, "prism", c.id)
			if c.want != "result_id: Invalid uuid" {
				wantProblems(t, err, c.want)
			}
		})
	}
}

func TestPathParametersOfPrisms(t *testing.T) {
	t.Parallel()
	got, err := parsed(api.ReadPrism, request.Source{}, "prism", "triage")
	if err != nil || got.Prism.Slug != "triage" {
		t.Errorf("got %v %v", got, err)
	}
	_, err = parsed(api.ReadPrism, request.Source{}, "prism", "a\x00")
	wantProblems(t, err, "prism: "+unclean)
	_, err = parsed(api.ReadPrism, request.Source{}, "prism", "\xc3\x28")
	wantProblems(t, err, malformed)
	for _, c := range []struct{ version, want string }{
		{"1", ""},
		{"1.0", ""},
		{"1e1", ""},
		{"2147483647", ""},
		{"0", "version: Number must be greater than or equal to 1"},
		{"-1.5", "version: Expected integer, received float; version: Number must be greater than or equal to 1"},
		{"2147483648", "version: Number must be less than or equal to 2147483647"},
		{"latest", "version: Expected number, received string"},
		{"", "version: Expected number, received string"},
		{" 1", "version: Expected number, received string"},
		{"1 ", "version: Expected number, received string"},
		{"01", "version: Expected number, received string"},
		{"+1", "version: Expected number, received string"},
		{"0x1", "version: Expected number, received string"},
		{"true", "version: Expected number, received string"},
		{"1,2", "version: Expected number, received string"},
		{"1\x00", "version: " + unclean + "; version: Expected number, received string"},
		{"\xff", malformed},
	} {
		got, err := parsed(api.ReadVersion, request.Source{}, "prism", "p", "version", c.version)
		wantProblems(t, err, c.want)
		if err == nil && got.Version < 1 {
			t.Errorf("%q is %d", c.version, got.Version)
		}
	}
	_, err = parsed(api.ReadVersion, request.Source{}, "prism", "\x00", "version", "x")
	wantProblems(t, err, "prism: "+unclean+"; version: Expected number, received string")
}

// spec: page-limit, unknown-query-parameters
func TestListsAreReadFromTheQuery(t *testing.T) {
	t.Parallel()
	ref := "r"
	for _, c := range []struct {
		name string
		q    request.Query
		want api.ListResultsRequest
	}{
		{"nothing", query(), api.ListResultsRequest{Format: api.JSON, PageRequest: api.PageRequest{Limit: 50}}},
		{
			"everything empty", query("prism", "", "status", "", "limit", "", "cursor", ""),
			api.ListResultsRequest{Format: api.JSON, PageRequest: api.PageRequest{Limit: 50}},
		},
		{
			"everything", query("prism", "triage", "status", "failed", "ref", "r", "limit", "100", "cursor", resultCursor, "other", "x"),
			api.ListResultsRequest{
				Prism: &prism.Ref{Slug: "triage"}, Status: prism.Failed, ResultFilter: api.ResultFilter{Ref: &ref}, Format: api.JSON,
				PageRequest: api.PageRequest{Limit: 100}, Cursor: resultCursor,
			},
		},
	} {
		got, err := parsedList(c.q)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v %v", c.name, got, err)
		}
	}
}

var (
	resultCursor = contract.ListOfResults.Cursor(prism.UUID{1, 15: 2})
	prismCursor  = contract.ListOfPrisms.Cursor(prism.UUID{1, 15: 2})
)

// spec: page-cursor
func TestACursorOfAnotherListIsRefused(t *testing.T) {
	t.Parallel()
	_, err := parsedList(query("cursor", prismCursor))
	wantProblems(t, err, "cursor: Invalid cursor")
	_, err = parsed(api.ListPrisms, request.Source{Query: query("cursor", resultCursor)})
	wantProblems(t, err, "cursor: Invalid cursor")
	_, err = parsed(api.ListPrisms, request.Source{Query: query("cursor", prismCursor)})
	wantProblems(t, err, "")
}

// spec: page-cursor, validation-message
func TestListsNameEveryProblem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		q    request.Query
		want string
	}{
		{"a limit that is no number", query("limit", "ten"), "limit: Expected number, received string"},
		{"a limit of 0", query("limit", "0"), "limit: Number must be greater than or equal to 1"},
		{"a limit of 101", query("limit", "101"), "limit: Number must be less than or equal to 100"},
		{
			"a limit of 0.5", query("limit", "0.5"),
			"limit: Expected integer, received float; limit: Number must be greater than or equal to 1",
		},
		{"a repeated limit", query("limit", "1", "limit", "1"), "limit: Expected number, received array"},
		{"a repeated cursor", query("cursor", "a", "cursor", "b"), "cursor: Expected string, received array"},
		{"a cursor that is none", query("cursor", "zz"), "cursor: Invalid cursor"},
		{
			"a limit of 0 and a cursor that is none", query("limit", "0", "cursor", "zz"),
			"limit: Number must be greater than or equal to 1; cursor: Invalid cursor",
		},
		{"a cursor with NUL", query("cursor", "a\x00"), "cursor: " + unclean},
		{"a cursor that is not UTF-8", query("cursor", "\xff"), "cursor: " + unclean},
		{"a cursor that is too long", query("cursor", repeat("c", 1001)), "cursor: String must contain at most 1000 character(s)"},
	} {
		_, err := parsedList(c.q)
		wantProblems(t, err, c.want)
		_, err = parsed(api.ListPrisms, request.Source{Query: c.q})
		wantProblems(t, err, c.want)
	}
	_, err := parsedList(query("prism", "\x00", "status", "OK", "ref", repeat("r", 201), "limit", "x", "cursor", "\x00"))
	wantProblems(t, err, "prism: "+unclean+"; status: Expected 'ok' | 'failed'; "+
		"ref: String must contain at most 200 character(s); limit: Expected number, received string; cursor: "+unclean)
	_, err = parsedList(query("status", "ok", "status", "ok"))
	wantProblems(t, err, "status: Expected 'ok' | 'failed'")
	_, err = parsed(api.ListPrisms, request.Source{Query: query("archived", "yes", "limit", "-1")})
	wantProblems(t, err, "limit: Number must be greater than or equal to 1; archived: Expected 'true' | 'false' | 'all'")
}

// spec: result-list, result-filters, export-after
func TestTheFiltersOfResultsAreReadFromTheQuery(t *testing.T) {
	t.Parallel()
	id, err := prism.ParseUUID(anID)
	if err != nil {
		t.Fatal(err)
	}
	filter := api.ResultFilter{
		From: time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC), To: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Model: "m",
		Key: &prism.KeyID{UUID: id}, Ref: new(string), Version: 7, Run: &prism.RunID{UUID: id},
	}
	sent := []string{
		"from", "2026-01-02T01:04:05Z", "to", "2026-02-01T00:00:00Z", "model", "m", "key_id", anID, "version", "7", "ref", "", "run", anID,
	}
	got, err := parsedList(query(append(sent, "format", "raw", "fields", "true")...))
	want := api.ListResultsRequest{
		ResultFilter: filter, Format: contract.Raw, Fields: true, PageRequest: api.PageRequest{Limit: 50},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %v", got, err)
	}
	export, err := parsedExport("p", query(append(sent, "after", anID)...))
	wantExport := api.ExportResultsRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "p"}}, Format: contract.CSV, ResultFilter: filter, After: &prism.ResultID{UUID: id},
	}
	if err != nil || !reflect.DeepEqual(export, wantExport) {
		t.Errorf("got %+v %v", export, err)
	}
	got, err = parsedList(query("version", "", "from", "", "to", "", "model", "", "key_id", "", "format", "", "prism", "", "status", ""))
	if err != nil || !reflect.DeepEqual(got, api.ListResultsRequest{Format: api.JSON, PageRequest: api.PageRequest{Limit: 50}}) {
		t.Errorf("got %+v %v", got, err)
	}
	got, err = parsedList(query("key_id", prism.UUID{}.String())) // no key has it
	if err != nil || got.Key == nil || !got.Key.IsZero() {
		t.Errorf("got %+v %v", got, err)
	}
	_, err = parsedList(query("version", "0", "from", "x", "to", "y", "model", "\x00", "key_id", "1", "format", "csv"))
	wantProblems(t, err, "version: Number must be greater than or equal to 1; from: Invalid datetime; to: Invalid datetime; "+
		"model: "+unclean+"; key_id: Invalid uuid; format: Expected 'json' | 'raw'")
	_, err = parsedList(query("fields", "1"))
	wantProblems(t, err, "fields: Expected 'true' | 'false'")
	_, err = parsedList(query("ref", "a", "ref", "a", "key_id", anID, "key_id", anID))
	wantProblems(t, err, "ref: Expected string, received array; key_id: Expected string, received array")
	_, err = parsedList(query("version", "\xff"))
	wantProblems(t, err, "version: Expected number, received string")
	_, err = parsedExport("p", query("after", "1"))
	wantProblems(t, err, "after: Invalid uuid")
}

// spec: search-words, search-where, search-sort, search-cursor
func TestSearchesAreReadFromTheQuery(t *testing.T) {
	t.Parallel()
	found := contract.FoundRow{ID: prism.UUID{1, 15: 2}, Number: 0.5, Search: 7}.Cursor()
	search := api.ResultSearch{Q: "a or b", Where: []string{"q:is:a", "q:labelled"}}
	sent := []string{"q", "a or b", "where", "q:is:a", "where", "q:labelled"}
	got, err := parsedList(query(append(sent, "prism", "p", "sort", "-q", "cursor", found)...))
	want := api.ListResultsRequest{
		Prism: &prism.Ref{Slug: "p"}, ResultSearch: search, Sort: "-q", Format: api.JSON, PageRequest: api.PageRequest{Limit: 50}, Cursor: found,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %v", got, err)
	}
	export, err := parsedExport("p", query(sent...))
	if err != nil || !reflect.DeepEqual(export.ResultSearch, search) {
		t.Errorf("got %+v %v", export, err)
	}
	counts, err := parsed(api.CountResults, request.Source{Query: query(append(sent, "prism", "p", "by", "q,@version")...)})
	if err != nil || !reflect.DeepEqual(counts, api.CountResultsRequest{Prism: &prism.Ref{Slug: "p"}, By: "q,@version", ResultSearch: search}) {
		t.Errorf("got %+v %v", counts, err)
	}
	queue, err := parsed(api.ListLabelQueue, request.Source{Query: query(append(sent, "question", "q")...)}, "prism", "p")
	if err != nil || !reflect.DeepEqual(queue.ResultSearch, search) {
		t.Errorf("got %+v %v", queue, err)
	}
	many := []string{"prism", "p"}
	for range 21 {
		many = append(many, "where", "q:labelled")
	}
	for _, c := range []struct {
		name string
		q    request.Query
		want string
	}{
		{"empty ones are none", query("q", "", "where", "", "sort", "", "cursor", resultCursor), ""},
		{"conditions need a prism", query("where", "q:labelled"), "prism: must be sent with where"},
		{"words need none", query("q", "a", "sort", "@took"), ""},
		{"two queries", query("q", "a", "q", "b"), "q: Expected string, received array"},
		{"two orders", query("sort", "q", "sort", "q"), "sort: Expected string, received array"},
		{"too many words", query("q", repeat("q", 1001)), "q: String must contain at most 1000 character(s)"},
		{"a long order", query("sort", repeat("q", 201)), "sort: String must contain at most 200 character(s)"},
		{"too many conditions", query(many...), "where: Array must contain at most 20 element(s)"},
		{
			"a condition that is too long, and one with NUL", query("prism", "p", "where", repeat("q", 8001), "where", "\x00"),
			"where.0: String must contain at most 8000 character(s); where.1: " + unclean,
		},
		{"a cursor of the whole list in a search", query("q", "a", "cursor", resultCursor), "cursor: Invalid cursor"},
		{"a cursor of a search in the whole list", query("cursor", found), "cursor: Invalid cursor"},
		{"a cursor of a search by order alone", query("sort", "@created", "cursor", found), ""},
	} {
		_, err := parsedList(c.q)
		if got := problems(t, err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	_, err = parsed(api.CountResults, request.Source{Query: query("where", "q:labelled")})
	wantProblems(t, err, "prism: must be sent with where")
}

func TestExportIsReadFromTheQuery(t *testing.T) {
	t.Parallel()
	got, err := parsedExport("triage", query("format", "jsonl", "status", "ok",
		"from", "2026-01-02T03:04:05.678+02:00", "to", "2026-02-01T00:00:00Z"))
	want := api.ExportResultsRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "triage"}}, Format: contract.JSONL, Status: prism.OK,
		ResultFilter: api.ResultFilter{
			From: time.Date(2026, 1, 2, 1, 4, 5, 678e6, time.UTC), To: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %v", got, err)
	}
	for _, q := range []request.Query{query(), query("format", "", "from", "", "to", "", "status", "")} {
		got, err = parsedExport("triage", q)
		want := api.ExportResultsRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "triage"}}, Format: contract.CSV}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v %v", got, err)
		}
	}
	// The zero time of Go is a bound like every other time (spec: export).
	got, err = parsedExport("triage", query("from", "0001-01-01T00:00:00Z", "to", "0001-01-01T01:00:00+01:00"))
	if first := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); err != nil || got.From.IsZero() || got.To.IsZero() || !got.To.Before(first) || !got.From.Before(first) {
		t.Errorf("got %+v %v", got, err)
	}
	for _, f := range []string{"json", "raw", "xml", "CSV"} {
		_, err = parsedExport("p", query("format", f))
		wantProblems(t, err, "format: Expected 'csv' | 'tsv' | 'jsonl' | 'xlsx' | 'parquet'")
	}
	for _, s := range []string{
		"2026-01-02", "2026-01-02T03:04:05", "2026-1-2T03:04:05Z", "2026-01-02T3:04:05Z", "2026-01-02T03:04:05,5Z",
		"2026-02-30T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02 03:04:05Z", "now", "1767322800",
		"2026-01-02T03:04:05Z ", "9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00", "2026-01-02T03:04:05+25:00",
	} {
		_, err = parsedExport("p", query("from", s))
		wantProblems(t, err, "from: Invalid datetime")
	}
	_, err = parsedExport("p", query("from", "\x00", "to", "\xff"))
	wantProblems(t, err, "from: "+unclean+"; from: Invalid datetime; to: "+unclean+"; to: Invalid datetime")
	_, err = parsedExport("\x00", query("format", "raw", "status", "x", "from", "x", "to", "a", "to", "b"))
	wantProblems(t, err, "prism: "+unclean+"; format: Expected 'csv' | 'tsv' | 'jsonl' | 'xlsx' | 'parquet'; status: Expected 'ok' | 'failed'; "+
		"from: Invalid datetime; to: Expected string, received array")
}

// spec: audit-list, audit-actor
func TestTheAuditIsReadFromTheQuery(t *testing.T) {
	t.Parallel()
	cursor := contract.ListOfAudit.Cursor(prism.UUID{1, 15: 2})
	from, page := time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC), api.PageRequest{Limit: 50}
	for _, c := range []struct {
		q    request.Query
		want api.ListAuditRequest
	}{
		{query("from", "", "to", "", "actor", "", "limit", "", "cursor", "", "other", "x"), api.ListAuditRequest{PageRequest: page}},
		{query("actor", "operator"), api.ListAuditRequest{Actor: "operator", PageRequest: page}},
		{query("actor", "retention"), api.ListAuditRequest{Actor: "retention", PageRequest: page}},
		{query("actor", "webhooks"), api.ListAuditRequest{Actor: "webhooks", PageRequest: page}},
		{query("actor", strings.ToUpper(anID)), api.ListAuditRequest{Actor: strings.ToUpper(anID), PageRequest: page}},
		{query("actor", prism.UUID{}.String()), api.ListAuditRequest{Actor: prism.UUID{}.String(), PageRequest: page}},
		{
			query("from", "2026-01-02T03:04:05+02:00", "to", "2026-01-02T01:04:06Z", "limit", "100", "cursor", cursor),
			api.ListAuditRequest{From: from, To: from.Add(time.Second), PageRequest: api.PageRequest{Limit: 100}, Cursor: cursor},
		},
	} {
		if got, err := parsed(api.ListAudit, request.Source{Query: c.q}); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v %v, want %+v", got, err, c.want)
		}
	}
	const wrong = "actor: Expected 'operator', 'retention', 'webhooks' or the id of a key"
	for _, c := range []struct {
		q    request.Query
		want string
	}{
		{query("actor", "Operator"), wrong},
		{query("actor", "key"), wrong},
		{query("actor", anID+" "), wrong},
		{query("actor", "a\x00"), "actor: " + unclean + "; " + wrong},
		{query("actor", anID, "actor", anID), "actor: Expected string, received array"},
		{query("cursor", resultCursor), "cursor: Invalid cursor"},
		{
			query("cursor", "zz", "limit", "0", "actor", "me", "to", "b", "from", "a"),
			"from: Invalid datetime; to: Invalid datetime; " + wrong +
				"; limit: Number must be greater than or equal to 1; cursor: Invalid cursor",
		},
	} {
		_, err := parsed(api.ListAudit, request.Source{Query: c.q})
		wantProblems(t, err, c.want)
	}
}

// spec: rows-for-people
func TestOnlyExportsAndDownloadsOfRunsAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	var got []string
	for _, op := range api.Operations() {
		asked, _ := op.Types()
		for _, m := range api.Properties(asked) {
			if m.Name == "bom" || m.Name == "delimiter" && m.Place == api.InQuery || m.Name == "safe" {
				got = append(got, op.Declared().Name+" "+m.Name)
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"exportResults bom", "exportResults delimiter", "exportResults safe", "listRunRows bom", "listRunRows delimiter", "listRunRows safe",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
