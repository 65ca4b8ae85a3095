package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testKey  = "prism_0123456789abcdefghijklmnopqrstuvABCDEF"
	resultID = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
	okJSON   = `{"id":"` + resultID + `","ref":null,"prism":"a","version":1,"status":"ok","error":null,"took_ms":5,` +
		`"created_at":"2026-11-21T10:00:00.120Z","answers":{"z":"yes","a":0.5,"n":null}}`
	failedJSON = `{"id":"` + resultID + `","ref":null,"prism":"a","version":1,"status":"failed",` +
		`"error":"The model did not answer within 15 seconds.","took_ms":15000,"created_at":"2026-11-21T10:00:00.120Z","answers":null}`
	prismJSON = `{"id":"` + resultID + `","slug":"a","name":null,"archived_at":null,"created_at":"2026-11-21T10:00:00.120Z",` +
		`"latest_version":1,"lens":{"columns":[]},"retention_days":null,"version":{"version":1,"instructions":null,"model":null,` +
		`"escalate":null,"fields":[],"questions":[],"created_at":"2026-11-21T10:00:00.120Z"}}`
	unavailableJSON = `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`
	internalJSON    = `{"error":{"code":"internal_error","message":"Internal server error"}}`
	jsonType        = "application/json; charset=utf-8"
)

// serving is a client of a server that the test is, which pauses for next to no time. A response has the type that Prism's has,
// unless h sets another.
func serving(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "events":
			w.Header().Set("Content-Type", "text/event-stream")
		case "rows", "results":
			w.Header().Set("Content-Type", mediaTypes[cmp.Or(r.URL.Query().Get("format"), "csv")])
		}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return calling(t, s.URL)
}

func calling(t *testing.T, url string) *Client {
	t.Helper()
	c, err := New(Config{URL: url, Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	c.pause = pauses{first: time.Millisecond, longest: 2 * time.Millisecond}
	c.poll = c.pause
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func answering(t *testing.T, status int, contentType, text string) *Client {
	t.Helper()
	return serving(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, status, contentType, text) })
}

func answer(w http.ResponseWriter, status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Request-Id", "r-1")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	t.Run("an error has the status, the code, the message and the request's id", func(t *testing.T) {
		t.Parallel()
		c := answering(t, 409, jsonType, `{"error":{"code":"conflict","message":"This prism is archived."}}`)
		_, err := c.ReplaceLens(t.Context(), "a", Lens{})
		var e *Error
		if !errors.As(err, &e) || *e != (Error{"replaceLens", 409, CodeConflict, "This prism is archived.", "r-1", 0}) {
			t.Errorf("got %#v", err)
		}
		if got := err.Error(); got != "prism: replaceLens: 409 conflict: This prism is archived." {
			t.Error(got)
		}
	})
	t.Run("the 503 has a code here", func(t *testing.T) {
		t.Parallel()
		_, err := answering(t, 503, jsonType, unavailableJSON).ReadPrism(t.Context(), "a")
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnexpected) {
			t.Error(err)
		}
	})
	t.Run("a failed result is carried by its error", func(t *testing.T) {
		t.Parallel()
		c := answering(t, 502, jsonType, failedJSON)
		calls := map[string]func() error{
			"create":     func() error { _, err := c.CreateResult(t.Context(), "a", NewResult{Text: "t"}); return err },
			"retry":      func() error { _, err := c.RetryResult(t.Context(), "a"); return err },
			"retry json": func() error { _, err := c.RetryResult(t.Context(), "a", WithFormat(JSON)); return err },
		}
		for name, call := range calls {
			var failed *FailedError
			if err := call(); !errors.As(err, &failed) || failed.Result.ID != resultID || failed.Result.Answers != nil ||
				string(failed.Body) != failedJSON || failed.RequestID != "r-1" ||
				!strings.Contains(err.Error(), "within 15 seconds") {
				t.Errorf("%s: got %#v", name, err)
			}
		}
	})
	t.Run("a failed row is carried as it is", func(t *testing.T) {
		t.Parallel()
		const row = "result_id\terror\nx\ty\n"
		c := answering(t, 502, "text/tab-separated-values; charset=utf-8", row)
		_, err := c.CreateResult(t.Context(), "a", NewResult{Text: "t"}, WithFormat(TSV))
		var failed *FailedError
		if !errors.As(err, &failed) || string(failed.Body) != row || failed.Result != nil {
			t.Errorf("got %#v", err)
		}
		if _, err := c.CreateResult(t.Context(), "a", NewResult{Text: "t"}, WithFormat(CSV)); !errors.Is(err, ErrUnexpected) {
			t.Errorf("a row in another format: %#v", err)
		}
	})
	t.Run("a proxy's page is unexpected", func(t *testing.T) {
		t.Parallel()
		for _, status := range []int{301, 403, 429, 502, 504} {
			_, err := answering(t, status, "text/html", "<h1>secret stack trace</h1>").CreateResult(t.Context(), "a", NewResult{Text: "t"})
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeUnexpected || e.Status != status || strings.Contains(err.Error(), "secret") {
				t.Errorf("%d: %v", status, err)
			}
		}
		if _, err := answering(t, 200, "text/html", "<h1>log in</h1>").ReadResult(t.Context(), "a"); !errors.Is(err, ErrUnexpected) {
			t.Error(err)
		}
	})
	t.Run("a caller that leaves sees its own reason", func(t *testing.T) {
		t.Parallel()
		arrived, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		c := serving(t, func(http.ResponseWriter, *http.Request) { close(arrived); <-release })
		ctx, leave := context.WithCancel(t.Context())
		go func() { <-arrived; leave() }()
		_, err := c.ReadResult(ctx, "a")
		var lost *ConnectionError
		if !errors.As(err, &lost) || !errors.Is(err, context.Canceled) || !lost.Sent {
			t.Error(err)
		}
	})
	t.Run("an attempt that takes too long says so", func(t *testing.T) {
		t.Parallel()
		release := make(chan struct{})
		defer close(release)
		c := serving(t, func(http.ResponseWriter, *http.Request) { <-release })
		_, err := c.RetryResult(t.Context(), "a", WithTimeout(time.Millisecond))
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			t.Error(err)
		}
	})
}

func TestAStreamThatIsCutIsNotTakenForAWhole(t *testing.T) {
	t.Parallel()
	c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "result_id\r\n")
		_ = http.NewResponseController(w).Flush()
		cut(w)
	})
	stream, err := c.ExportResults(t.Context(), "a", Export{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	got, err := io.ReadAll(stream)
	var lost *ConnectionError
	if string(got) != "result_id\r\n" || !errors.As(err, &lost) || lost.Operation != "exportResults" {
		t.Errorf("got %q, %v", got, err)
	}
}

// stalling gives its text and then nothing until the context ends.
type stalling struct {
	text io.Reader
	ctx  context.Context
}

func (s *stalling) Read(p []byte) (int, error) {
	if n, err := s.text.Read(p); err == nil {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (*stalling) Close() error { return nil }

func TestAStreamMayStallForTheReaderButNotForTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBody(t.Context(), "exportResults", Timeout)
		b.timer.Stop() // as it is once the header has come
		b.from = &stalling{strings.NewReader("ab"), b.ctx}
		defer b.Close()
		for range 2 {
			if n, err := b.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			<-time.After(10 * Timeout)
		}
		began := time.Now()
		_, err := b.Read(make([]byte, 1))
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() || time.Since(began) != Timeout {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestADocumentThatIsCutIsReadAgain(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			answer(w, 200, jsonType, okJSON)
			return
		}
		_, _ = io.WriteString(w, okJSON[:20])
		_ = http.NewResponseController(w).Flush()
		cut(w)
	})
	if r, err := c.ReadResult(t.Context(), "a"); err != nil || r.ID != resultID {
		t.Errorf("got %v, %v", r, err)
	}
	if r, err := c.ReadResult(t.Context(), "a", WithFormat(JSON)); err != nil || string(r.Body) != okJSON {
		t.Errorf("got %s, %v", r.Body, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := serving(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		var e *Error
		if _, err := c.ReadResult(t.Context(), "a"); !errors.As(err, &e) || e.Status != status || e.Code != CodeUnexpected {
			t.Errorf("%d: %v", status, err)
		}
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

func TestTheKeyIsNotShown(t *testing.T) {
	t.Parallel()
	c := answering(t, 401, jsonType, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`)
	_, refused := c.ListKeys(t.Context(), PageOptions{})
	_, lost := calling(t, "http://127.0.0.1:1").ReadResult(t.Context(), "a?ref=private")
	_, badURL := New(Config{URL: "http://user:" + testKey + "@host/", Key: testKey})
	_, badKey := New(Config{URL: "http://host", Key: testKey + "\n"})
	var made CreatedAPIKey
	if err := json.Unmarshal([]byte(`{"key":"`+testKey+`"}`), &made); err != nil || made.Key.Reveal() != testKey {
		t.Fatal(made, err)
	}
	var logged bytes.Buffer
	encoded, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "client", c, "made", made)
	shown := fmt.Sprintf("%v %+v %#v %v %+v %#v %s %v %v %v %v %s %s", c, c, c, made, made, made, made.Key, refused, lost, badURL, badKey, encoded, logged.String())
	if strings.Contains(shown, testKey[6:]) || strings.Contains(shown, "private") {
		t.Error(shown)
	}
	for _, err := range []error{badURL, badKey} {
		if err == nil {
			t.Error("it was taken")
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "host", "ftp://host", "http://", "http://h?x", "http://h#x", "http://h?", "http://h:x"} {
		if _, err := New(Config{URL: url, Key: testKey}); err == nil {
			t.Errorf("the address %q was taken", url)
		}
	}
	for _, c := range []Config{{URL: "http://h"}, {URL: "http://h", Key: "a b"}, {URL: "http://h", Key: "a", Attempts: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	t.Run("an address may have a path, and parameters are escaped", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		c, err := New(Config{URL: "https://host/some/where/", Key: testKey, Transport: r, UserAgent: "me"})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.ReadPrism(t.Context(), "a/b ?c%\u00e9")
		if got := r.request.URL.String(); got != "https://host/some/where/v1/prisms/a%2Fb%20%3Fc%25%C3%A9" {
			t.Error(got)
		}
		if h := r.request.Header; h.Get("Authorization") != "Bearer "+testKey || h.Get("User-Agent") != "me" || h.Get("Content-Type") != "" {
			t.Error(h)
		}
	})
	t.Run("idempotency keys differ", func(t *testing.T) {
		t.Parallel()
		if a, b := NewIdempotencyKey(), NewIdempotencyKey(); a == b || len(a) < 20 || len(a) > 200 {
			t.Error(a, b)
		}
	})
}

func TestAnswersKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var r Result
	if err := json.Unmarshal([]byte(okJSON), &r); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(r); string(got) != okJSON {
		t.Errorf("got  %s\nwant %s", got, okJSON)
	}
	if v, ok := r.Row.Get("a"); !ok || v != 0.5 {
		t.Error(v, ok)
	}
	if _, ok := r.Row.Get("b"); ok {
		t.Error("there is no b")
	}
	const raw = `{"t":{"type":"choice","value":"z","probabilities":{"z":0.75,"a":0.25},"confidence":0.5},` +
		`"y":{"type":"yes_no","probability":0},"s":{"type":"scale","level":"low","probabilities":{"low":1,"high":0}}}`
	var a Answers
	if err := json.Unmarshal([]byte(raw), &a); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(a); string(got) != raw {
		t.Errorf("got  %s\nwant %s", got, raw)
	}
	if one, ok := a.Get("y"); !ok || one.Type != YesNo || *one.Probability != 0 {
		t.Error(one, ok)
	}
}
