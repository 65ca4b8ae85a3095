package e2e

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/prism-results/prism/test/e2e/internal/upstream"
)

// hops is what one call makes the services say to each other and to Postgres.
type hops struct{ internal, database int }

// TestHops counts the round trips of a call in its trace. Each is a wake-up on both sides, and together they are most of
// what Prism adds to a call.
func TestHops(t *testing.T) {
	only(t, services{}, func(t *testing.T, s *stack) {
		slug := s.main.triage(t)
		create := func(more ...any) call {
			script := s.model.Script(upstream.Likely())
			return call{path: "/v1/prisms/" + slug + "/results", body: text(script.Tag, more...)}
		}
		script := s.model.Script(upstream.Likely())
		// The gateway has seen the account's key in this call.
		stored := s.main.create(t, slug, text(script.Tag)).ok(t)
		for name, test := range map[string]struct {
			call call
			want hops
		}{
			"a read is one internal hop and one round trip":            {call{path: "/v1/results/" + stored.ID}, hops{1, 1}},
			"a create without a key is three hops and two round trips": {create(), hops{3, 2}},
			"a create with a key looks up once too, under the lock":    {create("idempotency_key", newKey()), hops{3, 2}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				trace, caller := make([]byte, 16), make([]byte, 8)
				_, _ = rand.Read(trace) // never fails
				_, _ = rand.Read(caller)
				test.call.header = map[string][]string{"Traceparent": {fmt.Sprintf("00-%x-%x-01", trace, caller)}}
				s.main.do(t, test.call).ok(t)
				deadline := time.NewTimer(patience)
				defer deadline.Stop()
				tick := time.NewTicker(50 * time.Millisecond)
				defer tick.Stop()
				for {
					got, whole, err := countHops(world.traces.Bodies(), trace)
					if err != nil {
						t.Fatal(err)
					}
					if whole {
						if got != test.want {
							t.Errorf("got %+v, want %+v", got, test.want)
						}
						return
					}
					select {
					case <-tick.C:
					case <-deadline.C:
						t.Fatalf("the trace is not whole: %+v", got)
					}
				}
			})
		}
	})
}

// countHops counts in the spans of a trace. A process exports its spans in the order in which they ended, so when the span
// of a request that was served is there, all that was done for it is: the trace is whole when the gateway's span is there
// and one of a server for each of its internal calls.
func countHops(bodies [][]byte, trace []byte) (counted hops, whole bool, err error) {
	var answered bool
	served := 0
	for _, b := range bodies {
		var export coltrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(b, &export); err != nil {
			return hops{}, false, err
		}
		for _, resource := range export.GetResourceSpans() {
			gateway := attribute(resource.GetResource().GetAttributes(), "service.name") == "prism-gateway"
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					if string(span.GetTraceId()) != string(trace) {
						continue
					}
					switch is := kind(span); {
					case is == "server" && gateway:
						answered = true
					case is == "server":
						served++
					case is == "client" && gateway:
						counted.internal++
					case is == "postgresql" && isQuery(span):
						counted.database++
					}
				}
			}
		}
	}
	return counted, answered && served == counted.internal, nil
}

// isQuery leaves out what a new connection needs once: to be made, and to have its statements prepared.
func isQuery(span *tracepb.Span) bool {
	return attribute(span.GetAttributes(), "db.query.text") != "" && attribute(span.GetAttributes(), "pgx.prepare_stmt.name") == ""
}
