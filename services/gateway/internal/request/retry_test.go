package request_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: retry-many-request, retry-many-limit
func TestARetryOfManyIsReadFromTheBody(t *testing.T) {
	t.Parallel()
	slug := prism.Ref{Slug: "tickets"}
	at := time.Date(2026, 1, 2, 1, 4, 5, 500_000, time.UTC)
	for body, want := range map[string]contract.ResultRetry{
		`{"prism":"tickets","status":"failed","expect":0,"other":1}`:                               {Prism: slug},
		`{"prism":"tickets","status":"failed","expect":1e6,"from":null,"dry_run":false}`:           {Prism: slug, Expect: 1_000_000},
		`{"prism":"tickets","status":"failed","dry_run":true}`:                                     {Prism: slug, DryRun: true},
		`{"prism":"tickets","status":"failed","expect":2,"dry_run":true}`:                          {Prism: slug, Expect: 2, DryRun: true},
		`{"prism":"tickets","status":"failed","expect":3,"to":"0001-01-01T00:00:00Z"}`:             {Prism: slug, Expect: 3, To: time.Time{}.Add(1)},
		`{"prism":"tickets","status":"failed","expect":3,"from":"2026-01-02T03:04:05.0005+02:00"}`: {Prism: slug, Expect: 3, From: at},
	} {
		if got, err := request.ParseResultRetry(jsonBody(body)); err != nil || got != want {
			t.Errorf("%s: got %+v %v, want %+v", body, got, err, want)
		}
	}
	for body, want := range map[string]string{
		`{}`: "prism: Required; status: Required; expect: Required",
		`{"prism":"","status":"ok","from":1,"to":"x","expect":-1,"dry_run":1}`: "prism: String must contain at least 1 character(s); " +
			"status: Expected 'failed'; from: Expected string, received number; to: Invalid datetime; " +
			"expect: Number must be greater than or equal to 0; dry_run: Expected boolean, received number",
		`{"prism":"p","status":null,"expect":1000001}`: "status: Expected string, received null; " +
			"expect: Number must be less than or equal to 1000000",
		`{"prism":"p","status":"failed","dry_run":false,"expect":null}`: "expect: Expected number, received null",
		`{"prism":"` + strings.Repeat("p", 201) + `","status":"failed","expect":0.5}`: "prism: String must contain at most 200 character(s); " +
			"expect: Expected integer, received float",
		`[]`: "body: Expected object, received array",
	} {
		if _, err := request.ParseResultRetry(jsonBody(body)); err == nil || err.Error() != "400 Invalid request: "+want {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}
