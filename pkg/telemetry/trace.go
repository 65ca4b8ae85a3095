package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Traces is the tracing of a binary.
type Traces struct {
	Provider   trace.TracerProvider
	Propagator propagation.TextMapPropagator
	// Shutdown exports the remaining spans. It is never nil.
	Shutdown func(context.Context) error
}

// Tracing reads the standard variables of OpenTelemetry. Spans are exported over OTLP/HTTP when an endpoint is named
// (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) or OTEL_TRACES_EXPORTER is otlp; OTEL_SDK_DISABLED
// and OTEL_TRACES_EXPORTER=none switch both off. Without export spans cost nothing, and trace contexts are passed on.
//
// OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG select the sampler. An invalid one is reported to otel.ErrorHandler, and the
// default is used: every trace is sampled. The caller of the API does not decide (spec: traces-own-decision). OpenTelemetry
// reads the address and its other variables by itself: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS,
// _TIMEOUT, _CERTIFICATE, ….
//
// Baggage is not propagated: it would carry values of callers into all services.
func Tracing(ctx context.Context, service string) (Traces, error) {
	off := Traces{
		Provider:   noop.NewTracerProvider(),
		Propagator: propagation.TraceContext{},
		Shutdown:   func(context.Context) error { return nil },
	}
	if wanted, err := exports(); err != nil || !wanted {
		return off, err
	}
	res, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(service)), resource.WithFromEnv())
	if err != nil {
		return off, errors.New("telemetry: OTEL_RESOURCE_ATTRIBUTES: not a list such as deployment.environment.name=test,team=x")
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return off, fmt.Errorf("telemetry: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res), sdktrace.WithSampler(sampler(env)))
	return Traces{provider, propagation.TraceContext{}, provider.Shutdown}, nil
}

// Untraced tells whether a provider is that of Tracing without export. Spans of it would still cost where each call has some.
func Untraced(p trace.TracerProvider) bool {
	_, untraced := p.(noop.TracerProvider)
	return untraced
}

// exports tells whether spans are exported. It refuses what the exporter would only log.
func exports() (wanted bool, err error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	name := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	if env(name) == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	endpoint := env(name)
	switch exporter := env("OTEL_TRACES_EXPORTER"); {
	case exporter == "none" || exporter == "" && endpoint == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("telemetry: OTEL_TRACES_EXPORTER: %q is not known; use otlp or none", exporter)
	}
	for _, v := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(v); p != "" && p != "http/protobuf" {
			return false, fmt.Errorf("telemetry: %s: %q is not supported; use http/protobuf (port 4318 of a collector)", v, p)
		}
	}
	u, err := url.Parse(endpoint)
	if endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		// The value may hold a password, so it is not repeated.
		return false, errors.New("telemetry: " + name + ": not an http or https address, such as http://collector:4318")
	}
	return true, nil
}

func env(name string) string { return strings.TrimSpace(os.Getenv(name)) }
