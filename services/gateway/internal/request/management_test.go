package request_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

func TestLensIsReadWithItsTypes(t *testing.T) {
	t.Parallel()
	ref, got, err := request.ParseLens(anID, jsonBody(
		`{"columns":[{"name":"p","question":"kind","show":"probability","option":"bug","yes_at":null}]}`))
	want := prism.Lens{Columns: []prism.Column{{Name: "p", Question: "kind", Show: prism.ShowProbability, Option: "bug"}}}
	if err != nil || ref.ID.String() != anID || !reflect.DeepEqual(got, contract.NewLens{Lens: want}) {
		t.Errorf("got %v %+v %v", ref, got, err)
	}
	_, _, err = request.ParseLens("a\x00", jsonBody(`{"columns":[1,{"name":null,"question":"q","show":"answer","no_at":[]}]}`))
	wantProblems(t, err, "prism: "+unclean+"; columns.0: Expected object, received number; "+
		"columns.1.name: Expected string, received null; columns.1.no_at: Expected number, received array")
	_, _, err = request.ParseLens("p", jsonBody(`{}`))
	wantProblems(t, err, "columns: Required")
}

// spec: dry-run
func TestDryRunIsABooleanBehindEverythingElse(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]bool{"true": true, "false": false, "null": false} {
		p, err := request.ParseNewPrism(jsonBody(edit("dry_run", json.RawMessage(sent))))
		if err != nil || p.DryRun != want {
			t.Errorf("a prism with %s: %v, %v", sent, p.DryRun, err)
		}
		_, v, err := request.ParseNewVersion("p", jsonBody(edit("dry_run", json.RawMessage(sent))))
		if err != nil || v.DryRun != want {
			t.Errorf("a version with %s: %v, %v", sent, v.DryRun, err)
		}
		_, l, err := request.ParseLens("p", jsonBody(`{"columns":[{"name":"p","question":"q","show":"answer"}],"dry_run":`+sent+`}`))
		if err != nil || l.DryRun != want {
			t.Errorf("a Lens with %s: %v, %v", sent, l.DryRun, err)
		}
	}
	_, _, err := request.ParseLens("p", jsonBody(`{"columns":[],"dry_run":1}`))
	wantProblems(t, err, "columns: Array must contain at least 1 element(s); dry_run: Expected boolean, received number")
}

// spec: nul-and-surrogates
func TestEveryBodyOfTheManagementAPIFollowsOneRule(t *testing.T) {
	t.Parallel()
	for name, parse := range map[string]func(request.Body) error{
		"new prism":   func(b request.Body) error { _, err := request.ParseNewPrism(b); return err },
		"new version": func(b request.Body) error { _, _, err := request.ParseNewVersion("p", b); return err },
		"lens":        func(b request.Body) error { _, _, err := request.ParseLens("p", b); return err },
		"new key":     func(b request.Body) error { _, err := request.ParseNewKey(b); return err },
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
