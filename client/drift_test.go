package client

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/client/prismtest"

	"github.com/prism-results/prism/pkg/api"
)

type (
	document31 struct {
		Paths      map[string]map[string]operation
		Components struct {
			Parameters map[string]parameter
			Schemas    map[string]schema
			Examples   map[string]struct{ Value json.RawMessage }
		}
	}
	operation struct {
		OperationID string
		Parameters  []parameter
		RequestBody struct {
			Content map[string]struct{ Schema schema }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	parameter struct {
		Ref    string `json:"$ref"`
		Name   string
		In     string
		Schema schema
	}
	schema struct {
		Ref          string `json:"$ref"`
		Type         any    // one type or several
		Const        any
		Enum         []string
		Required     []string
		Properties   map[string]schema
		Items        *schema
		AnyOf, OneOf []schema
	}
)

func openAPI(t *testing.T) document31 {
	t.Helper()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "services/gateway/internal/apidoc/openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d document31
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d document31) parameters(o operation) (names []string) {
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[base(p.Ref)]
		}
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func base(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// recorder keeps the request and answers nothing.
type recorder struct {
	request *http.Request
	body    []byte
}

var errRecorded = errors.New("recorded")

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.request = req
	if req.Body != nil {
		r.body, _ = io.ReadAll(req.Body)
	}
	return nil, errRecorded
}

// TestTheClientHasEveryOperationOfTheDocument holds that the client can send everything that the document describes.
func TestTheClientHasEveryOperationOfTheDocument(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	described := map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			if op, _ := api.Find(o.OperationID); op.Declared().Foreign {
				continue // clients of others call it
			}
			described[o.OperationID] = true
			t.Run(o.OperationID, func(t *testing.T) {
				t.Parallel()
				if _, ok := reflect.TypeFor[*Client]().MethodByName(strings.ToUpper(o.OperationID[:1]) + o.OperationID[1:]); !ok {
					t.Fatal("the client has no method of this name")
				}
				call, ok := everything[o.OperationID]
				if !ok {
					t.Fatal("no test calls it")
				}
				r := &recorder{}
				c, err := New(Config{URL: "http://prism.test", Key: "k", Transport: r, Attempts: 1})
				if err != nil {
					t.Fatal(err)
				}
				if err := call(t.Context(), c); !errors.Is(err, errRecorded) {
					t.Fatal(err)
				}
				if check, ok := dryRuns[o.OperationID]; ok {
					var sent map[string]any
					if _ = json.Unmarshal(r.body, &sent); sent["dry_run"] != nil {
						t.Error("it is a dry run")
					}
					if err := check(t.Context(), c); !errors.Is(err, errRecorded) {
						t.Fatal(err)
					}
				}
				wantPath := strings.NewReplacer("{prism}", "a", "{result_id}", "a", "{key_id}", "a", "{version}", "1",
					"{file_id}", "a", "{member_id}", "a", "{calibration_id}", "a", "{run_id}", "a", "{name}", "a", "{n}", "1", "{view_id}", "a", "{comment_id}", "a",
					"{webhook_id}", "a", "{delivery_id}", "a").Replace(path)
				if r.request.Method != strings.ToUpper(method) || r.request.URL.Path != wantPath {
					t.Errorf("sent %s %s, want %s %s", r.request.Method, r.request.URL.Path, method, wantPath)
				}
				wantNames(t, "query", slices.Sorted(maps.Keys(r.request.URL.Query())), d.parameters(o))
				var sent map[string]any
				_ = json.Unmarshal(r.body, &sent)
				wanted := d.Components.Schemas[base("/"+o.RequestBody.Content["application/json"].Schema.Ref)]
				if o.OperationID == "retryResults" || o.OperationID == "assignResults" { // the dry run finds the number
					delete(wanted.Properties, "expect")
				}
				wantNames(t, "body", slices.Sorted(maps.Keys(sent)), slices.Sorted(maps.Keys(wanted.Properties)))
			})
		}
	}
	for name := range everything {
		if !described[name] {
			t.Errorf("%s is not in the document", name)
		}
	}
}

// TestEveryErrorOfTheDocumentHasItsCode sends the document's own error examples.
func TestEveryErrorOfTheDocumentHasItsCode(t *testing.T) {
	t.Parallel()
	codes := map[Code]error{
		CodeValidationFailed: ErrValidationFailed, CodeBadRequest: ErrBadRequest, CodeUnauthorized: ErrUnauthorized,
		CodeNotFound: ErrNotFound, CodeConflict: ErrConflict, CodeInternal: ErrInternal,
	}
	d, seen := openAPI(t), map[Code]bool{}
	for name, example := range d.Components.Examples {
		var e struct {
			Error struct {
				Code    Code
				Message string
			}
		}
		if json.Unmarshal(example.Value, &e) != nil || e.Error.Code == "" {
			continue
		}
		seen[e.Error.Code] = true
		c := answering(t, 400, "application/json; charset=utf-8", string(example.Value))
		_, err := c.ReadResult(t.Context(), "a")
		var refused *Error
		if !errors.As(err, &refused) || !errors.Is(err, codes[refused.Code]) || refused.Code != e.Error.Code || refused.Message != e.Error.Message {
			t.Errorf("%s: got %#v", name, err)
		}
		for code, other := range codes {
			if code != e.Error.Code && errors.Is(err, other) {
				t.Errorf("%s is %s too", name, code)
			}
		}
	}
	for code := range codes {
		if !seen[code] {
			t.Errorf("the document has no example of %s", code)
		}
	}
}

func wantNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the %s has %v, want %v", what, got, want)
	}
}
