package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHeaders holds the headers of responses that TestFormats does not, and requests over a bare connection.
func TestHeaders(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: request-id
		t.Run("a sane X-Request-Id is the caller's, on success and on error", func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/v1/prisms?limit=1", "/v1/nothing", "/v1/results/1", "/v1/results/" + absentID} {
				r := s.main.get(t, path)
				wantEqual(t, path+": X-Request-Id", r.header.Get("X-Request-Id"), r.request)
			}
		})
		// spec: request-id
		t.Run("an X-Request-Id that is not sane is replaced", func(t *testing.T) {
			t.Parallel()
			for _, id := range []string{strings.Repeat("x", 5000), "a b\tc", `"><script>`, "\xff\xfe"} {
				r := s.main.do(t, call{path: "/v1/nothing", header: http.Header{"X-Request-Id": {id}}})
				if got := r.header.Get("X-Request-Id"); got == "" || got == id {
					t.Errorf("%.20q was answered with %.20q", id, got)
				}
			}
		})
		// spec: request-id
		t.Run("a request without an X-Request-Id gets one of its own", func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for range 3 {
				r := s.main.do(t, call{path: "/v1/nothing", header: http.Header{"X-Request-Id": nil}})
				seen[r.header.Get("X-Request-Id")] = true
			}
			wantEqual(t, "the number of ids", len(seen), 3)
		})
		// spec: www-authenticate
		t.Run("a 401 says how to authenticate, for a missing and for an invalid key", func(t *testing.T) {
			t.Parallel()
			for _, auth := range []string{none, "Bearer x"} {
				r := s.main.do(t, call{path: "/v1/prisms", auth: auth})
				wantEqual(t, "WWW-Authenticate", r.header.Get("WWW-Authenticate"), "Bearer")
			}
		})
		// spec: docs-page
		t.Run("a browser that opens / is sent to the page of the API, and nobody else", func(t *testing.T) {
			t.Parallel()
			const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				r := s.main.do(t, call{method: method, path: "/", auth: none, header: http.Header{"Accept": {browser}}})
				r.wantStatus(t, 303)
				wantEqual(t, "Location", r.header.Get("Location"), "/docs")
			}
			for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.9"} {
				s.main.do(t, call{path: "/", auth: none, header: http.Header{"Accept": {accept}}}).wantFail(t, noRoute)
			}
			s.main.do(t, call{method: http.MethodPost, path: "/", auth: none, header: http.Header{"Accept": {browser}}}).wantFail(t, noRoute)
			s.main.do(t, call{path: "/v1", auth: none, header: http.Header{"Accept": {browser}}}).wantFail(t, noRoute)
		})
		// spec: json-escapes
		t.Run("JSON escapes nothing that it need not", func(t *testing.T) {
			t.Parallel()
			const ref = "<a href='x'>&é😀/</a>"
			r := s.main.create(t, s.fill(t, "{one}"), text("x", "ref", ref))
			if !strings.Contains(string(r.body), `"ref":"`+ref+`"`) {
				t.Errorf("got %s", r.body)
			}
		})
		for _, row := range []struct {
			name, request string
			status        int
		}{
			{"a Content-Length that cuts the body short cuts the JSON", "Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{\"text\":\"x\"}", 400},
			{"a Content-Length over the limit is refused though nothing follows", "Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n", 413},
			// spec: body-limit-of-chunked-bodies
			{"a Content-Length over the limit is refused though the rest never comes", "Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n" +
				strings.Repeat(" ", 0x10000), 413},
			{"a Content-Length beside chunks is refused", "Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
			// spec: body-limit-of-chunked-bodies
			{"chunks without end are too large at the limit", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
				strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 17), 413},
			{"a chunk size that is no number is refused", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400},
			{"two lengths that differ are refused", "Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", 400},
			{"a folded header is refused", "X-Folded: a\r\n b\r\nContent-Length: 0\r\n\r\n", 400},
		} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				status, body := s.bare(t, "POST "+s.fill(t, createOne)+" HTTP/1.1\r\nHost: x\r\n"+row.request)
				wantEqual(t, "the status", status, row.status)
				if want := `{"error":{"code":"bad_request","message":"Malformed request"}}`; body != want {
					t.Errorf("body %.200q", body)
				}
			})
		}
		t.Run("a request line that is none is refused as JSON", func(t *testing.T) {
			t.Parallel()
			status, body := s.bare(t, "hello\r\n\r\n")
			wantEqual(t, "the status", status, 400)
			wantEqual(t, "the body", body, `{"error":{"code":"bad_request","message":"Malformed request"}}`)
		})
		t.Run("a body that was refused leaves no bogus second answer", func(t *testing.T) {
			t.Parallel()
			conn := s.dial(t)
			body := strings.Repeat("GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n", 40_000)
			go func() {
				_, _ = io.WriteString(conn, "POST /v1/prisms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
					number(int64(len(body)))+"\r\n\r\n"+body)
			}()
			reader := bufio.NewReader(conn)
			resp, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "the status", resp.StatusCode, 413)
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if more, err := reader.ReadString('\n'); err == nil {
				t.Errorf("another answer: %.80q", more)
			}
		})
	})
}

func (s *stack) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.front.Listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// bare sends bytes and reads one response.
func (s *stack) bare(t *testing.T, request string) (status int, body string) {
	t.Helper()
	conn := s.dial(t)
	go func() { _, _ = io.WriteString(conn, request) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("headers %v", resp.Header)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}
