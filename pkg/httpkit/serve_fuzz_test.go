package httpkit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
)

// FuzzPath compares the reading of a request target with that of net/url.
func FuzzPath(f *testing.F) {
	for _, target := range []string{
		"/v1/results/a%2Fb?x=%zz", "/%C3%A9", "/\u00e9", "/%ff", "/%ED%A0%80", "/%", "/%6", "/%zz", "/a#b", "http://y/v1", "http://y?a=/b", "*", "", "//x/y", "/%00", "http://y%@f/v", "http://y:z/",
	} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		path, ok := rawPath([]byte(target))
		if strings.Contains(target, "#") {
			if ok {
				t.Fatalf("%q: a fragment was taken", target)
			}
			return
		}
		want, _, _ := strings.Cut(target, "?")
		if !strings.HasPrefix(want, "/") {
			if _, rest, absolute := strings.Cut(want, "://"); absolute {
				if _, err := url.ParseRequestURI(target); err != nil {
					if ok {
						t.Fatalf("%q was taken: %v", target, err)
					}
					return
				}
				if i := strings.IndexByte(rest, '/'); i >= 0 {
					want = rest[i:]
				} else {
					want = ""
				}
			}
		}
		if string(path) != want {
			t.Fatalf("%q: got the path %q, want %q", target, path, want)
		}
		decoded, err := url.PathUnescape(want)
		if good := err == nil && utf8.ValidString(decoded); ok != good {
			t.Fatalf("%q: got %v, want %v", target, ok, good)
		}
	})
}

// canned is a connection on which everything was sent at once, and which the client then half-closed.
type canned struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (c *canned) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *canned) Write(p []byte) (int, error)      { return c.out.Write(p) }
func (c *canned) Close() error                     { return nil }
func (c *canned) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *canned) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *canned) SetDeadline(time.Time) error      { return nil }
func (c *canned) SetReadDeadline(time.Time) error  { return nil }
func (c *canned) SetWriteDeadline(time.Time) error { return nil }

// measured is the server of FuzzServer: its answers tell what it understood.
func measured(t testing.TB) *Server {
	t.Helper()
	s := New(Config{Name: "fuzz", HeaderLimit: 4 << 10, BodyLimit: 8 << 10}, Deps{})
	understood := func(c *fiber.Ctx) error {
		b, err := ReadBody(c)
		if err != nil {
			return err
		}
		c.Set("Understood", c.Method()+" "+strconv.Itoa(len(b.Bytes)))
		return Send(c, 200, "text/plain", b.Bytes)
	}
	s.App().Get("/a", understood)
	s.App().Post("/a", understood)
	s.App().Handler()
	return s
}

// FuzzServer sends any bytes to a whole server. Its answers are whole ones, every error is JSON, nothing follows an answer
// that closes, and where a request is served net/http reads the same request from the same bytes: nobody in front of it
// could have taken a part of it for another one.
func FuzzServer(f *testing.F) {
	for _, sent := range []string{
		"GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhiPOST /a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2;e=1\r\nhi\r\n0\r\nX: y\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n 2\r\nhi\r\n00\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\nabc",
		"POST /a HTTP/1.0\r\nContent-Type: application/json\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}GET /a HTTP/1.0\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a HTTP/1.1\nHost: x\n\n", "\x16\x03\x01\x02\x00", "",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
		"GET /a%'f HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://y:#/a HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://y:z/a HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://y%@f/a HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD /a% HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://y/a HTTP/1.1\r\nHost: x\r\n\r\nGET /a%2f HTTP/1.1\r\nHost: x\r\n\r\nHEAD /a HTTP/1.1\r\nHost: x\r\n\r\nBREW /a HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(sent))
	}
	s := measured(f)
	f.Fuzz(func(t *testing.T, sent []byte) {
		wire := &canned{in: bytes.NewReader(sent)}
		c := &conn{Conn: wire, tracker: s.tracker, stall: time.Second}
		s.tracker.slots <- struct{}{}
		if !s.tracker.add(c) || !c.resident {
			t.Fatal("a connection before it is still open")
		}
		_ = s.fast.ServeConn(c)
		if n := s.tracker.inFlight.Load(); n != 0 {
			t.Fatalf("%q: %d places are still taken", sent, n)
		}
		wantAnswers(t, sent, wire.out.Bytes())
	})
}

func wantAnswers(t *testing.T, sent, answered []byte) {
	t.Helper()
	requests, answers := bufio.NewReader(bytes.NewReader(sent)), bufio.NewReader(bytes.NewReader(answered))
	closed, head := false, false
	for {
		if _, err := answers.Peek(1); err != nil {
			return
		}
		if closed && head {
			// Of what it can't parse fasthttp does not tell the method, so the refusal has its body.
			if rest, _ := io.ReadAll(answers); string(rest) == malformedBody {
				return
			}
		}
		if closed {
			t.Fatalf("%q: %q goes on behind an answer that closes", sent, answered)
		}
		skipEmptyLines(requests)
		begin, _ := requests.Peek(len("HEAD "))
		req, reqErr := http.ReadRequest(requests)
		if req == nil { // whose method is told by its begin alone
			req = &http.Request{Method: http.MethodGet}
			if string(begin) == "HEAD " {
				req.Method = http.MethodHead
			}
		}
		res, err := readFinal(answers, req)
		if err != nil {
			t.Fatalf("%q: %q is no answer: %v", sent, answered, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%q: %q breaks off: %v", sent, answered, err)
		}
		closed, head = res.Close, req.Method == http.MethodHead
		if res.Header.Get("X-Request-Id") == "" {
			t.Fatalf("%q: %q has no X-Request-Id", sent, answered)
		}
		if res.StatusCode != 200 && (res.Header.Get("Content-Type") != JSONType || reqErr == nil && req.Method != "HEAD" && !bytes.HasPrefix(body, []byte(`{"error":`))) {
			t.Fatalf("%q: %q is no error of the contract", sent, answered)
		}
		if closed && res.StatusCode != 200 {
			continue // where such a request ends does not matter
		}
		var target *url.Error
		if res.StatusCode == http.StatusBadRequest && errors.As(reqErr, &target) {
			return // net/http reads nothing behind the first line of such a request, though where it ends is plain
		}
		if reqErr != nil {
			t.Fatalf("%q was answered %q, while net/http reads no request: %v", sent, answered, reqErr)
		}
		got, err := io.ReadAll(req.Body)
		if err != nil && !closed {
			t.Fatalf("%q was answered %q, while net/http reads no body: %v", sent, answered, err)
		}
		if res.StatusCode == 200 && res.Header.Get("Understood") != req.Method+" "+strconv.Itoa(len(got)) {
			t.Fatalf("%q was understood as %s, while net/http reads %s %d", sent, res.Header.Get("Understood"), req.Method, len(got))
		}
	}
}

// skipEmptyLines does what RFC 9112 2.2 asks of servers, and net/http does not do.
func skipEmptyLines(r *bufio.Reader) {
	for {
		b, _ := r.Peek(2)
		switch {
		case string(b) == "\r\n":
			_, _ = r.Discard(2)
		case len(b) > 0 && b[0] == '\n':
			_, _ = r.Discard(1)
		default:
			return
		}
	}
}

// readFinal reads past 100 Continue.
func readFinal(r *bufio.Reader, req *http.Request) (*http.Response, error) {
	for {
		res, err := http.ReadResponse(r, req)
		if err != nil || res.StatusCode != http.StatusContinue {
			return res, err
		}
	}
}
