package openapi

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/program"
)

const (
	key = `{"id":"0198c000-0000-7000-8000-000000000000","name":"k","prefix":"prism_ab","role":"owner","expires_at":null,"created_at":"2026-01-02T03:04:05.678Z",` +
		`"last_used_at":null,"revoked_at":null}`
	result = `{"id":"0198c000-0000-7000-8000-000000000000","ref":null,"prism":"p","version":1,"status":"ok","error":null,"took_ms":1,` +
		`"created_at":"2026-01-02T03:04:05.678Z","answers":{"q":{"type":"yes_no","probability":0.5}}}`
	invalid = `{"error":{"code":"validation_failed","message":"m"}}`
	body    = `{"fields":{"f":"v"},"version":1}`
)

// TestCheckFindsWhatIsWrong makes one change to a correct exchange, or to its document.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	list := Exchange{Method: "GET", Target: "/v1/keys", Status: 200, Response: []byte(`{"data":[` + key + `],"next_cursor":null}`)}
	create := Exchange{
		Method: "POST", Target: "/v1/prisms/p/results?format=raw", ContentType: "application/json; charset=utf-8", Body: body,
		Status: 200, Response: []byte(result),
	}
	refused := Exchange{Method: "GET", Target: "/v1/prisms?limit=0", Status: 400, Response: []byte(invalid)}
	prisms := Exchange{Method: "GET", Target: "/v1/prisms?limit=100", Status: 200, Response: []byte(`{"data":[],"next_cursor":null}`)}
	rows := Exchange{
		Method: "GET", Target: "/v1/prisms/p/results?format=tsv", Status: 200, Response: []byte("result_id\tref\n"),
		Header: http.Header{"Content-Type": {"text/tab-separated-values; charset=utf-8"}, "Vary": {"Accept-Encoding"}},
	}
	status := func(code int) func(*Exchange) { return func(x *Exchange) { x.Status = code } }
	target := func(path string) func(*Exchange) { return func(x *Exchange) { x.Target = path } }
	sends := func(body string) func(*Exchange) { return func(x *Exchange) { x.Body = body } }
	responses := func(old, now string) func(*Exchange) {
		return func(x *Exchange) { x.Response = bytes.Replace(x.Response, []byte(old), []byte(now), 1) }
	}
	media := func(value string) func(*Exchange) { return func(x *Exchange) { x.Header.Set("Content-Type", value) } }

	source := document(t)
	unchanged, err := New([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		of       Exchange
		change   func(*Exchange)
		old, now string // in the document
		want     string // a part of what is found; "" for nothing
	}{
		{name: "a list", of: list},
		{name: "a result", of: create},
		{name: "a failed result", of: create, change: func(x *Exchange) {
			x.Status = 502
			x.Response = bytes.Replace(x.Response, []byte(`{"q":{"type":"yes_no","probability":0.5}}`), []byte("null"), 1)
		}},
		{name: "a refusal", of: refused},
		{name: "rows", of: rows},
		{name: "HEAD", of: list, change: func(x *Exchange) { x.Method, x.Response = "HEAD", nil }},
		{name: "a page that is no operation", of: list, change: target("/docs")},
		{name: "an unknown member of a call is ignored", of: create, change: sends(`{"text":"","idempotencyKey":1}`)},
		{name: "numbers are JavaScript's", of: create, change: sends(`{"text":"","version":1.00000000000000001}`)},
		{name: "numbers of unknown members are any", of: create, change: sends(`{"text":"","x":1e400}`)},
		{name: "a byte-order mark", of: create, change: sends("\ufeff" + body)},

		{name: "an unknown route", of: list, change: target("/v1/key"), want: "no operation is described"},
		{name: "an unknown method", of: list, change: func(x *Exchange) { x.Method = "PATCH" }, want: "no operation is described"},
		{name: "a missing route", of: refused, change: func(x *Exchange) {
			x.Status, x.Response = 404, []byte(`{"error":{"code":"not_found","message":"Route not found"}}`)
		}, want: "there is no such route"},
		{name: "another status", of: refused, change: status(409), want: "status is not supported"},
		{name: "another media type", of: list, change: media("text/csv; charset=utf-8"), want: "unexpected value"},
		{name: "another character set", of: list, change: media("application/json"), want: "is not in UTF-8"},
		{name: "no header", of: list, change: func(x *Exchange) { delete(x.Header, "X-Request-Id") }, want: `"X-Request-Id" missing`},
		{name: "another value of a header", of: refused, change: func(x *Exchange) { x.Status, x.Header["Www-Authenticate"] = 401, []string{"Basic"} }, want: "WWW-Authenticate"},
		{name: "half a body", of: list, change: responses(`null}]`, `null`), want: "unexpected end of JSON"},
		{name: "a missing member", of: list, change: responses(`,"revoked_at":null`, ``), want: "revoked_at"},
		{name: "an unknown member of an answer", of: create, change: responses(`"probability"`, `"confidence":1,"probability"`), want: "confidence"},
		{name: "a parameter was taken", of: prisms, change: target("/v1/prisms?limit=101"), want: "it was taken: "},
		{name: "a number beyond all was taken", of: create, change: sends(`{"text":"","version":1e400}`), want: "it was taken: "},
		{name: "a body was taken", of: create, change: sends(`{"fields":{"f":1}}`), want: "it was taken: "},
		{name: "no body was taken", of: create, change: sends(``), want: "it was taken: "},
		{name: "another media type was taken", of: create, change: func(x *Exchange) { x.ContentType = "text/plain" }, want: "it was taken: "},

		{name: "a property is required", of: list, old: `"last_used_at", "revoked_at"]`, now: `"last_used_at", "revoked_at", "by"]`, want: "by"},
		{name: "an enum behind a reference is narrowed", of: create, old: `"enum": ["ok", "failed"]`, now: `"enum": ["failed"]`, want: "must be 'failed'"},
		{name: "a limit is narrowed", of: prisms, old: `"maximum": 100, "default": 50`, now: `"maximum": 99, "default": 50`, want: "it was taken: "},
		{name: "null is no more allowed", of: prisms, old: `"type": ["string", "null"],`, now: `"type": "string",`, want: "got null, want string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := unchanged
			if c.old != "" {
				if !strings.Contains(source, c.old) {
					t.Fatal("nothing is changed")
				}
				var err error
				if d, err = New([]byte(strings.ReplaceAll(source, c.old, c.now))); err != nil {
					t.Fatal(err)
				}
			}
			x := c.of
			x.Header = headers()
			for name, value := range c.of.Header {
				x.Header[name] = value
			}
			if c.change != nil {
				c.change(&x)
			}
			err := d.Check(x)
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// headers are those of every response under /v1.
func headers() http.Header {
	return http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "X-Request-Id": {"r"},
		"Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"},
	}
}

func TestUnusedOperationsAreNamed(t *testing.T) {
	t.Parallel()
	d, err := New([]byte(document(t)))
	if err != nil {
		t.Fatal(err)
	}
	before := d.Unused()
	x := Exchange{
		Method: "GET", Target: "/v1/keys", Status: 503, Response: []byte(`{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`),
		Header: headers(),
	}
	x.Header.Set("Retry-After", "1")
	if err := d.Check(x); err != nil || !slices.Contains(d.Unused(), "listKeys") {
		t.Errorf("a refused call: %v, %v", err, d.Unused())
	}
	x.Status, x.Response = 200, []byte(`{"data":[],"next_cursor":null}`)
	if err := d.Check(x); err != nil {
		t.Error(err)
	}
	want := slices.DeleteFunc(before, func(id string) bool { return id == "listKeys" })
	if after := d.Unused(); !slices.Equal(after, want) || len(after) != len(before)-1 {
		t.Errorf("got %v", after)
	}
}

func document(t *testing.T) string {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, Path))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}
