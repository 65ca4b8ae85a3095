package load_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// front is an HTTP proxy before Prism with a fault: it gets each request and what would be answered to it.
type front func(w http.ResponseWriter, r *http.Request, forward http.Handler)

func (p prism) behind(t *testing.T, f front) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.addr})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w, r, proxy) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// requests that a run makes, beside its end.
const requests = 300

// run loads Prism through f, which is mended before the load ends.
func run(t *testing.T, f front) *load.Report {
	t.Helper()
	p := start(t)
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n atomic.Int64
	file := filepath.Join(t.TempDir(), "key") // of one account, to try both ways
	if err := os.WriteFile(file, []byte(p.keys[1]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := load.New(load.Config{
		Gateways: []string{p.behind(t, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			if n.Add(1) < requests {
				f(w, r, forward)
				return
			}
			cancel()
			forward.ServeHTTP(w, r)
		})},
		Keys: [2]string{p.keys[0]}, KeyFiles: [2]string{"", file}, Clients: 8, Turnover: 10, Tag: upstream.Tag{FailPercent: 20},
	})
	t.Cleanup(l.Close)
	if err := l.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := l.Report(t.Context(), stop, p.model, func(load.Seen) {})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestALoadOfAPrismWithoutAFaultIsUnbroken(t *testing.T) {
	t.Parallel()
	report := run(t, func(w http.ResponseWriter, r *http.Request, forward http.Handler) { forward.ServeHTTP(w, r) })
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
	if report.Seen.Calls < requests || report.Stored == 0 || report.Seen.Refused == 0 {
		t.Errorf("seen is only %+v", report)
	}
}

// nth lets a fault happen to each nth request that matches.
func nth(n int64, matches func(*http.Request) bool, fault front) front {
	var seen atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if matches(r) && seen.Add(1)%n == 0 {
			fault(w, r, forward)
			return
		}
		forward.ServeHTTP(w, r)
	}
}

func isRead(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1/results/") && r.Method == http.MethodGet
}
func isRetry(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/retry") }

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/results")
}

// changed answers with a body that is not the one that was answered.
func changed(change func([]byte) []byte) front {
	return func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		rec := httptest.NewRecorder()
		forward.ServeHTTP(rec, r)
		w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(change(rec.Body.Bytes()))
	}
}

func cut(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.Close()
}

func cutAfter(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	forward.ServeHTTP(httptest.NewRecorder(), r)
	cut(w, r, forward)
}

func away(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"statusCode":503,"error":"Service Unavailable","message":"Service Unavailable"}`)
}

// spec: linearizable
func TestALoadSeesFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		front front
		seen  string // in the report
		right bool   // the fault only makes calls fail
	}{
		{"a read of other bytes", nth(9, isRead, changed(func(b []byte) []byte { return append(b, ' ') })), " changed:", false},
		{
			"a result that is gone", nth(9, isRead, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
				r.URL.Path = "/v1/results/0190b5a8-7c00-7abc-8def-00000000002a"
				forward.ServeHTTP(w, r)
			}),
			"404: not found", false,
		},
		{
			"an answer that the model did not give", nth(4, isCreate, changed(func(b []byte) []byte {
				return bytes.Replace(b, []byte(`probability":0.5`), []byte(`probability":0.6`), 1)
			})),
			" changed:", false,
		},
		{
			"another call's answer", nth(4, isCreate, changed(func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"ref":"race `), []byte(`"ref":"race 9`), 1)
			})),
			" changed:", false,
		},
		{"an error that the specification does not have", nth(4, isCreate, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "bad gateway", http.StatusBadGateway)
		}), "does not have", false},
		{"a call that is refused", nth(4, isCreate, away), "503", true},
		{"a call whose connection is cut", nth(4, isCreate, cut), "no response", true},
		{"a call whose response is lost", nth(4, isCreate, cutAfter), "no response", true},
		{"a retry whose response is lost", nth(2, isRetry, cutAfter), "no response", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report := run(t, test.front)
			if err := report.Unbroken(); err == nil || !strings.Contains(err.Error(), test.seen) {
				t.Errorf("the load saw %v", err)
			}
			if err := report.Right(); (err == nil) != test.right {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAModelThatIsAskedTooOftenIsSeen(t *testing.T) {
	t.Parallel()
	for asked, unbroken := range map[int]bool{99: false, 100: true, 110: true, 111: false} {
		r := load.Report{Seen: load.Seen{Results: 100}, Stored: 100, Asked: asked}
		if err := r.Unbroken(); (err == nil) != unbroken {
			t.Errorf("asked %d times for 100 results: %v", asked, err)
		}
	}
}

func TestARevokedKeyIsRefusedByEveryReplica(t *testing.T) {
	t.Parallel()
	p := start(t)
	seen, err := load.Revoke(t.Context(), []string{p.addr, p.addr}, p.keys[0], 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := seen.Right(); err != nil || seen.After != 5*2*5 || seen.Refused != seen.After {
		t.Errorf("%v in %+v", err, seen)
	}
	forgetful := p.behind(t, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		r.Header.Set("Authorization", "Bearer "+p.keys[0])
		forward.ServeHTTP(w, r)
	})
	if seen, err = load.Revoke(t.Context(), []string{p.addr, forgetful}, p.keys[0], 2); err != nil {
		t.Fatal(err)
	}
	if err := seen.Right(); err == nil || seen.Refused != seen.After/2 || len(seen.Problems) == 0 {
		t.Errorf("a replica that still takes a revoked key: %v in %+v", err, seen)
	}
}
