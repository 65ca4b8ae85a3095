package request_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

const (
	anID      = "018f2f2e-7b1c-7d39-9a55-0123456789ab"
	unclean   = "must not contain NUL or unpaired surrogate characters"
	malformed = "malformed" // stands for apierr.Malformed in tables
)

func jsonBody(s string) request.Body { return request.Body{Kind: httpkit.JSON, Bytes: []byte(s)} }

func textBody(s string) request.Body { return request.Body{Kind: httpkit.Text, Bytes: []byte(s)} }

// problems is what the answer lists, "" for a valid request.
func problems(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	if errors.Is(err, apierr.Malformed()) {
		return malformed
	}
	var e *apierr.Error
	if !errors.As(err, &e) || e.Status != 400 || e.Code != apierr.CodeValidation {
		t.Fatalf("not a validation error: %v", err)
	}
	list, ok := strings.CutPrefix(e.Message, "Invalid request: ")
	if !ok {
		t.Fatalf("message %q", e.Message)
	}
	return list
}

func wantProblems(t *testing.T, err error, want string) {
	t.Helper()
	if got := problems(t, err); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// query is a request.Query of name, value, name, value …
func query(pairs ...string) request.Query {
	return func(name string) []string {
		var sent []string
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				sent = append(sent, pairs[i+1])
			}
		}
		return sent
	}
}

// parsed is a request of a declared operation, whose path has these parameters.
func parsed[In, Out any](op api.Op[In, Out], from request.Source, path ...string) (In, error) {
	from.Param = func(name string) string {
		for i := 0; i < len(path); i += 2 {
			if path[i] == name {
				return path[i+1]
			}
		}
		return ""
	}
	if from.Query == nil {
		from.Query = query()
	}
	p, err := request.NewParser(op).Parse(from)
	if err != nil {
		var none In
		return none, err
	}
	return *p.Request.(*In), nil
}

// parsedBody is parsed of a body in JSON.
func parsedBody[In, Out any](op api.Op[In, Out], body string, path ...string) (In, error) {
	return parsed(op, request.Source{Body: jsonBody(body)}, path...)
}

// sentFormats is a request.Query of these values of format.
func sentFormats(sent []string) request.Query {
	return func(name string) []string {
		if name == "format" {
			return sent
		}
		return nil
	}
}

func parsedCreate(prism string, formats []string, b request.Body) (api.CreateResultRequest, error) {
	return parsed(api.CreateResult, request.Source{Query: sentFormats(formats), Body: b}, "prism", prism)
}

func parsedRead(id string, formats []string) (api.ResultInFormat, error) {
	return parsed(api.ReadResult, request.Source{Query: sentFormats(formats)}, "result_id", id)
}

func parsedRetry(id string, b request.Body) (api.ResultInFormat, error) {
	return parsed(api.RetryResult, request.Source{Body: b}, "result_id", id)
}

func parsedList(q request.Query) (api.ListResultsRequest, error) {
	return parsed(api.ListResults, request.Source{Query: q})
}

func parsedExport(prism string, q request.Query) (api.ExportResultsRequest, error) {
	return parsed(api.ExportResults, request.Source{Query: q}, "prism", prism)
}
