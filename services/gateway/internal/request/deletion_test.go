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
	const none = "400 Invalid request: ref: send at least one of ref, before, status, q and where"
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
