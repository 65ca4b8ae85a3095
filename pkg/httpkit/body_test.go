package httpkit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

const mebibyte = 1 << 20

func post(headers, body string) string {
	return fmt.Sprintf("POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", headers, len(body), body)
}

func postChunked(headers, body string, size int) string {
	var b strings.Builder
	b.WriteString("POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n")
	for len(body) > 0 {
		n := min(size, len(body))
		b.WriteString(strconv.FormatInt(int64(n), 16) + "\r\n" + body[:n] + "\r\n")
		body = body[n:]
	}
	b.WriteString("0\r\n\r\n")
	return b.String()
}

const (
	asJSON = "Content-Type: application/json\r\n"
	asText = "Content-Type: text/plain\r\n"
	asForm = "Content-Type: application/x-www-form-urlencoded\r\n"
)

// spec: content-encoding, parsed-content-types, unparsed-content-types, absent-body, body-limit, body-limit-of-chunked-bodies
func TestBodies(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 40*mebibyte))
	_ = z.Close()
	exact, over := strings.Repeat("x", mebibyte), strings.Repeat("x", mebibyte+1)
	for _, c := range []struct {
		name, request string
		status        int
		body          string
	}{
		{"none", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n\r\n", 200, "absent "},
		{"length 0", post("", ""), 200, "absent "},
		{"no chunks", postChunked("", "", 1), 200, "absent "},
		{"json", post(asJSON, "{}"), 200, "json {}"},
		{"json in chunks", postChunked(asJSON, "{}", 1), 200, "json {}"},
		{"json without bytes", post(asJSON, ""), 200, "json "},
		{"json without a length", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON + "\r\n", 200, "json "},
		{"any letter case", post("content-TYPE: Application/JSON\r\n", "{}"), 200, "json {}"},
		{"any parameters", post("Content-Type: application/json ; charset=utf-8; x\r\n", "{}"), 200, "json {}"},
		{"text", post(asText, "hello"), 200, "text hello"},
		{"text with parameters", post("Content-Type: TEXT/plain;charset=latin1\r\n", ""), 200, "text "},
		{"exactly the limit", post(asText, exact), 200, "text " + exact},
		{"exactly the limit in chunks", postChunked(asText, exact, 60000), 200, "text " + exact},
		{"exactly the limit in chunks of one byte", postChunked(asText, exact, 1), 200, "text " + exact},
		{"a chunk extension", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asText +
			"Transfer-Encoding: chunked\r\n\r\n2;a=" + strings.Repeat("b", 1000) + "\r\nhi\r\n0\r\n\r\n", 200, "text hi"},
		{"exactly the limit in one chunk", postChunked(asText, exact, mebibyte), 200, "text " + exact},
		{"with a trailer that is announced", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asText +
			"Content-Length: 2\r\nTrailer: X-A\r\n\r\nhi", 200, "text hi"},

		{"one more", post(asText, over), 413, malformedBody},
		{"one more in chunks", postChunked(asText, over, 60000), 413, malformedBody},

		{"no content type", post("", "{}"), 415, malformedBody},
		{"no content type in chunks", postChunked("", "{}", 1), 415, malformedBody},
		{"an empty content type", post("Content-Type:\r\n", "{}"), 415, malformedBody},
		{"another type", post(asForm, "a=b"), 415, malformedBody},
		{"another type without a body", post(asForm, ""), 415, malformedBody},
		{"a +json type", post("Content-Type: application/problem+json\r\n", "{}"), 415, malformedBody},
		{"a type that begins alike", post("Content-Type: application/jsonl\r\n", "{}"), 415, malformedBody},
		{"two content types", post(asJSON+asText, "{}"), 415, malformedBody},
		{"multipart is not parsed", post("Content-Type: multipart/form-data; boundary=b\r\n", "--b--"), 415, malformedBody},
		{"another type over the limit", post(asForm, over), 415, malformedBody},
		{"no type over the limit", post("", over), 415, malformedBody},
		{"another type over the limit in chunks", postChunked(asForm, over, 60000), 415, malformedBody},
		{"a gzip bomb", post(asJSON+"Content-Encoding: gzip\r\n", bomb.String()), 415, malformedBody},
		{"identity is no encoding", post(asJSON+"Content-Encoding: Identity\r\n", "{}"), 200, "json {}"},
		{"identity and another encoding", post(asJSON+"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n", "{}"), 415, malformedBody},
		{"an empty encoding and another", post(asJSON+"content-encoding:\r\nContent-Encoding: gzip\r\n", "{}"), 415, malformedBody},
		{"a list of encodings", post(asJSON+"Content-Encoding: identity, gzip\r\n", "{}"), 415, malformedBody},

		{"a chunk that is none", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON +
			"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400, malformedBody},
		{"a chunk that is longer than it says", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON +
			"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", 400, malformedBody},
		{"a chunk of an immense size", "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON +
			"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n", 400, malformedBody},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.once(c.request)
			if got.status != c.status || got.body != c.body {
				t.Errorf("got %d %.80q, want %d %.80q", got.status, got.body, c.status, c.body)
			}
		})
	}
}

// The client writes everything before it reads, as most do: without the discarding close it would see a reset.
func TestClientsSeeTheAnswerToABodyFarOverTheLimit(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	body := strings.Repeat("x", 5*mebibyte)
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"413 with a length", post(asJSON, body), 413},
		{"413 in chunks", postChunked(asJSON, body, 1<<16), 413},
		{"415 with a length", post(asForm, body), 415},
		{"415 in chunks", postChunked(asForm, body, 1<<16), 415},
		{"404", strings.Replace(post(asJSON, body), "/retry", "/nothing", 1), 404},
		{"a handler that does not read", strings.Replace(post(asJSON, body), "/v1/results/a/retry", "/unread", 1), 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				p := r.dial()
				got := p.send(c.request).reply("POST")
				if got.status != c.status || !got.close {
					t.Errorf("got %d, close %v", got.status, got.close)
				}
				p.end()
			}
		})
	}
}

func TestABodyOverTheLimitIsAnsweredBeforeItArrives(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	for _, arrived := range []int{0, 1, prefetched, 100_000} {
		p := r.dial()
		p.send("POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON + "Content-Length: 99999999999\r\n\r\n" + strings.Repeat(" ", arrived))
		wantError(t, p.reply("POST"), 413, malformedBody)
		p.end()
	}
}

// The limit is that of the headers. The response comes although the extension, or the body, goes on.
//
// spec: chunk-extensions
func TestChunkExtensionsCountAsHeaders(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	head := "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asText + "Transfer-Encoding: chunked\r\n\r\n"
	for name, request := range map[string]string{
		"one extension":              head + "1;" + strings.Repeat("a", 64<<10),
		"behind data":                head + "1\r\nx\r\n1;" + strings.Repeat("a", 64<<10),
		"extensions of small chunks": head + strings.Repeat("1;"+strings.Repeat("a", 200)+"\r\nx\r\n", 400),
		"of the last chunk":          head + "1\r\nx\r\n0;" + strings.Repeat("a", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := r.dial().send(request)
			wantError(t, p.reply("POST"), 431, malformedBody)
			p.end()
		})
	}
}

func TestABodyThatBreaksOffIsNotTakenForAWhole(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	for name, request := range map[string]string{
		"within what fasthttp reads ahead": "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON + "Content-Length: 9\r\n\r\n{}",
		"behind it":                        "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON + "Content-Length: 99999\r\n\r\n" + strings.Repeat(" ", 2*prefetched),
		"in chunks":                        "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asJSON + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
		"without a content type":           "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := r.dial()
			p.send(request)
			_ = p.Conn.(interface{ CloseWrite() error }).CloseWrite()
			wantError(t, p.reply("POST"), 400, malformedBody)
			p.end()
		})
	}
}

// spec: request-time
func TestASlowBodyEndsWith408(t *testing.T) {
	t.Parallel()
	r := start(t, Config{ReadTimeout: 50 * time.Millisecond}, Deps{}, echo)
	for name, request := range map[string]string{
		"within what fasthttp reads ahead": post(asJSON, "{}"),
		"behind it":                        post(asJSON, strings.Repeat(" ", 2*prefetched)),
		"in chunks":                        strings.TrimSuffix(postChunked(asJSON, "{}", 1), "0\r\n\r\n") + "x",
		"a header":                         "POST / HTTP/1.1\r\nHost: xx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := r.dial()
			wantError(t, p.send(request[:len(request)-1]).reply("POST"), 408, malformedBody)
			p.end()
		})
	}
}

func TestAnUnusedConnectionIsClosedWithoutAWord(t *testing.T) {
	t.Parallel()
	r := start(t, Config{ReadTimeout: 20 * time.Millisecond}, Deps{}, echo)
	r.dial().end()
}

// Leaving unread body on a kept-alive connection would make a second answer out of it.
func TestAnUnreadBodyIsNoRequest(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	smuggled := get("/v1/results/smuggled")
	for _, path := range []string{"/unread", "/nothing"} {
		t.Run("kept alive behind a small one of "+path, func(t *testing.T) {
			p := r.dial()
			p.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(smuggled), smuggled))
			p.send(get("/v1/results/next"))
			if got := p.reply("POST"); got.close || got.status == 400 {
				t.Errorf("got %d, close %v", got.status, got.close)
			}
			wantReply(t, p.reply("GET"), 200, `{"id":"next"}`)
		})
		t.Run("closed behind a large one of "+path, func(t *testing.T) {
			p := r.dial()
			body := strings.Repeat(smuggled, 1000)
			p.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body))
			if got := p.reply("POST"); !got.close {
				t.Error("not closed")
			}
			p.end()
		})
		t.Run("closed behind chunks of "+path, func(t *testing.T) {
			p := r.dial()
			p.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
			p.send(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n%s", len(smuggled), smuggled, smuggled))
			if got := p.reply("POST"); !got.close {
				t.Error("not closed")
			}
			p.end()
		})
	}
}

func TestPipelinedRequestsGetOneAnswerEach(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	p := r.dial()
	p.send(get("/v1/results/a") + post(asText, "b") + postChunked(asText, "cc", 1) + post(asForm, "d") +
		get("/nothing") + postChunked("", "", 1) + get("/v1/results/e"))
	wantReply(t, p.reply("GET"), 200, `{"id":"a"}`)
	wantReply(t, p.reply("POST"), 200, "text b")
	wantReply(t, p.reply("POST"), 200, "text cc")
	wantReply(t, p.reply("POST"), 415, malformedBody)
	wantReply(t, p.reply("GET"), 404, notFoundBody)
	wantReply(t, p.reply("POST"), 200, "absent ")
	wantReply(t, p.reply("GET"), 200, `{"id":"e"}`)
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	p := r.dial()
	p.send("POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asText + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if line, _ := p.r.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q", line)
	}
	_, _ = p.r.ReadString('\n')
	wantReply(t, p.send("hi").reply("POST"), 200, "text hi")
}

func TestTheLimitIsConfigurable(t *testing.T) {
	t.Parallel()
	r := start(t, Config{BodyLimit: 3}, Deps{}, echo)
	wantReply(t, r.once(post(asText, "abc")), 200, "text abc")
	wantReply(t, r.once(post(asText, "abcd")), 413, malformedBody)
	wantReply(t, r.once(postChunked(asText, "abcd", 2)), 413, malformedBody)
}

func TestBodiesBelongToTheHandler(t *testing.T) {
	t.Parallel()
	kept := make(chan []byte, 1)
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		app.Post("/keep", func(c *fiber.Ctx) error {
			b, err := ReadBody(c)
			kept <- b.Bytes
			return err
		})
		echo(app)
	})
	p := r.dial()
	p.send("POST /keep HTTP/1.1\r\nHost: x\r\n" + asText + "Content-Length: 4\r\n\r\nkept")
	p.reply("POST")
	for range 10 {
		p.send(post(asText, strings.Repeat("z", 100))).reply("POST")
	}
	if b := <-kept; string(b) != "kept" {
		t.Errorf("got %q", b)
	}
}

// A claimed length costs the claimant nothing, so it may not cost us memory either.
func TestReadAllHoldsNoMoreThanTwiceWhatArrived(t *testing.T) {
	t.Parallel()
	const arrived = 100 << 10
	largest := 0
	src := readerFunc(func(p []byte) (int, error) {
		largest = max(largest, len(p))
		return copy(p, "x"), nil
	})
	b := &incoming{stream: io.MultiReader(io.LimitReader(src, arrived), failing{io.ErrUnexpectedEOF}), length: mebibyte}
	if _, err := b.readAll(mebibyte); err == nil {
		t.Error("a body that broke off was accepted")
	}
	if largest > arrived {
		t.Errorf("made room for %d more bytes when %d had arrived", largest, arrived)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// spec: part-body
func TestOctetsAreTakenWhereTheyAreExpectedAndNowhereElse(t *testing.T) {
	t.Parallel()
	r := start(t, Config{BodyLimit: 8}, Deps{}, func(app *fiber.App) {
		app.Put("/part", func(c *fiber.Ctx) error {
			b, err := ReadOctets(c)
			if err != nil {
				return err
			}
			return Send(c, fiber.StatusOK, "text/plain", append([]byte("got "), b...))
		})
		app.Put("/json", func(c *fiber.Ctx) error {
			_, err := ReadBody(c)
			return err
		})
	})
	put := func(path, contentType, body string) string {
		return "PUT " + path + " HTTP/1.1\r\nHost: h\r\n" + contentType + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	}
	const octets = "Content-Type: Application/Octet-Stream; x=y\r\n"
	for _, c := range []struct {
		request string
		status  int
		body    string
	}{
		{put("/part", octets, "\x00\xff{7}8"), 200, "got \x00\xff{7}8"},
		{put("/part", octets, ""), 200, "got "},
		{put("/part", octets, "123456789"), 413, ""},
		{put("/part", "", "x"), 415, ""},
		{put("/part", "", ""), 415, ""},
		{put("/part", "Content-Type: application/json\r\n", "{}"), 415, ""},
		{put("/part", octets+"Content-Encoding: gzip\r\n", "x"), 415, ""},
		{put("/json", octets, "{}"), 415, ""},
	} {
		got := r.dial().send(c.request).reply("PUT")
		if got.status != c.status || c.status == 200 && got.body != c.body {
			t.Errorf("%q: got %d %q", c.request, got.status, got.body)
		}
	}
}
