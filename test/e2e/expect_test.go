package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptrace"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// fail is an error as clients see it (spec: error-body).
type fail struct {
	status  int
	code    string
	message string // whole, or a regular expression when it begins with ^
}

// The errors that do not depend on the request.
var (
	malformed      = fail{400, "bad_request", "Malformed request"}
	authRequired   = fail{401, "unauthorized", "Authentication required"}
	invalidKey     = fail{401, "unauthorized", "Invalid API key"}
	noPrism        = fail{404, "not_found", "Prism not found"}
	noVersion      = fail{404, "not_found", "Prism version not found"}
	noResult       = fail{404, "not_found", "Result not found"}
	prismArchived  = fail{404, "not_found", "This prism is archived, so it cannot answer."}
	noRoute        = fail{404, "not_found", "Route not found"}
	otherPrism     = fail{409, "conflict", "This idempotency key was already used for another prism."}
	onlyFailed     = fail{409, "conflict", "Only a failed result can be retried."}
	slugTaken      = fail{409, "conflict", "A prism with this slug already exists."}
	unchangeable   = fail{409, "conflict", "This prism is archived."}
	bodyTooLarge   = fail{413, "bad_request", "Malformed request"}
	unparsedType   = fail{415, "bad_request", "Malformed request"}
	internalError  = fail{500, "internal_error", "Internal server error"}
	unknownFormat  = invalid("format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'")
	badResultID    = invalid("result_id: Invalid uuid")
	fieldsOrText   = invalid("fields: send either fields or text")
	tokensTooLarge = fail{
		400, "validation_failed",
		`^Request too large: about \d+ tokens of fields, context and the longest question, the limit is 26000$`,
	}
)

func invalid(problems string) fail {
	return fail{400, "validation_failed", "Invalid request: " + problems}
}

// invalidAt is a problem whose text the specification does not fix.
func invalidAt(path string) fail {
	return fail{400, "validation_failed", `^Invalid request: ` + regexp.QuoteMeta(path) + `: \S`}
}

func alreadyRetried(as string) fail {
	return fail{409, "conflict", "This result was already retried as " + as + "."}
}

// wantFail checks the whole of an error response.
func (r reply) wantFail(t *testing.T, want fail) {
	t.Helper()
	if r.status != want.status {
		t.Errorf("status %d, want %d: %.300s", r.status, want.status, r.body)
		return
	}
	r.wantType(t, "application/json; charset=utf-8")
	var got map[string]map[string]string
	if err := json.Unmarshal(r.body, &got); err != nil {
		t.Errorf("not an error body: %v: %.300s", err, r.body)
		return
	}
	message := got["error"]["message"]
	if pattern, ok := strings.CutPrefix(want.message, "^"); ok && regexp.MustCompile("^"+pattern).MatchString(message) {
		want.message = message
	}
	whole := map[string]map[string]string{"error": {"code": want.code, "message": want.message}}
	if !reflect.DeepEqual(got, whole) {
		t.Errorf("got %.300s, want %v", r.body, whole)
	}
	if got := r.header.Get("WWW-Authenticate"); (want.status == 401) != (got == "Bearer") {
		t.Errorf("WWW-Authenticate is %q with a %d", got, want.status)
	}
}

// wantUnavailable checks the 503 of a service that took nothing (spec: error-service-unavailable).
func (r reply) wantUnavailable(t *testing.T) {
	t.Helper()
	r.wantUnavailableBody(t)
	if r.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
	}
}

func (r reply) wantUnavailableBody(t *testing.T) {
	t.Helper()
	if r.status != 503 {
		t.Fatalf("status %d, want 503: %.300s", r.status, r.body)
	}
	var got any
	if err := json.Unmarshal(r.body, &got); err != nil {
		t.Fatalf("not JSON: %v: %s", err, r.body)
	}
	want := map[string]any{"error": "Service Unavailable", "message": "Service Unavailable", "statusCode": 503.0}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", r.body)
	}
}

func (r reply) wantStatus(t *testing.T, want int) {
	t.Helper()
	if r.status != want {
		t.Fatalf("status %d, want %d: %.400s", r.status, want, r.body)
	}
}

func (r reply) wantType(t *testing.T, want string) {
	t.Helper()
	if got := r.header.Get("Content-Type"); got != want {
		t.Errorf("Content-Type %q, want %q", got, want)
	}
}

func (r reply) wantBody(t *testing.T, want string) {
	t.Helper()
	if string(r.body) != want {
		t.Errorf("body\n%q\nwant\n%q", r.body, want)
	}
}

// decode reads a JSON body into v.
func (r reply) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v: %.400s", err, r.body)
	}
}

// result is a result in the formats json and raw.
type result struct {
	ID        string          `json:"id"`
	Ref       *string         `json:"ref"`
	Prism     string          `json:"prism"`
	Version   int             `json:"version"`
	Status    string          `json:"status"`
	Error     *string         `json:"error"`
	TookMS    int64           `json:"took_ms"`
	CreatedAt string          `json:"created_at"`
	Answers   json.RawMessage `json:"answers"`
}

// ok reads a result with the status ok.
func (r reply) ok(t *testing.T) result {
	t.Helper()
	r.wantStatus(t, 200)
	var res result
	r.decode(t, &res)
	if res.Status != "ok" || res.Error != nil || string(res.Answers) == "null" || res.ID == "" {
		t.Fatalf("not an ok result: %s", r.body)
	}
	return res
}

// failed reads a result with the status failed.
func (r reply) failed(t *testing.T) result {
	t.Helper()
	r.wantStatus(t, 502)
	var res result
	r.decode(t, &res)
	if res.Status != "failed" || res.Error == nil || string(res.Answers) != "null" || res.ID == "" {
		t.Fatalf("not a failed result: %s", r.body)
	}
	return res
}

// members are the member names of an object inside a JSON value, in the order written.
func members(t *testing.T, doc []byte, path ...string) []string {
	t.Helper()
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(doc, &object); err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		doc = object[name]
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		t.Fatalf("not an object at %v: %s", path, doc)
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(name))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// wantMembers checks names and order.
func wantMembers(t *testing.T, doc []byte, path []string, want ...string) {
	t.Helper()
	if got := members(t, doc, path...); !reflect.DeepEqual(got, want) {
		t.Errorf("members of %v are %q, want %q", path, got, want)
	}
}

// wantEqual compares two values.
func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// whenWritten calls fn when the request has gone out.
func whenWritten(ctx context.Context, fn func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { fn() }})
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// object writes a JSON object of pairs in their order. A value that is a json.RawMessage goes in as it is.
func object(pairs ...any) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.WriteString(quote(pairs[i].(string)))
		b.WriteByte(':')
		switch v := pairs[i+1].(type) {
		case string:
			b.WriteString(quote(v))
		case json.RawMessage:
			b.Write(v)
		default:
			raw, _ := json.Marshal(v)
			b.Write(raw)
		}
	}
	return b.String() + "}"
}

// text is the body of a create call with one field.
func text(value string, more ...any) string { return object(append([]any{"text", value}, more...)...) }

// raw is JSON that object writes as it is.
func raw(s string) json.RawMessage { return json.RawMessage(s) }
