package request_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: retry-many-request, retry-many-limit
func TestARetryOfManyIsReadFromTheBody(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 1, 4, 5, 500_000, time.UTC)
	number := func(n int) *int { return &n }
	for body, want := range map[string]api.ResultRetry{
		`{"prism":"tickets","status":"failed","expect":0,"other":1}`:                     {Expect: number(0)},
		`{"prism":"tickets","status":"failed","expect":1e6,"from":null,"dry_run":false}`: {Expect: number(1_000_000)},
		`{"prism":"tickets","status":"failed","dry_run":true}`:                           {DryRun: true},
		`{"prism":"tickets","status":"failed","expect":2,"dry_run":true}`:                {Expect: number(2), DryRun: true},
		`{"prism":"tickets","status":"failed","expect":3,"q":"a","where":["q:labelled"]}`: {
			Expect: number(3), SearchMembers: api.SearchMembers{Q: "a", Where: []string{"q:labelled"}},
		},
		`{"prism":"tickets","status":"failed","expect":3,"to":"0001-01-01T00:00:00Z"}`:             {Expect: number(3), To: new(time.Time{})},
		`{"prism":"tickets","status":"failed","expect":3,"from":"2026-01-02T03:04:05.0005+02:00"}`: {Expect: number(3), From: &at},
	} {
		want.Prism, want.Status = "tickets", prism.Failed
		if got, err := parsedBody(api.RetryResults, body); err != nil || !reflect.DeepEqual(got.ResultRetry, want) {
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
		if _, err := parsedBody(api.RetryResults, body); err == nil || err.Error() != "400 Invalid request: "+want {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}
