package e2e

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
)

// hostile is sent over a bare connection that is half-closed afterwards. The response is one error, or the server closes.
type hostile struct{ name, sent string }

func hostiles() []hostile {
	const post, host = "POST /v1/prisms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n", "GET /v1/prisms HTTP/1.1\r\nHost: x\r\n"
	const chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
	smuggled := "GET /v1/keys HTTP/1.1\r\nHost: x\r\n\r\n"
	cases := []hostile{
		{"a length with chunks", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"two lengths", post + "Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}"},
		{"a chunk size without an end", chunked + strings.Repeat("0", 100_000)},
		{"version 1.2", "GET /v1/prisms HTTP/1.2\r\nHost: x\r\n\r\n"},
		{"a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"},
		{"100,000 headers", host + strings.Repeat("X-Aaaa: b\r\n", 100_000) + "\r\n"},
		{"a header of 10 MB", host + "X: " + strings.Repeat("a", 10<<20) + "\r\n\r\n"},
		{"a length that no body follows", post + "Content-Length: 99\r\n\r\n{}"},
		{"chunks that break off", chunked + "2\r\n{}\r\n"},
	}
	for i := range cases {
		if !strings.Contains(cases[i].name, "break") && !strings.Contains(cases[i].name, "no body") {
			cases[i].sent += smuggled
		}
	}
	// These requests are well-formed, so no second request may follow them.
	return append(cases,
		hostile{"an odd method", "BREW /v1/prisms HTTP/1.1\r\nHost: x\r\n\r\n"},
		hostile{"CONNECT", "CONNECT y:443 HTTP/1.1\r\nHost: y:443\r\n\r\n"},
		hostile{"a body that is compressed", post + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00"},
		hostile{"a body over every limit by its word", post + "Content-Length: 99999999999\r\n\r\n{}"},
		hostile{"a body over every limit in chunks", chunked + strings.Repeat("100000\r\n"+strings.Repeat(" ", 1<<20)+"\r\n", 20) + "0\r\n\r\n"},
	)
}

// TestHostileHTTP sends malformed requests to the programs. Each gets one error of the catalogue or a close.
// The tests of pkg/httpkit have every variant, and what each leaves behind.
func TestHostileHTTP(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		for _, p := range s.parts {
			if p.Name == "prism-runs" || p.Name == "prism-webhooks" { // have no API
				continue
			}
			t.Run(p.Name+" answers what is hostile with one error", func(t *testing.T) {
				t.Parallel()
				assail(t, p, "")
				switch p.Name {
				case "prism-results":
					assail(t, p, "Authorization: Bearer "+launch.ResultsToken+"\r\n")
				case "prism-model-proxy":
					assail(t, p, "Authorization: Bearer "+launch.ModelsToken+"\r\n")
				}
			})
		}
	})
}

func assail(t *testing.T, p *launch.Service, header string) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range hostiles() {
		all.Go(func() {
			sent := strings.Replace(c.sent, "Host: x\r\n", "Host: x\r\n"+header, 1)
			if fault := oneError(p.Listen, sent); fault != "" {
				t.Errorf("%s: %s", c.name, fault)
			}
		})
	}
	all.Wait()
}

// oneError sends a request and returns what is wrong with the response, or "".
func oneError(addr, sent string) string {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	go func() {
		_, _ = io.WriteString(c, sent) // the server may stop taking
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if netErr, ok := err.(net.Error); ok && netErr.Timeout() { //nolint:errorlint // of this very connection
		return "it hangs"
	}
	if len(got) == 0 {
		return "" // closed without a response
	}
	r := bufio.NewReader(bytes.NewReader(got))
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	remainder, _ := io.ReadAll(r)
	switch {
	case err != nil:
		return err.Error()
	case len(remainder) > 0:
		return "a second response: " + string(remainder)
	case res.StatusCode < 400 || res.StatusCode == 500:
		return "got " + res.Status
	case !bytes.HasPrefix(body, []byte(`{"error":`)) || res.Header.Get("Content-Type") != "application/json; charset=utf-8":
		return "the answer is no error of the contract: " + string(body)
	}
	return ""
}
