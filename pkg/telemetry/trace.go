package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
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
// OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are read too. The exporter
// reads its other variables (OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _CERTIFICATE, …) from the process itself.
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
	sampler, err := sampler(env)
	if err != nil {
		return off, err
	}
	res, err := describe(service, env)
	if err != nil {
		return off, err
	}
	var options []otlptracehttp.Option
	if endpoint != "" {
		options = append(options, otlptracehttp.WithEndpointURL(endpoint))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return off, fmt.Errorf("telemetry: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithSampler(sampler),
		sdktrace.WithResource(res),
	)
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

// sampler follows OTEL_TRACES_SAMPLER. By default every trace is sampled, unless the caller of the API decided otherwise.
func sampler(env func(string) string) (sdktrace.Sampler, error) {
	ratio := 1.0
	name := env("OTEL_TRACES_SAMPLER")
	if arg := env("OTEL_TRACES_SAMPLER_ARG"); arg != "" && strings.Contains(name, "traceidratio") {
		var err error
		if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return nil, fmt.Errorf("telemetry: OTEL_TRACES_SAMPLER_ARG: %q is not a number from 0 to 1, such as 0.1", arg)
		}
	}
	switch name {
	case "", "parentbased_always_on":
		return sdktrace.ParentBased(sdktrace.AlwaysSample()), nil
	case "parentbased_always_off":
		return sdktrace.ParentBased(sdktrace.NeverSample()), nil
	case "parentbased_traceidratio":
		return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio)), nil
	case "always_on":
		return sdktrace.AlwaysSample(), nil
	case "always_off":
		return sdktrace.NeverSample(), nil
	case "traceidratio":
		return sdktrace.TraceIDRatioBased(ratio), nil
	}
	return nil, fmt.Errorf("telemetry: OTEL_TRACES_SAMPLER: %q is not known; one is parentbased_traceidratio", name)
}

// describe is the resource: the name of the service, and the attributes that the operator sets.
func describe(service string, env func(string) string) (*resource.Resource, error) {
	var attrs []attribute.KeyValue
	for pair := range strings.SplitSeq(env("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil {
			return nil, errors.New("telemetry: OTEL_RESOURCE_ATTRIBUTES: not a list such as deployment.environment.name=test,team=x")
		}
		attrs = append(attrs, attribute.String(strings.TrimSpace(key), decoded))
	}
	named := env("OTEL_SERVICE_NAME")
	if named == "" {
		named = serviceIn(attrs, service)
	}
	// The last value of a key counts.
	return resource.NewWithAttributes(semconv.SchemaURL, append(attrs, semconv.ServiceName(named))...), nil
}

func serviceIn(attrs []attribute.KeyValue, otherwise string) string {
	for _, a := range attrs {
		if a.Key == semconv.ServiceNameKey {
			otherwise = a.Value.AsString()
		}
	}
	return otherwise
}
