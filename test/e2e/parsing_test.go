package e2e

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestParsing holds what the gateway accepts of a path, a content type and a body.
// spec: api-version-prefix, json-syntax, javascript-numbers
func TestParsing(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		s.runFailing(t, []failing{
			// spec: exact-paths
			{"a trailing slash is another path", call{path: "/v1/results/{one_ok}/"}, noRoute},
			// spec: unknown-methods
			{"a method that nobody knows is no route", call{method: "BREW", path: "/v1/results/{one_ok}"}, noRoute},
			// spec: error-route-not-found
			{"unknown routes need no key", call{path: "/v2/results", auth: none}, noRoute},
			// spec: path-encoding
			{"a percent sign without digits is malformed", call{path: "/v1/prisms/%zz/results", body: text("x")}, malformed},
			{"an encoded slash stays inside its parameter", call{path: "/v1/prisms/a%2Fb/results", body: text("x")}, noPrism},

			// spec: unparsed-content-types
			{"a body without a content type is not parsed", call{path: createOne, body: text("x"), contentType: none}, unparsedType},
			// spec: unparsed-content-types
			{
				"an unparsed type wins over a body that is too large",
				call{path: createOne, body: strings.Repeat("x", 1<<20+1), contentType: "application/xml"},
				unparsedType,
			},
			{
				"a compressed body is not parsed",
				call{path: createOne, body: gzipped(text("x")), header: map[string][]string{"Content-Encoding": {"gzip"}}},
				unparsedType,
			},
			// spec: json-type-with-empty-body
			{
				"application/json with an empty body is malformed on the retry",
				call{method: "POST", path: "/v1/results/{one_failed}/retry", contentType: "application/json"},
				malformed,
			},
			// spec: body-of-create
			{
				"text/plain on the create call is no object",
				call{path: createOne, body: "x", contentType: "text/plain"},
				invalid("body: Expected object, received string"),
			},
			// spec: absent-body, body-of-create
			{"no content type and no body on the create call is a body required", call{method: "POST", path: createOne}, invalid("body: Required")},

			// spec: nesting-limit
			{"nesting of 513 is malformed", call{path: createOne, body: nested(513)}, malformed},
			// spec: duplicate-members
			{"of duplicate members the last counts, and fails", call{path: createOne, body: `{"text":"x","text":5}`}, invalid("text: Expected string, received number")},
		})

		// spec: prism-identity
		t.Run("an encoded slug is the slug", func(t *testing.T) {
			t.Parallel()
			slug := s.fill(t, "{one}")
			s.main.create(t, "%70"+slug[1:], text("x")).ok(t) // slugs begin with p
		})
		// spec: prism-identity
		t.Run("a prism is named by its id too", func(t *testing.T) {
			t.Parallel()
			s.main.create(t, strings.ToUpper(s.fill(t, "{one_id}")), text("x")).ok(t)
		})
		// spec: head-requests
		t.Run("HEAD answers as GET without a body", func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/v1/results/{one_ok}", "/v1/results/{one_ok}?format=csv", "/v1/results/{absent}", "/v1/prisms", "/v1/results/{one_ok}/retry"} {
				in := call{path: s.fill(t, path)}
				get := s.main.do(t, in)
				in.method = "HEAD"
				head := s.main.do(t, in)
				wantEqual(t, path+": the status", head.status, get.status)
				wantEqual(t, path+": the content type", head.header.Get("Content-Type"), get.header.Get("Content-Type"))
				wantEqual(t, path+": the body", string(head.body), "")
			}
		})
	})
}

// nested is a create call whose deepest value is at this depth; the body itself is at depth 1.
func nested(depth int) string {
	return text("x", "note", raw(strings.Repeat("[", depth-1)+strings.Repeat("]", depth-1)))
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}
