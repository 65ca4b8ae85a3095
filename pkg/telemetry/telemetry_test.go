package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/build"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set sets variables of the process for the test.
func set(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		t.Setenv(pairs[i], pairs[i+1])
	}
}

func TestLogLinesSayWhichRequestAndTrace(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := Logger(&out, slog.LevelInfo).With("service", "gateway")
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := WithRequestID(trace.ContextWithSpanContext(context.Background(), span), "abc")
	log.InfoContext(ctx, "hello", "n", 1)
	log.DebugContext(ctx, "hidden")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	for key, want := range map[string]any{
		"msg": "hello", "n": 1.0, "service": "gateway", "request_id": "abc",
		"trace_id": span.TraceID().String(), "span_id": span.SpanID().String(),
	} {
		if line[key] != want {
			t.Errorf("%s: got %v, want %v", key, line[key], want)
		}
	}
	out.Reset()
	log.WithGroup("g").Info("bare")
	if strings.Contains(out.String(), "_id") {
		t.Errorf("ids out of nowhere: %s", out.String())
	}
}

func TestRequestIDsTravelInTheContext(t *testing.T) {
	t.Parallel()
	if id := RequestID(context.Background()); id != "" {
		t.Errorf("got %q", id)
	}
	if id := RequestID(WithRequestID(context.Background(), "a")); id != "a" {
		t.Errorf("got %q", id)
	}
	if a, b := NewRequestID(), NewRequestID(); a == b || len(a) != 32 {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestRegistryHasWhatEveryProcessHas(t *testing.T) {
	t.Parallel()
	families, err := Registry("gateway").Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	for _, want := range []string{"go_goroutines", "process_open_fds", "prism_build_info"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestBuildInfoSaysWhatRuns(t *testing.T) {
	t.Parallel()
	c := buildInfo("gateway", func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{
			GoVersion: "go1.26",
			Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
		}, true
	})
	want := `# HELP prism_build_info What runs: always 1, the facts are in the labels.
# TYPE prism_build_info gauge
prism_build_info{goversion="go1.26",revision="abc",service="gateway",version="` + build.Version + `"} 1
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if testutil.CollectAndCount(buildInfo("x", func() (*debug.BuildInfo, bool) { return nil, false })) != 1 {
		t.Error("nothing without build info")
	}
}

func TestTracingIsOffUnlessAskedFor(t *testing.T) { //nolint:paralleltest // sets variables
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, variables := range map[string][]string{
		"nothing set":   {},
		"a sampler":     {"OTEL_TRACES_SAMPLER", "always_on"},
		"no exporter":   {endpoint, "http://x:4318", "OTEL_TRACES_EXPORTER", "none"},
		"disabled":      {endpoint, "http://x:4318", "OTEL_SDK_DISABLED", "TRUE"},
		"a blank value": {endpoint, " "},
	} {
		t.Run(name, func(t *testing.T) {
			set(t, variables...)
			traces, err := Tracing(context.Background(), "gateway")
			if err != nil {
				t.Error(err)
			}
			if traces.Provider != trace.TracerProvider(noop.NewTracerProvider()) || !Untraced(traces.Provider) {
				t.Errorf("got %T", traces.Provider)
			}
			if err := traces.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestATraceContextIsPassedOnWithoutExport(t *testing.T) {
	t.Parallel()
	traces, err := Tracing(context.Background(), "gateway")
	if err != nil {
		t.Fatal(err)
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	in := propagation.MapCarrier{"traceparent": parent, "baggage": "secret=1"}
	ctx := traces.Propagator.Extract(context.Background(), in)
	ctx, span := traces.Provider.Tracer("t").Start(ctx, "s")
	span.End()
	out := propagation.MapCarrier{}
	traces.Propagator.Inject(ctx, out)
	if out["traceparent"] != parent || out["baggage"] != "" {
		t.Errorf("got %v", out)
	}
}

func TestSpansAreExported(t *testing.T) { //nolint:paralleltest // sets variables
	for name, c := range map[string]struct{ variable, suffix, path string }{
		"a base":             {"OTEL_EXPORTER_OTLP_ENDPOINT", "", "/v1/traces"},
		"a base with a path": {"OTEL_EXPORTER_OTLP_ENDPOINT", "/otel/", "/otel/v1/traces"},
		"an endpoint":        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/ingest", "/ingest"},
	} {
		t.Run(name, func(t *testing.T) {
			type export struct{ path, body string }
			got := make(chan export, 1)
			collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got <- export{r.URL.Path, string(b)}
			}))
			defer collector.Close()
			set(t, c.variable, collector.URL+c.suffix, "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
			traces, err := Tracing(context.Background(), "gateway")
			if err != nil || Untraced(traces.Provider) {
				t.Fatal(err, traces.Provider)
			}
			_, span := traces.Provider.Tracer("t").Start(context.Background(), "the span")
			span.End()
			if err := traces.Shutdown(context.Background()); err != nil {
				t.Fatal(err)
			}
			e := <-got
			if e.path != c.path {
				t.Errorf("exported to %s", e.path)
			}
			if !strings.Contains(e.body, "the span") {
				t.Error("the span is not in the export")
			}
		})
	}
}

// What OpenTelemetry reads by itself reaches the exported spans.
func TestVariablesOfTheProcessCount(t *testing.T) { //nolint:paralleltest // sets variables
	for name, c := range map[string]struct {
		set  []string
		want string
	}{
		"the service":        {nil, "gateway"},
		"its name":           {[]string{"OTEL_SERVICE_NAME", "name", "OTEL_RESOURCE_ATTRIBUTES", "service.name=attr"}, "name"},
		"its attributes":     {[]string{"OTEL_RESOURCE_ATTRIBUTES", "team=a%20b,service.name=other"}, "a b"},
		"the name in those":  {[]string{"OTEL_RESOURCE_ATTRIBUTES", "team=a%20b,service.name=other"}, "other"},
		"a sampler":          {[]string{"OTEL_TRACES_SAMPLER", "always_off"}, ""},
		"a sampler's number": {[]string{"OTEL_TRACES_SAMPLER", "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set(t, c.set...)
			var exported strings.Builder
			collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(&exported, r.Body)
			}))
			defer collector.Close()
			set(t, "OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
			traces, err := Tracing(context.Background(), "gateway")
			if err != nil {
				t.Fatal(err)
			}
			_, span := traces.Provider.Tracer("t").Start(context.Background(), "the span")
			span.End()
			if err := traces.Shutdown(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := exported.String(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("exported %q", got)
			}
		})
	}
}

func TestResourceAttributesThatAreNoListAreRefused(t *testing.T) { //nolint:paralleltest // sets a variable
	set(t, "OTEL_RESOURCE_ATTRIBUTES", "a", "OTEL_TRACES_EXPORTER", "otlp")
	if _, err := Tracing(context.Background(), "gateway"); err == nil || !strings.Contains(err.Error(), "OTEL_RESOURCE_ATTRIBUTES") {
		t.Errorf("got %v", err)
	}
}

func TestWrongVariablesAreNamed(t *testing.T) { //nolint:paralleltest // sets variables
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for want, variables := range map[string][]string{
		"OTEL_TRACES_EXPORTER":               {"OTEL_TRACES_EXPORTER", "zipkin"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":        {endpoint, "http://x:4317", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": {endpoint, "http://x:4317", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"},
		endpoint:                             {endpoint, "user:hunter2@collector"},
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://x"},
	} {
		t.Run(want, func(t *testing.T) {
			set(t, variables...)
			traces, err := Tracing(context.Background(), "gateway")
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
			if traces.Provider == nil || traces.Shutdown == nil {
				t.Error("what comes with the error cannot be used")
			}
		})
	}
}
