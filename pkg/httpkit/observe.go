package httpkit

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/telemetry"
)

// unknownRoute is the route label of requests that matched none.
const unknownRoute = "unknown"

// observer writes the metrics, spans and access log lines of a server. Of what the caller sent they hold only the method, if
// HTTP defines it, and the request id and the trace id, whose characters are bounded (spec: values-are-never-repeated).
type observer struct {
	service    string
	log        *slog.Logger
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	untraced   bool // no span is ever exported
	trustTrace func(authorization []byte) bool
	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	sheds      *prometheus.CounterVec
}

func newObserver(cfg Config, d Deps, t *tracker) *observer {
	service := cfg.Name
	for name, gauge := range map[string]struct {
		help  string
		value func() int64
		limit int64
	}{
		"prism_http_in_flight":   {"Requests that are being handled or answered.", t.inFlight.Load, int64(t.places.Places())},
		"prism_http_connections": {"Connections that are served, idle ones included.", t.residents.Load, t.maxConns},
		"prism_http_arriving":    {"Requests that wait for the rest of their body.", t.arrivals.count, int64(t.arrivals.max)},
		"prism_http_body_bytes":  {"Bytes of bodies that requests in flight hold beyond the first 16 KiB of each.", t.heldBytes.Load, t.maxHeld},
		"prism_http_response_bytes": {
			"Bytes of response bodies that requests in flight hold beyond the first 16 KiB of each.",
			func() int64 { return int64(t.answers.Taken()) }, int64(t.answers.Places()),
		},
		"prism_http_streams":       {"Responses that are made while they are sent, such as exports.", t.streams.count, int64(t.streams.max)},
		"prism_http_event_streams": {"Responses of server-sent events.", t.events.count, int64(t.events.Places())},
	} {
		labels := prometheus.Labels{"service": service}
		register(d.Metrics, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name, Help: gauge.help, ConstLabels: labels,
		}, func() float64 { return float64(gauge.value()) }))
		register(d.Metrics, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name + "_limit", Help: "The " + name + " at which more are shed.", ConstLabels: labels,
		}, func() float64 { return float64(gauge.limit) }))
	}
	return &observer{
		service:    service,
		log:        d.Log,
		untraced:   telemetry.Untraced(d.Tracer),
		trustTrace: cfg.TrustTrace,
		tracer:     d.Tracer.Tracer("github.com/prism-results/prism/pkg/httpkit"),
		propagator: d.Propagator,
		requests: register(d.Metrics, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_http_requests_total",
			Help: "Requests that were answered, refused ones included.",
		}, []string{"service", "route", "method", "status"})),
		durations: register(d.Metrics, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_http_request_duration_seconds",
			Help: "Time from a request's headers to its answer; of a stream, to its end.",
			// Up to a call with a 15 s model wait and its saving.
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 30},
		}, []string{"service", "route", "method"})),
		sheds: register(d.Metrics, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_http_shed_total",
			Help: "Requests and connections that were refused with 503 before anything was done for them.",
		}, []string{"service", "reason"})),
	}
}

// register returns the collector that is already registered, if there is one: servers of one process share a registry.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	err := r.Register(c)
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if existing, ok := already.ExistingCollector.(C); ok {
			return existing
		}
	}
	if err != nil {
		panic(err) // two different collectors have the same name
	}
	return c
}

func (o *observer) start(ctx context.Context, method string, h carrier) (context.Context, trace.Span) {
	ctx = o.propagator.Extract(ctx, h)
	if caller := trace.SpanContextFromContext(ctx); caller.IsValid() {
		switch {
		case o.trustTrace != nil && o.trustTrace(h.h.Peek(fasthttp.HeaderAuthorization)):
			ctx = telemetry.TrustTrace(ctx)
		case o.untraced: // nothing is recorded here, so nothing is in the services behind
			ctx = trace.ContextWithRemoteSpanContext(ctx, caller.WithTraceFlags(caller.TraceFlags().WithSampled(false)))
		}
	}
	if o.untraced {
		return ctx, noop.Span{} // the trace of the caller, if there is one, continues in ctx
	}
	return o.tracer.Start(ctx, spanMethod(method), trace.WithSpanKind(trace.SpanKindServer))
}

// spanMethod follows the semantic conventions, where an unknown method's name is HTTP.
func spanMethod(method string) string {
	if method == otherMethod {
		return "HTTP"
	}
	return method
}

// done ends the exchange. err is why a streamed response broke off.
func (x *exchange) done(err error) {
	o, span, route, method := x.server.observe, x.span, x.route, x.method
	status := x.fctx.Response.StatusCode()
	if span.IsRecording() {
		attrs := append(make([]attribute.KeyValue, 0, 4), semconv.HTTPResponseStatusCode(status))
		if method == otherMethod {
			attrs = append(attrs, semconv.HTTPRequestMethodOther)
		} else {
			attrs = append(attrs, semconv.HTTPRequestMethodKey.String(method))
		}
		if route != unknownRoute {
			span.SetName(spanMethod(method) + " " + route)
			attrs = append(attrs, semconv.HTTPRoute(route))
		}
		switch {
		case err != nil:
			span.SetStatus(codes.Error, "the response broke off")
			attrs = append(attrs, semconv.ErrorTypeKey.String("broken_stream"))
		case status >= fasthttp.StatusInternalServerError:
			span.SetStatus(codes.Error, "")
			attrs = append(attrs, semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		}
		span.SetAttributes(attrs...)
	}
	span.End()
	o.record(x.ctx, route, method, status, x.fctx.Time(), err)
}

// record counts and logs a response to a request that began at a time.
func (o *observer) record(ctx context.Context, route, method string, status int, began time.Time, err error) {
	took := time.Since(began)
	o.requests.WithLabelValues(o.service, route, method, strconv.Itoa(status)).Inc()
	o.durations.WithLabelValues(o.service, route, method).Observe(took.Seconds())
	level := slog.LevelDebug // metrics count every response
	if status >= fasthttp.StatusInternalServerError {
		level = slog.LevelInfo
	}
	if err != nil {
		level = slog.LevelWarn
	}
	if !o.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("route", route),
		slog.String("method", method),
		slog.Int("status", status),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	o.log.LogAttrs(ctx, level, "request", attrs...)
}

func (o *observer) shed(v shedReason) { o.sheds.WithLabelValues(o.service, string(v)).Inc() }

// carrier lets the propagator read a request's headers.
type carrier struct{ h *fasthttp.RequestHeader }

func (c carrier) Get(key string) string { return string(c.h.Peek(key)) }
func (c carrier) Set(string, string)    {} // headers are only read
func (c carrier) Keys() []string        { return nil }
