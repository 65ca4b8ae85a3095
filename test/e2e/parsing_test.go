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
			// spec: exact-paths
			{"paths are case-sensitive", call{path: "/V1/results/{one_ok}"}, noRoute},
			// spec: exact-paths
			{"a doubled slash is another path", call{path: "/v1//results/{one_ok}"}, noRoute},
			// spec: unknown-methods
			{"a known path with another method is no route", call{method: "PUT", path: "/v1/results/{one_ok}"}, noRoute},
			// spec: unknown-methods
			{"OPTIONS on a known path is no route", call{method: "OPTIONS", path: "/v1/results/{one_ok}"}, noRoute},
			{"OPTIONS on an asterisk is no route", call{method: "OPTIONS", path: "*"}, noRoute},
			// spec: unknown-methods
			{"a method that nobody knows is no route", call{method: "BREW", path: "/v1/results/{one_ok}"}, noRoute},
			// spec: error-route-not-found
			{"unknown routes need no key", call{path: "/v2/results", auth: none}, noRoute},
			{"unknown routes do not look at the body", call{method: "POST", path: "/v2/results", body: "{", auth: none}, noRoute},
			// spec: path-encoding
			{"a percent sign without digits is malformed", call{path: "/v1/prisms/%zz/results", body: text("x")}, malformed},
			// spec: path-encoding
			{"a percent encoding that is not UTF-8 is malformed", call{path: "/v1/prisms/%ff/results", body: text("x")}, malformed},
			{"a malformed path needs no key", call{path: "/v1/prisms/%zz", auth: none}, malformed},
			// spec: path-encoding
			{
				"an encoded NUL is a problem of the path parameter",
				call{path: "/v1/prisms/%00/results", body: text("x")},
				invalid("prism: must not contain NUL or unpaired surrogate characters"),
			},
			{"an encoded slash stays inside its parameter", call{path: "/v1/prisms/a%2Fb/results", body: text("x")}, noPrism},

			// spec: unparsed-content-types
			{"a +json type is not parsed", call{path: createOne, body: text("x"), contentType: "application/vnd.api+json"}, unparsedType},
			// spec: unparsed-content-types
			{"a body without a content type is not parsed", call{path: createOne, body: text("x"), contentType: none}, unparsedType},
			// spec: unparsed-content-types
			{
				"an unparsed type wins over a body that is too large",
				call{path: createOne, body: strings.Repeat("x", 1<<20+1), contentType: "application/xml"},
				unparsedType,
			},
			{
				"an unparsed type wins on the retry too",
				call{path: "/v1/results/{one_failed}/retry", body: strings.Repeat("x", 1<<20+1), contentType: "application/xml"},
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

			{"white space alone is malformed", call{path: createOne, body: " \n"}, malformed},
			{"two values are malformed", call{path: createOne, body: "{} {}"}, malformed},
			{"a raw control character in a string is malformed", call{path: createOne, body: "{\"text\":\"a\nb\"}"}, malformed},
			{"bytes that are not UTF-8 in a member that is not read are malformed", call{path: createOne, body: "{\"text\":\"x\",\"note\":\"\xff\"}"}, malformed},
			// spec: byte-order-mark
			{"two byte-order marks are malformed", call{path: createOne, body: "\ufeff\ufeff" + text("x")}, malformed},
			// spec: nesting-limit
			{"nesting of 513 is malformed", call{path: createOne, body: nested(513)}, malformed},
			// spec: nesting-limit
			{"nesting of 500,000 is malformed and no crash", call{path: createOne, body: strings.Repeat("[", 500_000)}, malformed},
			{"nesting of 513 is malformed on the retry", call{path: "/v1/results/{one_failed}/retry", body: nested(513)}, malformed},
			// spec: duplicate-members
			{"of duplicate members the last counts, and fails", call{path: createOne, body: `{"text":"x","text":5}`}, invalid("text: Expected string, received number")},
			{"a version of 1e400 is a number that is no version", call{path: createOne, body: text("x", "version", raw("1e400"))}, invalidAt("version")},
		})

		for _, row := range []struct {
			name string
			call
		}{
			// spec: parsed-content-types
			{"content types may be in any letter case", call{body: text("x"), contentType: "APPLICATION/Json"}},
			{"content types may have parameters", call{body: text("x"), contentType: "application/json; charset=utf-8"}},
			// spec: byte-order-mark
			{"a leading byte-order mark is skipped", call{body: "\ufeff" + text("x")}},
			// spec: duplicate-members
			{"of duplicate members the last counts", call{body: `{"text":5,"te\u0078t":"x"}`}},
			// spec: nesting-limit
			{"nesting of 512 passes", call{body: nested(512)}},
			{"10E-1 is the integer 1", call{body: text("x", "version", raw("10E-1"))}},
			{"huge numbers in a member that is not read pass", call{body: text("x", "note", raw("1e400"))}},
		} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				row.path = s.fill(t, createOne)
				s.main.do(t, row.call).ok(t)
			})
		}

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
