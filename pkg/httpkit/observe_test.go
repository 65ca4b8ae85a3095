package httpkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// series are the series of a metric, as name{label="value",…} value, in order.
func series(t *testing.T, g prometheus.Gatherer, name string) []string {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			found = append(found, strings.Join(labels, ",")+" "+value(m))
		}
	}
	return found
}

func value(m *dto.Metric) string {
	switch {
	case m.GetCounter() != nil:
		return fmt.Sprint(m.GetCounter().GetValue())
	case m.GetGauge() != nil:
		return fmt.Sprint(m.GetGauge().GetValue())
	}
	return fmt.Sprint(m.GetHistogram().GetSampleCount())
}

func wantSeries(t *testing.T, g prometheus.Gatherer, name string, want ...string) {
	t.Helper()
	if got := series(t, g, name); !slices.Equal(got, want) {
		t.Errorf("%s: got\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	host := " HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, request := range []string{
		get("/v1/results/a"), get("/v1/results/b?format=csv"), "HEAD /v1/results/c" + host,
		get("/nothing/secret"), "BREW /v1/results/a" + host, "DELETE /v1/results/a" + host, get("/%zz"), get("/fails"), "hello\r\n\r\n",
		"GET /v1/results/a HTTP/1.2\r\nHost: x\r\n\r\n",
	} {
		r.once(request)
	}
	wantSeries(t, r.metrics, "prism_http_requests_total",
		`method="DELETE",route="unknown",service="test",status="404" 1`,
		`method="GET",route="/fails",service="test",status="500" 1`,
		`method="GET",route="/v1/results/:id",service="test",status="200" 2`,
		`method="GET",route="unknown",service="test",status="400" 2`,
		`method="GET",route="unknown",service="test",status="404" 1`,
		`method="HEAD",route="/v1/results/:id",service="test",status="200" 1`,
		`method="OTHER",route="unknown",service="test",status="400" 1`,
		`method="OTHER",route="unknown",service="test",status="404" 1`,
	)
	wantSeries(t, r.metrics, "prism_http_request_duration_seconds",
		`method="DELETE",route="unknown",service="test" 1`,
		`method="GET",route="/fails",service="test" 1`,
		`method="GET",route="/v1/results/:id",service="test" 2`,
		`method="GET",route="unknown",service="test" 3`,
		`method="HEAD",route="/v1/results/:id",service="test" 1`,
		`method="OTHER",route="unknown",service="test" 2`,
	)
	eventually(t, "nothing in flight", func() bool { return r.tracker.inFlight.Load() == 0 })
	wantSeries(t, r.metrics, "prism_http_in_flight", `service="test" 0`)
	wantSeries(t, r.metrics, "prism_http_shed_total")
}

func TestShedRequestsAreCountedByReason(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{MaxInFlight: 1, MaxConnections: 2}, Deps{Now: newClock().now}, g.route)
	busy := r.dial().send(get("/gate"))
	g.wait(t)
	wantSeries(t, r.metrics, "prism_http_in_flight", `service="test" 1`)
	second := r.dial()
	second.send(get("/v1/results/a")).reply("GET")
	third := r.dial().send(get("/v1/results/a"))
	third.reply("GET")
	_ = third.Close()
	r.stop()
	eventually(t, "refusing", r.tracker.refusing.Load)
	second.send(get("/v1/results/a")).reply("GET")
	wantSeries(t, r.metrics, "prism_http_shed_total",
		`reason="connections",service="test" 1`, `reason="in_flight",service="test" 1`, `reason="stopping",service="test" 1`)
	close(g.open)
	busy.reply("GET")
	_, _ = busy.Close(), second.Close()
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// Standalone has several servers in one process.
func TestServersMayShareARegistry(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	for _, name := range []string{"a", "b", "b"} {
		s := New(Config{Name: name}, Deps{Metrics: reg})
		s.observe.shed(shedInFlight)
	}
	wantSeries(t, reg, "prism_http_shed_total", `reason="in_flight",service="a" 1`, `reason="in_flight",service="b" 2`)
	wantSeries(t, reg, "prism_http_in_flight", `service="a" 0`, `service="b" 0`)
}

func TestSpans(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	broken := newSource(io.MultiReader(strings.NewReader("a"), failing{errors.New("the store fell")}))
	r := start(t, Config{}, Deps{Tracer: provider}, func(app *fiber.App) {
		streaming(broken)(app)
		app.Get("/inside", func(c *fiber.Ctx) error {
			return Send(c, 200, "text/plain", []byte(trace.SpanContextFromContext(c.UserContext()).TraceID().String()))
		})
	})
	host := " HTTP/1.1\r\nHost: x\r\n\r\n"
	const parent = "0af7651916cd43dd8448eb211c80319c"
	for _, c := range []struct {
		request, name, attributes string
		status                    codes.Code
	}{
		{get("/v1/results/secret?a=secret"), "GET /v1/results/:id", "http.request.method=GET http.response.status_code=200 http.route=/v1/results/:id", codes.Unset},
		{get("/nothing/secret"), "GET", "http.request.method=GET http.response.status_code=404", codes.Unset},
		{"BREW /secret" + host, "HTTP", "http.request.method=_OTHER http.response.status_code=404", codes.Unset},
		{get("/fails"), "GET /fails", "error.type=500 http.request.method=GET http.response.status_code=500 http.route=/fails", codes.Error},
		{
			"GET /inside HTTP/1.1\r\nHost: x\r\nTraceparent: 00-" + parent + "-b7ad6b7169203331-01\r\n\r\n", "GET /inside",
			"http.request.method=GET http.response.status_code=200 http.route=/inside", codes.Unset,
		},
	} {
		got := r.once(c.request)
		spans := recorder.Ended()
		span := spans[len(spans)-1]
		if span.Name() != c.name || span.SpanKind() != trace.SpanKindServer || span.Status().Code != c.status {
			t.Errorf("got %s %s %v", span.Name(), span.SpanKind(), span.Status())
		}
		wantAttributes(t, span, c.attributes)
		if c.name == "GET /inside" && (got.body != parent || span.Parent().TraceID().String() != parent) {
			t.Errorf("the trace does not go on: %s", got.body)
		}
	}
	p := r.dial().send(get("/export"))
	_, _ = io.ReadAll(p.r)
	spans := recorder.Ended()
	wantAttributes(t, spans[len(spans)-1], "error.type=broken_stream http.request.method=GET http.response.status_code=200 http.route=/export")
}

func TestWithoutATracerTheCallersTraceGoesOn(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		app.Get("/inside", func(c *fiber.Ctx) error {
			return Send(c, 200, "text/plain", []byte(trace.SpanContextFromContext(c.UserContext()).TraceID().String()))
		})
	})
	const parent = "0af7651916cd43dd8448eb211c80319c"
	got := r.once("GET /inside HTTP/1.1\r\nHost: x\r\nTraceparent: 00-" + parent + "-b7ad6b7169203331-01\r\n\r\n")
	wantReply(t, got, 200, parent)
	wantReply(t, r.once(get("/inside")), 200, trace.TraceID{}.String())
}

// The flag of the caller counts on internal servers, with a token.
// spec: traces-own-decision
func TestTheCallersFlagIsTrustedFromAServiceOnly(t *testing.T) {
	t.Parallel()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for authorization, want := range map[string]string{"Bearer right": "01", "Bearer wrong": "00"} {
		r := start(t, Config{TrustTrace: func(h []byte) bool { return string(h) == "Bearer right" }}, Deps{}, func(app *fiber.App) {
			app.Get("/inside", func(c *fiber.Ctx) error {
				return Send(c, 200, "text/plain", []byte(trace.SpanContextFromContext(c.UserContext()).TraceFlags().String()))
			})
		})
		got := r.once("GET /inside HTTP/1.1\r\nHost: x\r\nAuthorization: " + authorization + "\r\nTraceparent: " + parent + "\r\n\r\n")
		wantReply(t, got, 200, want)
	}
}

func wantAttributes(t *testing.T, span sdktrace.ReadOnlySpan, want string) {
	t.Helper()
	var attributes []string
	for _, a := range span.Attributes() {
		attributes = append(attributes, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(attributes)
	if got := strings.Join(attributes, " "); got != want {
		t.Errorf("%s: got %s, want %s", span.Name(), got, want)
	}
	if len(span.Events()) > 0 || len(span.Links()) > 0 {
		t.Errorf("%s: events or links", span.Name())
	}
}

func TestAccessLinesHoldNoValues(t *testing.T) {
	t.Parallel()
	provider := sdktrace.NewTracerProvider()
	r := start(t, Config{}, Deps{Tracer: provider}, echo)
	secret := "hunter2"
	for _, request := range []string{
		"GET /v1/results/" + secret + "?a=" + secret + " HTTP/1.1\r\nHost: " + secret + "\r\nAuthorization: Bearer " + secret + "\r\nX-Request-Id: mine\r\n\r\n",
		get("/" + secret), secret + "\r\n\r\n", "GET " + secret + " HTTP/1.1\r\n\r\n", secret + " / HTTP/1.1\r\nHost: x\r\n\r\n",
		post("Content-Type: "+secret+"\r\n", secret), post(asJSON, secret),
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + secret + "\x00\r\n\r\n",
	} {
		r.once(request)
	}
	log := r.log.String()
	if strings.Contains(log, secret) {
		t.Errorf("the log repeats what was sent:\n%s", log)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(log[:strings.IndexByte(log, '\n')]), &line); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"time", "trace_id", "span_id", "duration_ms"} {
		if line[key] == nil {
			t.Errorf("no %s", key)
		}
		delete(line, key)
	}
	want := map[string]any{"level": "DEBUG", "msg": "request", "route": "/v1/results/:id", "method": "GET", "status": 200.0, "request_id": "mine"}
	if fmt.Sprint(line) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", line, want)
	}
}
