package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
// OpenTelemetry reads its other variables from the process itself: OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG,
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _CERTIFICATE, …. An invalid sampler is
// reported to otel.ErrorHandler, and the default is used: every trace is sampled, unless the caller of the API decided otherwise.
//
// Baggage is not propagated: it would carry values of callers into all services.
func Tracing(ctx context.Context, service string, getenv func(string) string) (Traces, error) {
	off := Traces{
		Provider:   noop.NewTracerProvider(),
		Propagator: propagation.TraceContext{},
		Shutdown:   func(context.Context) error { return nil },
	}
	env := func(name string) string { return strings.TrimSpace(getenv(name)) }
	endpoint, wanted, err := destination(env)
	if err != nil || !wanted {
		return off, err
	}
	res, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(service)), resource.WithFromEnv())
	if err != nil {
		return off, errors.New("telemetry: OTEL_RESOURCE_ATTRIBUTES: not a list such as deployment.environment.name=test,team=x")
	}
	var options []otlptracehttp.Option
	if endpoint != "" {
		options = append(options, otlptracehttp.WithEndpointURL(endpoint))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return off, fmt.Errorf("telemetry: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	return Traces{provider, propagation.TraceContext{}, provider.Shutdown}, nil
}

// destination tells whether to export, and the URL; "" is the default of the exporter.
func destination(env func(string) string) (endpoint string, wanted bool, err error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return "", false, nil
	}
	name, endpoint := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if endpoint == "" {
		name, endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT", env("OTEL_EXPORTER_OTLP_ENDPOINT")
		if endpoint != "" {
			endpoint = strings.TrimRight(endpoint, "/") + "/v1/traces"
		}
	}
	switch exporter := env("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return "", false, nil
	case "otlp":
	case "":
		if endpoint == "" {
			return "", false, nil
		}
	default:
		return "", false, fmt.Errorf("telemetry: OTEL_TRACES_EXPORTER: %q is not known; use otlp or none", exporter)
	}
	for _, v := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(v); p != "" && p != "http/protobuf" {
			return "", false, fmt.Errorf("telemetry: %s: %q is not supported; use http/protobuf (port 4318 of a collector)", v, p)
		}
	}
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			// The value may hold a password, so it is not repeated.
			return "", false, errors.New("telemetry: " + name + ": not an http or https address, such as http://collector:4318")
		}
	}
	return endpoint, true, nil
}
