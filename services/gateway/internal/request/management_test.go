package request_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

func TestLensIsReadWithItsTypes(t *testing.T) {
	t.Parallel()
	got, err := parsedBody(api.ReplaceLens,
		`{"columns":[{"name":"p","question":"kind","show":"probability","option":"bug","yes_at":null}]}`, "prism", anID)
	want := prism.Lens{Columns: []prism.Column{{Name: "p", Question: "kind", Show: prism.ShowProbability, Option: "bug"}}}
	if err != nil || got.Prism.ID.String() != anID || !reflect.DeepEqual(got.Lens, want) {
		t.Errorf("got %+v %v", got, err)
	}
	_, err = parsedBody(api.ReplaceLens, `{"columns":[1,{"name":null,"question":"q","show":"answer","no_at":[]}]}`, "prism", "a\x00")
	wantProblems(t, err, "prism: "+unclean+"; columns.0: Expected object, received number; "+
		"columns.1.name: Expected string, received null; columns.1.no_at: Expected number, received array")
	_, err = parsedBody(api.ReplaceLens, `{}`, "prism", "p")
	wantProblems(t, err, "columns: Required")
}

// spec: if-match, if-latest
func TestConditionsOfChanges(t *testing.T) {
	t.Parallel()
	const columns = `{"columns":[{"name":"p","question":"q","show":"answer"}]}`
	for _, c := range []struct {
		headers []string
		want    api.IfMatch
	}{
		{nil, nil},
		{[]string{" * "}, api.IfMatch{"*"}},
		{[]string{`"a"`}, api.IfMatch{`"a"`}},
		{[]string{`"a", "b,c" ,,W/"d"`, `""`}, api.IfMatch{`"a"`, `"b,c"`, `""`}},
		{[]string{`W/"a"`}, api.IfMatch{}}, // matches nothing
		{[]string{""}, api.IfMatch{}},
	} {
		l, err := parsed(api.ReplaceLens, request.Source{Header: func(string) []string { return c.headers }, Body: jsonBody(columns)}, "prism", "p")
		if err != nil || !reflect.DeepEqual(l.IfMatch, c.want) {
			t.Errorf("%q: %#v, %v", c.headers, l.IfMatch, err)
		}
	}
	for _, header := range []string{"a", `"a`, `"a"b`, `w/"a"`, `W/a`, "*,*", `"a" "b"`, `W/`, `"`} {
		_, err := parsed(api.ReplaceLens, request.Source{Header: request.Header(query("If-Match", header)), Body: jsonBody(columns)}, "prism", "p")
		wantProblems(t, err, "If-Match: Invalid entity tag")
	}
	for sent, want := range map[string]int32{"null": 0, "1": 1, "2147483647": 2147483647} {
		v, err := parsed(api.CreateVersion, request.Source{Header: request.Header(query("If-Match", `"a"`)), Body: jsonBody(edit("if_latest", json.RawMessage(sent)))}, "prism", "p")
		if err != nil || v.IfLatest != want || len(v.IfMatch) != 1 {
			t.Errorf("%s: %d, %v", sent, v.IfLatest, err)
		}
	}
	for sent, want := range map[string]string{
		"0": "Number must be greater than or equal to 1", "1.5": "Expected integer, received float", `"1"`: "Expected number, received string",
	} {
		_, err := parsedBody(api.CreateVersion, edit("if_latest", json.RawMessage(sent)), "prism", "p")
		wantProblems(t, err, "if_latest: "+want)
	}
}

// spec: prism-rename
func TestANameIsThereAndMayBeNone(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{`"n"`: "n", `""`: "", "null": ""} {
		got, err := parsedBody(api.RenamePrism, `{"name":`+sent+`}`, "prism", anID)
		if err != nil || got.Prism.ID.String() != anID || (got.Name == nil) != (sent == "null") || got.Name != nil && *got.Name != want {
			t.Errorf("%s: %+v %v", sent, got, err)
		}
	}
	for sent, want := range map[string]string{
		`{}`:                                  "name: Required",
		`{"name":1}`:                          "name: Expected string, received number",
		`{"name":"` + repeat("é", 201) + `"}`: "name: String must contain at most 200 character(s)",
	} {
		_, err := parsedBody(api.RenamePrism, sent, "prism", "p")
		wantProblems(t, err, want)
	}
}

// spec: prism-list
func TestPrismsAreListedByWhetherTheyAreArchived(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"": "false", "false": "false", "true": "true", "all": "all"} {
		got, err := parsed(api.ListPrisms, request.Source{Query: query("archived", sent)})
		if err != nil || got.Archived != want || got.Limit != 50 {
			t.Errorf("%q: %+v, %v", sent, got, err)
		}
	}
}

// spec: version-list, page-cursor
func TestAPageOfVersionsIsReadFromTheQuery(t *testing.T) {
	t.Parallel()
	cursor := contract.ListOfVersions.Cursor(contract.VersionRow(7))
	got, err := parsed(api.ListVersions, request.Source{Query: query("limit", "3", "cursor", cursor)}, "prism", "p")
	if err != nil || got.Prism.Slug != "p" || got.Limit != 3 || got.Cursor != cursor {
		t.Errorf("%+v %v", got, err)
	}
	another := contract.ListOfPrisms.Cursor(contract.VersionRow(7))
	_, err = parsed(api.ListVersions, request.Source{Query: query("limit", "0", "cursor", another)}, "prism", "p")
	wantProblems(t, err, "limit: Number must be greater than or equal to 1; cursor: Invalid cursor")
}

// spec: dry-run
func TestDryRunIsABooleanBehindEverythingElse(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]bool{"true": true, "false": false, "null": false} {
		p, err := parsedBody(api.CreatePrism, edit("dry_run", json.RawMessage(sent)))
		if err != nil || p.DryRun != want {
			t.Errorf("a prism with %s: %v, %v", sent, p.DryRun, err)
		}
		v, err := parsedBody(api.CreateVersion, edit("dry_run", json.RawMessage(sent)), "prism", "p")
		if err != nil || v.DryRun != want {
			t.Errorf("a version with %s: %v, %v", sent, v.DryRun, err)
		}
		l, err := parsedBody(api.ReplaceLens, `{"columns":[{"name":"p","question":"q","show":"answer"}],"dry_run":`+sent+`}`, "prism", "p")
		if err != nil || l.DryRun != want {
			t.Errorf("a Lens with %s: %v, %v", sent, l.DryRun, err)
		}
	}
	_, err := parsedBody(api.ReplaceLens, `{"columns":[],"dry_run":1}`, "prism", "p")
	wantProblems(t, err, "columns: Array must contain at least 1 element(s); dry_run: Expected boolean, received number")
}

// spec: nul-and-surrogates
func TestEveryBodyOfTheManagementAPIFollowsOneRule(t *testing.T) {
	t.Parallel()
	for name, parse := range map[string]func(request.Body) error{
		"new prism": func(b request.Body) error { _, err := parsed(api.CreatePrism, request.Source{Body: b}); return err },
		"new version": func(b request.Body) error {
			_, err := parsed(api.CreateVersion, request.Source{Body: b}, "prism", "p")
			return err
		},
		"name": func(b request.Body) error {
			_, err := parsed(api.RenamePrism, request.Source{Body: b}, "prism", "p")
			return err
		},
		"lens": func(b request.Body) error {
			_, err := parsed(api.ReplaceLens, request.Source{Body: b}, "prism", "p")
			return err
		},
		"new key": func(b request.Body) error { _, err := parsed(api.CreateKey, request.Source{Body: b}); return err },
	} {
		wantProblems(t, parse(request.Body{}), "body: Required")
		wantProblems(t, parse(textBody("{}")), "body: Expected object, received string")
		wantProblems(t, parse(jsonBody("null")), "body: Expected object, received null")
		wantProblems(t, parse(jsonBody("")), malformed)
		wantProblems(t, parse(jsonBody(`{"a":}`)), malformed)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
