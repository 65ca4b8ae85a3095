package request_test

import (
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: retention-set
func TestARetentionIsReadFromTheBody(t *testing.T) {
	t.Parallel()
	parse := func(body string) (any, error) {
		parsed, err := request.NewParser(api.SetRetention).Parse(request.Source{
			Param: func(string) string { return "tickets" }, Body: jsonBody(body),
		})
		return parsed.Request, err
	}
	for body, want := range map[string]*int{
		`{"days":1}`: new(int(1)), `{"days":3650}`: new(int(3650)), `{"days":null}`: nil, `{"days":7e1}`: new(int(70)),
	} {
		request := &api.SetRetentionRequest{Prism: prism.Ref{Slug: "tickets"}, Retention: api.Retention{Days: want}}
		if got, err := parse(body); err != nil || !reflect.DeepEqual(got, request) {
			t.Errorf("%s: got %+v %v, want %+v", body, got, err, request)
		}
	}
	for body, want := range map[string]string{
		`{}`:            "days: Required",
		`{"days":"1"}`:  "days: Expected number, received string",
		`{"days":0}`:    "days: Number must be greater than or equal to 1",
		`{"days":3651}`: "days: Number must be less than or equal to 3650",
		`{"days":1.5}`:  "days: Expected integer, received float",
	} {
		_, err := parse(body)
		wantProblems(t, err, want)
	}
}

// TestEveryOperationCanBeParsed holds that each type of each declared member has a reader.
func TestEveryOperationCanBeParsed(t *testing.T) {
	t.Parallel()
	for _, op := range api.Operations() {
		request.NewParser(op) // panics where there is none
	}
}
