package httpkit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apierr"
)

// What two parties could read in two ways is refused, and the connection closed: nobody knows where such a request ends.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	smuggled := get("/v1/results/smuggled")
	for name, request := range map[string]string{
		"length and chunks":              "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks and length":              "POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"two lengths":                    "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
		"two equal lengths":              "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
		"a list of lengths":              "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 4, 4\r\n\r\nabcd",
		"a signed length":                "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd",
		"a negative length":              "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"a length in hexadecimal":        "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 0x4\r\n\r\nabcd",
		"an immense length":              "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nabcd",
		"an empty length":                "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
		"two encodings":                  "POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"an unknown encoding":            "POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"the identity encoding":          "POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
		"chunks in 1.0":                  "POST /unread HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a folded line":                  "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n",
		"a folded encoding":              "POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"a line that begins with a tab":  "GET /v1/results/a HTTP/1.1\r\nHost: x\r\n\tX-A: b\r\n\r\n",
		"a first line that is folded":    "GET /v1/results/a HTTP/1.1\r\n Host: x\r\n\r\n",
		"a space before the colon":       "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length : 4\r\n\r\nabcd",
		"a space in a name":              "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n",
		"a name that is no token":        "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX(A): b\r\n\r\n",
		"an empty name":                  "GET /v1/results/a HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
		"no colon":                       "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX-A\r\n\r\n",
		"NUL in a value":                 "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX-A: b\x00c\r\n\r\n",
		"NUL in a name":                  "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX\x00A: b\r\n\r\n",
		"a bare CR in a value":           "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX-A: b\rc\r\n\r\n",
		"a bare CR that hides a length":  "POST /unread HTTP/1.1\r\nHost: x\r\nX-A: b\rContent-Length: 4\r\n\r\nabcd",
		"a bare LF":                      "GET /v1/results/a HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n",
		"a control character":            "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX-A: \x01\r\n\r\n",
		"no host":                        "GET /v1/results/a HTTP/1.1\r\n\r\n",
		"an empty host":                  "GET /v1/results/a HTTP/1.1\r\nHost:\r\n\r\n",
		"two hosts":                      "GET /v1/results/a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
		"a host that is none":            "GET /v1/results/a HTTP/1.1\r\nHost: x y\r\n\r\n",
		"version 0.9":                    "GET /v1/results/a HTTP/0.9\r\nHost: x\r\n\r\n",
		"version 1.2":                    "GET /v1/results/a HTTP/1.2\r\nHost: x\r\n\r\n",
		"version 2.0":                    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"version 3":                      "GET /v1/results/a HTTP/3.0\r\nHost: x\r\n\r\n",
		"a version in lower case":        "GET /v1/results/a http/1.1\r\nHost: x\r\n\r\n",
		"no version":                     "GET /v1/results/a\r\nHost: x\r\n\r\n",
		"two spaces":                     "GET  /v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n",
		"a space at the end":             "GET /v1/results/a HTTP/1.1 \r\nHost: x\r\n\r\n",
		"a tab in the line":              "GET\t/v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n",
		"a method that is no token":      "G(T /v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n",
		"no method":                      " /v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n",
		"a target without a slash":       "GET v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n",
		"NUL in the target":              "GET /v1/results/a\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
		"something that is not HTTP":     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"a word":                         "hello\r\n\r\n",
		"a length that is not one digit": "POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 4 4\r\n\r\nabcd",
	} {
		t.Run(name, func(t *testing.T) {
			p := r.dial()
			p.send(request + smuggled)
			got := p.reply("GET")
			wantError(t, got, 400, malformedBody)
			if !got.close {
				t.Error("not closed")
			}
			p.end()
		})
	}
}

// spec: header-limit
func TestHeadersOverTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	for name, request := range map[string]string{
		"a long line":     "GET /" + strings.Repeat("a", 40<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"a long header":   "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 40<<10) + "\r\n\r\n",
		"100,000 headers": "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-Aaaa: b\r\n", 100_000) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := r.dial()
			wantError(t, p.send(request).reply("GET"), 431, malformedBody)
			p.end()
		})
	}
	t.Run("14 KiB pass", func(t *testing.T) {
		wantReply(t, r.once("GET /v1/results/a HTTP/1.1\r\nHost: x\r\nX-A: "+strings.Repeat("a", 14<<10)+"\r\n\r\n"), 200, `{"id":"a"}`)
	})
}

func TestHTTP10IsSpoken(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	p := r.dial()
	wantReply(t, p.send("GET /v1/results/a HTTP/1.0\r\n\r\n").reply("GET"), 200, `{"id":"a"}`)
	p.end()
	p = r.dial()
	wantReply(t, p.send("GET /v1/results/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").reply("GET"), 200, `{"id":"a"}`)
	wantReply(t, p.send("GET /v1/results/b HTTP/1.0\r\n\r\n").reply("GET"), 200, `{"id":"b"}`)
	p.end()
}

func TestConnectionCloseIsHeardInAnyForm(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	for _, value := range []string{"close", "Close", "TE, CLOSE", " close ,TE"} {
		p := r.dial()
		got := p.send("GET /v1/results/a HTTP/1.1\r\nHost: x\r\nConnection:" + value + "\r\n\r\n").reply("GET")
		if !got.close {
			t.Errorf("%q: not closed", value)
		}
		p.end()
	}
}

// spec: request-id
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{NewID: func() string { return "made" }}, echo)
	long := strings.Repeat("a", 128)
	for sent, want := range map[string]string{
		"abc-DEF_1.2": "abc-DEF_1.2",
		long:          long,
		long + "a":    "made",
		"a b":         "made",
		"a/b":         "made",
		"é":           "made",
		"":            "made",
	} {
		got := r.once("GET /nothing HTTP/1.1\r\nHost: x\r\nX-Request-Id: " + sent + "\r\n\r\n")
		if id := got.header.Get("X-Request-Id"); id != want {
			t.Errorf("sent %q: got %q", sent, id)
		}
	}
	for name, request := range map[string]string{
		"none sent":        get("/v1/results/a"),
		"a malformed path": get("/%zz"),
		"no request":       "hello\r\n\r\n",
	} {
		if got := r.once(request); len(got.header.Values("X-Request-Id")) != 1 || got.header.Get("X-Request-Id") != "made" {
			t.Errorf("%s: got %q", name, got.header.Values("X-Request-Id"))
		}
	}
	got := r.once("GET /fails HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n")
	if ids := got.header.Values("X-Request-Id"); len(ids) != 1 || ids[0] != "mine" {
		t.Errorf("an error answer has %q", ids)
	}
}

func TestRequestIDsAreRandomByDefault(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	a, b := r.once(get("/v1/results/a")), r.once(get("/v1/results/a"))
	if ida, idb := a.header.Get("X-Request-Id"), b.header.Get("X-Request-Id"); ida == idb || len(ida) != 32 {
		t.Errorf("got %q and %q", ida, idb)
	}
}

func TestErrorsAreWrittenInOnePlace(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		echo(app)
		app.Get("/wrapped", func(*fiber.Ctx) error { return fmt.Errorf("behind: %w", apierr.PrismNotFound()) })
		app.Get("/away", func(*fiber.Ctx) error { return apierr.Unavailable() })
		app.Get("/half", func(c *fiber.Ctx) error {
			c.Set("X-Half", "written")
			_ = Send(c, 200, "text/csv", []byte("a,b"))
			return apierr.ResultNotFound()
		})
		app.Get("/fiber", func(*fiber.Ctx) error { return fiber.ErrBadGateway })
	})
	got := r.once(get("/denied"))
	wantError(t, got, 401, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`)
	if got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Error("no WWW-Authenticate")
	}
	wantError(t, r.once(get("/wrapped")), 404, `{"error":{"code":"not_found","message":"Prism not found"}}`)
	wantError(t, r.once(get("/fiber")), 500, internalBody)
	got = r.once(get("/half"))
	wantError(t, got, 404, `{"error":{"code":"not_found","message":"Result not found"}}`)
	if got.header.Get("X-Half") != "" {
		t.Error("a header of the answer that was not given")
	}
	got = r.once(get("/away"))
	wantError(t, got, 503, unavailableBody)
	if got.close {
		t.Error("a missing dependency closes the caller's connection")
	}
	wantError(t, r.once(get("/fails")), 500, internalBody)
	wantError(t, r.once(get("/panics")), 500, internalBody)
	wantReply(t, r.once(get("/v1/results/after")), 200, `{"id":"after"}`)
	for _, want := range []string{`"error":"a fault inside"`, `"error":"panic: string"`, `"stack":`, `"request_id":`} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	// spec: values-are-never-repeated
	if strings.Contains(r.log.String(), "a bug inside") {
		t.Error("the log has the value of the panic")
	}
}

// A panic outside any handler must not take the process with it: fasthttp recovers none.
func TestThePanicOfAMiddlewareIsCaught(t *testing.T) {
	t.Parallel()
	r := prepare(t, Config{}, Deps{}, nil)
	h := r.guard(func(*fasthttp.RequestCtx) { panic("below the middleware") })
	var fctx fasthttp.RequestCtx
	fctx.Request.SetRequestURI("/a")
	fctx.Request.Header.SetProtocol("HTTP/1.0")
	h(&fctx)
	if fctx.Response.StatusCode() != 500 {
		t.Errorf("got %d", fctx.Response.StatusCode())
	}
}
