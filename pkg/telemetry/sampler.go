package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type trustedKey struct{}

// TrustTrace marks the context of a request whose caller is one of our services: whether the trace is recorded is the caller's
// decision, so that traces are whole.
func TrustTrace(ctx context.Context) context.Context {
	return context.WithValue(ctx, trustedKey{}, true)
}

// ownDecision decides about requests from outside as about requests without a trace (spec: traces-own-decision).
type ownDecision struct {
	sdktrace.Sampler                  // of all other spans
	root             sdktrace.Sampler // ignores the parent
}

// ShouldSample draws the trace id of a request from outside anew for its decision: the root sampler may compare the id with a
// ratio, and the caller chose the id.
func (s ownDecision) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if !trace.SpanContextFromContext(p.ParentContext).IsRemote() || p.ParentContext.Value(trustedKey{}) != nil {
		return s.Sampler.ShouldSample(p)
	}
	_, _ = rand.Read(p.TraceID[:]) // never fails
	return s.root.ShouldSample(p)
}

// sampler reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG as OpenTelemetry does: what is not known is reported, and the
// default is used.
func sampler(env func(string) string) sdktrace.Sampler {
	name, root := strings.ToLower(env("OTEL_TRACES_SAMPLER")), sdktrace.AlwaysSample()
	kind, parentBased := strings.CutPrefix(name, "parentbased_")
	switch kind {
	case "always_on":
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		ratio := env("OTEL_TRACES_SAMPLER_ARG")
		if n, err := strconv.ParseFloat(ratio, 64); err == nil && n >= 0 && n <= 1 {
			root = sdktrace.TraceIDRatioBased(n)
		} else if ratio != "" {
			otel.Handle(errors.New("OTEL_TRACES_SAMPLER_ARG: not a number from 0 to 1; every trace is sampled"))
		}
	default:
		parentBased = true
		if name != "" {
			otel.Handle(errors.New("OTEL_TRACES_SAMPLER: not known; every trace is sampled"))
		}
	}
	if !parentBased {
		return ownDecision{root, root}
	}
	return ownDecision{sdktrace.ParentBased(root), root}
}
