package httpkit

import (
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"pgregory.net/rapid"
)

// spec: exact-paths, unknown-methods, head-requests, path-encoding
func TestPathsAreExact(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		echo(app)
		app.Get("/v1/prisms/:prism/versions/:version", func(c *fiber.Ctx) error {
			return Send(c, 200, JSONType, []byte(Param(c, "prism")+" "+Param(c, "version")))
		})
	})
	host := " HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct {
		name, request string
		status        int
		body          string
	}{
		{"a route", get("/v1/results/a"), 200, `{"id":"a"}`},
		{"a query is no part of it", get("/v1/results/a?b=/c%zz"), 200, `{"id":"a"}`},
		{"an escape is decoded", get("/v1/results/%61%C3%A9"), 200, `{"id":"aé"}`},
		{"raw UTF-8 is decoded too", get("/v1/results/é"), 200, `{"id":"é"}`},
		{"a plus is a plus", get("/v1/results/a+b"), 200, `{"id":"a+b"}`},
		{"an escaped slash stays inside", get("/v1/results/a%2Fb"), 200, `{"id":"a/b"}`},
		{"a doubly escaped slash is decoded once", get("/v1/results/a%252Fb"), 200, `{"id":"a%2Fb"}`},
		{"NUL is left to the caller", get("/v1/results/%00"), 200, "{\"id\":\"\x00\"}"},
		{"dots and dashes do not end a parameter", get("/v1/prisms/a.b-c:d/versions/1"), 200, "a.b-c:d 1"},
		{"a parameter may be called like a segment", get("/v1/prisms/versions/versions/1"), 200, "versions 1"},
		{"absolute form", "GET http://y/v1/results/a" + host, 200, `{"id":"a"}`},
		{"absolute form without a path", "GET http://y" + host, 404, notFoundBody},
		{"absolute form with a query alone", "GET http://y?a=/v1/results/a" + host, 404, notFoundBody},

		{"letter case counts", get("/V1/results/a"), 404, notFoundBody},
		{"trailing slash", get("/v1/results/a/"), 404, notFoundBody},
		{"empty parameter", get("/v1/results/"), 404, notFoundBody},
		{"doubled slash", get("/v1//results/a"), 404, notFoundBody},
		{"doubled slash first", get("//v1/results/a"), 404, notFoundBody},
		{"doubled slash first without a host", "GET //v1/results/a HTTP/1.0\r\n\r\n", 404, notFoundBody},
		{"doubled slash that hides a host", "GET //x/v1/results/a HTTP/1.0\r\n\r\n", 404, notFoundBody},
		{"dot segments", get("/v1/x/../results/a"), 404, notFoundBody},
		{"a dot segment", get("/v1/./results/a"), 404, notFoundBody},
		{"escaped literal", get("/v1/%72esults/a"), 404, notFoundBody},
		{"escaped slash between literals", get("/v1%2Fresults/a"), 404, notFoundBody},
		{"backslash", get(`/v1\results/a`), 404, notFoundBody},
		{"the root", get("/"), 404, notFoundBody},
		{"an unknown path", get("/nothing"), 404, notFoundBody},

		{"another method", "DELETE /v1/results/a" + host, 404, notFoundBody},
		{"OPTIONS", "OPTIONS /v1/results/a" + host, 404, notFoundBody},
		{"OPTIONS of everything", "OPTIONS *" + host, 404, notFoundBody},
		{"TRACE", "TRACE /v1/results/a" + host, 404, notFoundBody},
		{"CONNECT", "CONNECT y:443" + host, 404, notFoundBody},
		{"an unknown method", "BREW /v1/results/a" + host, 404, notFoundBody},
		{"a method in lower case", "get /v1/results/a" + host, 404, notFoundBody},

		{"no escape", get("/v1/results/%zz"), 400, malformedBody},
		{"half an escape", get("/v1/results/%6"), 400, malformedBody},
		{"an escape that is not UTF-8", get("/v1/results/%ff"), 400, malformedBody},
		{"a raw byte that is not UTF-8", get("/v1/results/\xff"), 400, malformedBody},
		{"an escaped surrogate", get("/v1/results/%ED%A0%80"), 400, malformedBody},
		{"an overlong slash", get("/v1/results/%C0%AF"), 400, malformedBody},
		{"on an unknown route", get("/nothing/%zz"), 400, malformedBody},
		{"with an unknown method", "BREW /nothing/%ff" + host, 400, malformedBody},
		{"a fragment", get("/v1/results/a#b"), 400, malformedBody},
		{"absolute form with half an escape", "GET http://y%@f/v1/results/a" + host, 400, malformedBody},
		{"absolute form without a port", "GET http://y:z/v1/results/a" + host, 400, malformedBody},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.once(c.request)
			wantReply(t, got, c.status, c.body)
			if got.header.Get("Allow") != "" {
				t.Error("an Allow header tells that the path is known")
			}
			if got.header.Get("Server") != "" {
				t.Error("a Server header")
			}
		})
	}
}

func TestHeadAnswersAsGetWithoutABody(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	p := r.dial()
	head := p.send("HEAD /v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n").reply("HEAD")
	wantReply(t, head, 200, "")
	full := p.send(get("/v1/results/a")).reply("GET")
	wantReply(t, full, 200, `{"id":"a"}`)
	for _, name := range []string{"Content-Length", "Content-Type"} {
		if head.header.Get(name) != full.header.Get(name) {
			t.Errorf("%s: HEAD %q, GET %q", name, head.header.Get(name), full.header.Get(name))
		}
	}
	for _, path := range []string{"/unread", "/nothing", "/v1/results/%zz"} {
		got := p.send("HEAD " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").reply("HEAD")
		if got.body != "" || got.status != 404 && path != "/v1/results/%zz" {
			t.Errorf("HEAD %s: %d %q", path, got.status, got.body)
		}
	}
	wantReply(t, p.send(get("/v1/results/b")).reply("GET"), 200, `{"id":"b"}`)
}

// Fiber's strings are views into a buffer that the next request on the connection is read into.
func TestParametersOutliveTheirRequest(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 2)
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		app.Get("/kept/:name", func(c *fiber.Ctx) error {
			seen <- Param(c, "name")
			return Send(c, 200, "text/plain", nil)
		})
	})
	p := r.dial()
	p.send(get("/kept/first")).reply("GET")
	first := <-seen
	p.send(get("/kept/other")).reply("GET")
	if first != "first" {
		t.Errorf("the first request's parameter became %q", first)
	}
}

func TestPathDecodingAgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.StringMatching(`%[0-9a-fA-FgG]{0,2}`), rapid.StringMatching(`[a-z/.]{1,3}`),
		rapid.Map(rapid.Byte(), func(b byte) string { return string([]byte{b}) }))
	rapid.Check(t, func(t *rapid.T) {
		path := ""
		for _, p := range rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces") {
			path += p
		}
		decoded, err := url.PathUnescape(path)
		if want := err == nil && utf8.ValidString(decoded); decodesToUTF8([]byte(path)) != want {
			t.Fatalf("%q: got %v, want %v", path, !want, want)
		}
	})
}
