package telemetry

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spec: traces-own-decision
func TestWhoDecidesWhetherATraceIsRecorded(t *testing.T) {
	t.Parallel()
	outside := func(id byte, sampled bool) context.Context {
		return trace.ContextWithRemoteSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1, 8: id}, SpanID: trace.SpanID{2}, TraceFlags: trace.TraceFlags(0).WithSampled(sampled),
		}))
	}
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	const low, high = 0, 0xff // ids that a ratio records first and last
	ratio := func(n string) func(string) string {
		return env("OTEL_TRACES_SAMPLER", "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG", n)
	}
	for name, row := range map[string]struct {
		env      func(string) string
		ctx      context.Context
		recorded int // of 1000
	}{
		"a caller that wants it":         {ratio("0"), outside(low, true), 0},
		"a caller that does not want it": {ratio("1"), outside(high, false), 1000},
		"a caller that chose a low id":   {ratio("0.5"), outside(low, true), 500},
		"a caller that chose a high id":  {ratio("0.5"), outside(high, true), 500},
		"the gateway recorded it":        {ratio("0"), TrustTrace(outside(low, true)), 1000},
		"the gateway did not record it":  {ratio("1"), TrustTrace(outside(low, false)), 0},
		"without a trace":                {ratio("1"), context.Background(), 1000},
		"by default":                     {env(), outside(high, false), 1000},
		"by default, for the gateway":    {env(), TrustTrace(outside(high, false)), 0},
		"always_off":                     {env("OTEL_TRACES_SAMPLER", "parentbased_always_off"), outside(low, true), 0},
		"not parent-based":               {env("OTEL_TRACES_SAMPLER", "always_on"), TrustTrace(outside(low, false)), 1000},
		"a sampler that is not known":    {env("OTEL_TRACES_SAMPLER", "sometimes"), outside(low, false), 1000},
		"a ratio that is no number":      {ratio("many"), outside(low, false), 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracer := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler(row.env))).Tracer("t")
			recorded, parent := 0, trace.SpanContextFromContext(row.ctx)
			for range 1000 {
				ctx, span := tracer.Start(row.ctx, "server")
				_, child := tracer.Start(ctx, "child")
				if span.IsRecording() != child.IsRecording() {
					t.Fatal("a span and its child are recorded differently")
				}
				if parent.IsValid() && span.SpanContext().TraceID() != parent.TraceID() {
					t.Fatal("the trace does not continue")
				}
				if span.IsRecording() {
					recorded++
				}
			}
			if off := recorded - row.recorded; off < -150 || off > 150 || row.recorded%1000 == 0 && off != 0 {
				t.Errorf("%d of 1000 were recorded, want %d", recorded, row.recorded)
			}
		})
	}
}
