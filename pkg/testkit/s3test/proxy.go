package s3test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is what a Proxy does to a request.
type Fault string

// The faults of object stores, and of the networks and proxies before them.
const (
	None        Fault = ""
	SlowDown    Fault = "503 SlowDown"
	Internal    Fault = "500 InternalError"
	BadGateway  Fault = "502 with a page"
	Page        Fault = "200 with a page" // of something else than the store
	Skewed      Fault = "403 RequestTimeTooSkewed"
	TimedOut    Fault = "400 RequestTimeout"
	Hang        Fault = "no answer"
	Reset       Fault = "a reset before the request is done"
	CutRequest  Fault = "a reset in the middle of the content, of which the store has half"
	Lost        Fault = "a reset after the request was done"
	CutAnswer   Fault = "a reset in the middle of the answer"
	ShortAnswer Fault = "half of the answer, whose length is that of the half"
	LongAnswer  Fault = "an answer that is shorter than its length"
	WholeAnswer Fault = "the whole object in place of its range"
	OtherAnswer Fault = "other bytes, as many as were asked for"
	Slow        Fault = "an answer byte by byte"
	Vanished    Fault = "404 NoSuchKey of an object that is there"
	EmptyList   Fault = "a list of nothing"
)

// Faults are all faults that a request of a method can have. list: it lists objects (IsList).
func Faults(method string, list bool) []Fault {
	faults := []Fault{SlowDown, Internal, BadGateway, Page, Skewed, TimedOut, Hang, Reset, Lost}
	switch {
	case method == http.MethodPut:
		return append(faults, CutRequest)
	case list:
		return append(faults, CutAnswer, LongAnswer, Slow, EmptyList)
	case method == http.MethodGet:
		return append(faults, CutAnswer, ShortAnswer, LongAnswer, WholeAnswer, OtherAnswer, Slow, Vanished)
	}
	return faults
}

// IsList tells whether a request lists objects.
func IsList(r *http.Request) bool { return r.URL.Query().Has("list-type") }

// Proxy passes requests on to a store, and fails as it is told.
type Proxy struct {
	URL string

	store     Store
	transport http.RoundTripper
	choose    func(*http.Request) Fault
	closing   chan struct{}

	mu   sync.Mutex
	made map[Fault]int
}

// Proxy starts a Proxy in front of the store, until the test ends. choose is called with each request, also by several goroutines at
// once.
func (s Store) Proxy(t testing.TB, choose func(*http.Request) Fault) *Proxy {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	p := &Proxy{store: s, transport: transport, choose: choose, closing: make(chan struct{}), made: map[Fault]int{}}
	server := httptest.NewServer(p)
	p.URL = server.URL
	t.Cleanup(func() {
		close(p.closing)
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return p
}

// Made is how often each fault was made.
func (p *Proxy) Made() map[Fault]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := map[Fault]int{}
	for f, n := range p.made {
		made[f] = n
	}
	return made
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fault := p.choose(r)
	p.mu.Lock()
	p.made[fault]++
	p.mu.Unlock()
	switch fault {
	case SlowDown:
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
	case Internal:
		refuse(w, http.StatusInternalServerError, "InternalError")
	case Skewed:
		refuse(w, http.StatusForbidden, "RequestTimeTooSkewed")
	case TimedOut:
		refuse(w, http.StatusBadRequest, "RequestTimeout")
	case Vanished:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case BadGateway:
		page(w, http.StatusBadGateway)
	case Page:
		page(w, http.StatusOK)
	case Hang:
		select {
		case <-r.Context().Done():
		case <-p.closing:
		}
	case Reset:
		reset(w)
	case CutRequest:
		p.sendHalf(r, content)
		reset(w)
	default:
		p.pass(w, r, content, fault)
	}
}

// pass passes a request on, and its answer back with a fault.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request, content []byte, fault Fault) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.store.Endpoint+r.RequestURI, bytes.NewReader(content))
	if err != nil {
		page(w, http.StatusBadGateway)
		return
	}
	out.Header, out.Host = r.Header.Clone(), r.Host // which are signed
	answer, err := p.transport.RoundTrip(out)
	if err != nil {
		page(w, http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || fault == Lost {
		reset(w)
		return
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	length := func(n int) { w.Header().Set("Content-Length", strconv.Itoa(n)) }
	whole := len(body)
	if r.Method != http.MethodHead {
		length(whole)
	}
	switch fault { //nolint:exhaustive // the others left before, or change nothing of the answer
	case ShortAnswer:
		body = body[:whole/2]
		length(len(body))
	case OtherAnswer:
		for i := range body {
			body[i] ^= 1
		}
	case EmptyList:
		body = withoutContents(body)
		length(len(body))
	case LongAnswer:
		body = body[:whole/2]
	case WholeAnswer:
		// The range is signed, so the store would refuse a request without it.
		if body, err = os.ReadFile(filepath.Join(p.store.Folder, filepath.FromSlash(r.URL.Path))); err == nil {
			answer.StatusCode = http.StatusOK
			w.Header().Del("Content-Range")
			length(len(body))
		}
	}
	w.WriteHeader(answer.StatusCode)
	switch fault {
	case CutAnswer:
		_, _ = w.Write(body[:whole/2])
		_ = http.NewResponseController(w).Flush()
		reset(w)
	case Slow:
		p.trickle(w, r, body)
	default:
		_, _ = w.Write(body)
	}
}

// trickle writes a byte at a time, for as long as the client waits.
func (p *Proxy) trickle(w http.ResponseWriter, r *http.Request, body []byte) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range body {
		if _, err := w.Write(body[i : i+1]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-p.closing:
			return
		}
	}
}

// sendHalf sends a request whose content ends in its middle.
func (p *Proxy) sendHalf(r *http.Request, content []byte) {
	conn, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", strings.TrimPrefix(p.store.Endpoint, "http://"))
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", r.Method, r.RequestURI, r.Host, len(content))
	_ = r.Header.Write(conn)
	_, _ = conn.Write(append([]byte("\r\n"), content[:len(content)/2]...))
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// withoutContents is a list without its entries.
func withoutContents(list []byte) []byte {
	text := string(list)
	for {
		before, rest, found := strings.Cut(text, "<Contents>")
		if !found {
			return []byte(text)
		}
		_, after, _ := strings.Cut(rest, "</Contents>")
		text = before + after
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>A test.</Message></Error>`, code)
}

func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html><body><p>Something else answers.</p></body></html>")
}

// reset closes the connection of a client with a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
