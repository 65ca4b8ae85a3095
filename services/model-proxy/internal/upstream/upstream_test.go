package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, c Config) *Client {
	t.Helper()
	cl, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// post returns a copy of the answer.
func post(ctx context.Context, c *Client, body Body) (got []byte, fault *Fault) {
	fault = c.Post(ctx, "/x", body, 64, func(answer []byte) *Fault {
		got = append([]byte{}, answer...)
		return nil
	})
	return got, fault
}

func TestACertificateNobodyKnowsIsRefused(t *testing.T) {
	t.Parallel()
	asked := false
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	_, fault := post(t.Context(), client(t, Config{BaseURL: server.URL}), nil)
	if fault == nil || fault.Cause != "tls" || asked {
		t.Errorf("got %v", fault)
	}
	if strings.Contains(fmt.Sprint(*fault), "127.0.0.1") {
		t.Errorf("the address is in %v", *fault)
	}
}

func TestAPortNobodyListensOnIsUnreachable(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	_, fault := post(t.Context(), client(t, Config{BaseURL: "http://" + ln.Addr().String()}), nil)
	if fault == nil || fault.Cause != "refused" || !fault.Retryable() {
		t.Errorf("got %v", fault)
	}
}

func TestARedirectAcrossRealSocketsIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	_, fault := post(t.Context(), client(t, Config{BaseURL: server.URL, Header: Bearer("k")}), Body{[]byte("{}")})
	if fault == nil || fault.Status != 307 {
		t.Errorf("got %v", fault)
	}
}

func TestProxiesOfTheEnvironmentAreNotRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	t.Cleanup(server.Close)
	// net/http never sends loopback addresses to a proxy, so the address is given a name of its own.
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	var asked string
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		asked = address
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	got, fault := post(t.Context(), client(t, Config{BaseURL: "http://model.example/v1/", Dial: dial}), nil)
	if fault != nil || string(got) != "ok" || asked != "model.example:80" {
		t.Errorf("got %q, %v by %s", got, fault, asked)
	}
}

func TestAnEndedContextIsACancelledCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, fault := post(ctx, client(t, Config{BaseURL: "http://127.0.0.1:1"}), nil)
	if fault == nil || fault.Cause != Cancelled || fault.Retryable() {
		t.Errorf("got %v", fault)
	}
}

func TestBaseURLsThatAreNoneAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, u := range []string{
		"", "model.example/v1", "ftp://model.example", "http://", "http://user:pass@model.example",
		"http://model.example?key=1", "http://model.example?", "http://model.example#f", "http://model.example\x00", "//model.example",
	} {
		if _, err := New(Config{BaseURL: u}); err == nil || strings.Contains(err.Error(), "model.example") {
			t.Errorf("%q: got %v", u, err)
		}
	}
}

func TestKeysThatNoHeaderCanCarryAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"sk secret", "sk-secret\n", "sk-sécret", "\x00secret", "secret\x7f"} {
		if err := CheckKey(k); err == nil || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: got %v", k, err)
		}
	}
	if CheckKey("") != nil || CheckKey("sk-AZaz09._~+/=") != nil {
		t.Error("good keys are refused")
	}
	if len(Bearer("")) != 0 {
		t.Error("no key, yet a header")
	}
}

// spec: retry-after
func TestRetryAfterIsReadInAllItsForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, 0},
		{http.Header{"Retry-After": {"3"}}, 3 * time.Second},
		{http.Header{"Retry-After": {" 3 "}}, 3 * time.Second},
		{http.Header{"Retry-After": {"0.25"}}, 250 * time.Millisecond},
		{http.Header{"Retry-After": {"0"}}, 0},
		{http.Header{"Retry-After": {"-5"}}, 0},
		{http.Header{"Retry-After": {"NaN"}}, 0},
		{http.Header{"Retry-After": {"Inf"}}, maxRetryAfter},
		{http.Header{"Retry-After": {"1e300"}}, maxRetryAfter},
		{http.Header{"Retry-After": {"soon"}}, 0},
		{http.Header{"Retry-After": {"Sun, 01 Nov 2026 12:00:07 GMT"}}, 7 * time.Second},
		{http.Header{"Retry-After": {"Sunday, 01-Nov-26 12:00:07 GMT"}}, 7 * time.Second},
		{http.Header{"Retry-After": {"Sun, 01 Nov 2026 11:00:00 GMT"}}, 0},
		{http.Header{"Retry-After": {"Sun, 01 Nov 2099 11:00:00 GMT"}}, maxRetryAfter},
		{http.Header{"Retry-After": {"Sun, 01 Nov 2026 12:00:07 GMT"}, "Date": {"Sun, 01 Nov 2026 12:00:04 GMT"}}, 3 * time.Second},
		{http.Header{"Retry-After": {"Sun, 01 Nov 2026 12:00:07 GMT"}, "Date": {"today"}}, 7 * time.Second},
		{http.Header{"Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		{http.Header{"Retry-After-Ms": {"12.5"}, "Retry-After": {"9"}}, 12500 * time.Microsecond},
		{http.Header{"Retry-After-Ms": {"x"}, "Retry-After": {"9"}}, 9 * time.Second},
	} {
		if got := retryAfter(c.header, now); got != c.want {
			t.Errorf("%v: got %v, want %v", c.header, got, c.want)
		}
	}
}

// spec: upstream-retries
func TestOnlySomeFaultsAreWorthAnotherAttempt(t *testing.T) {
	t.Parallel()
	for status := 300; status < 600; status++ {
		want := status == 408 || status == 409 || status == 429 || status >= 500
		if got := Refused(status, nil, nil).Retryable(); got != want {
			t.Errorf("%d: got %v", status, got)
		}
	}
}

func TestCausesAreToldApart(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"dns": &net.DNSError{}, "timeout": &net.OpError{Err: context.DeadlineExceeded}, "cut": io.ErrUnexpectedEOF,
		"connection": errors.New("other"),
	} {
		if got := cause(err); got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

// spans is a tracer provider that keeps the span kinds and names it was asked for, and gives out one trace id.
type spans struct {
	embedded.TracerProvider
	started []string
}

type tracer struct {
	noop.Tracer
	to *spans
}

func (s *spans) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{to: s} }

func (tr tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	c := trace.NewSpanStartConfig(opts...)
	line := name + " " + c.SpanKind().String()
	for _, a := range c.Attributes() {
		line += " " + string(a.Key) + "=" + a.Value.AsString()
	}
	tr.to.started = append(tr.to.started, line)
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: 1})
	ctx = trace.ContextWithSpanContext(ctx, sc)
	return ctx, trace.SpanFromContext(ctx)
}

func TestAnAttemptIsAClientSpanWhoseTraceGoesAlong(t *testing.T) {
	t.Parallel()
	var sent http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Header }))
	t.Cleanup(server.Close)
	s := &spans{}
	if _, fault := post(t.Context(), client(t, Config{BaseURL: server.URL, Provider: "p", Tracer: s}), nil); fault != nil {
		t.Fatal(fault)
	}
	if len(s.started) != 1 || s.started[0] != "POST client http.request.method=POST prism.model.provider=p" {
		t.Errorf("got %q", s.started)
	}
	if sent.Get("Traceparent") != "00-01000000000000000000000000000000-0200000000000000-01" || sent.Get("Baggage") != "" {
		t.Errorf("sent %v", sent)
	}
}

func TestABodyIsReadUpToWhatItsQuestionsNeed(t *testing.T) {
	t.Parallel()
	for questions, most := range map[int]int{1: 544 << 10, 64: 2560 << 10} {
		for size, want := range map[int]int{most: most, most + 1: -1, 3 * most: -1} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, strings.Repeat(" ", size))
			}))
			t.Cleanup(server.Close)
			got := -1
			fault := client(t, Config{BaseURL: server.URL}).Post(t.Context(), "/x", nil, questions, func(answer []byte) *Fault {
				got = len(answer)
				return nil
			})
			if (fault != nil) != (want < 0) || fault != nil && (fault.Class != failure.Unreadable || fault.Cause != tooLarge) || got != want {
				t.Errorf("%d questions: of %d bytes came %d, want %d; %v", questions, size, got, want, fault)
			}
		}
	}
}

// countedWrites counts the writes of a connection.
type countedWrites struct {
	net.Conn
	writes *atomic.Int32
}

func (c countedWrites) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func TestTheParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		input int
		once  bool
	}{{"of a usual request are one write", 2 << 10, true}, {"of a large one arrive too", 1 << 20, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := Body{[]byte(`{"text":"`), bytes.Repeat([]byte("a"), c.input), []byte(`"}`)}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(r.Body) // a server that answers before reads no more
				_, _ = w.Write(sent)
			}))
			t.Cleanup(server.Close)
			var writes atomic.Int32
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
				return countedWrites{conn, &writes}, err
			}
			got, fault := post(t.Context(), client(t, Config{BaseURL: server.URL, Dial: dial}), body)
			if fault != nil || !bytes.Equal(got, bytes.Join(body, nil)) {
				t.Fatalf("%d bytes came back, %v", len(got), fault)
			}
			if once := writes.Load() == 1; once != c.once {
				t.Errorf("%d writes", writes.Load())
			}
		})
	}
}
