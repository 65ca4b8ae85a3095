package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestTraces holds that a call is one trace over all processes, Postgres, Redis and the model, which continues the caller's
// trace. The trace also shows how many round trips the call takes: each wakes up both sides, and together the wake-ups are
// most of what Prism adds to a call. The scan at the end of the suite holds that no span has a value.
func TestTraces(t *testing.T) {
	only(t, traced, func(t *testing.T, s *stack) {
		slug := s.main.triage(t)
		create := func(more ...any) call {
			return call{path: "/v1/prisms/" + slug + "/results", body: text(s.model.Script(model.Likely()).Tag, more...)}
		}
		stored := s.main.do(t, create()).ok(t) // after this call the gateway knows the account of the key
		t.Run("a call is one trace from the caller to the model", func(t *testing.T) {
			t.Parallel()
			tr := s.trace(t, create("idempotency_key", newKey()))
			tr.await(t, func(spans []span) string {
				paths := tr.paths(spans)
				for _, want := range []string{
					"caller > prism-gateway server",
					"caller > prism-gateway server > prism-gateway redis",
					"caller > prism-gateway server > prism-gateway client > prism-results server > prism-results postgresql",
					"caller > prism-gateway server > prism-gateway client > prism-model-proxy server > prism-model-proxy client",
				} {
					if !slices.Contains(paths, want) {
						return fmt.Sprintf("no span %q in %q", want, paths)
					}
				}
				for _, path := range paths {
					if !strings.HasPrefix(path, "caller > ") {
						return fmt.Sprintf("%q has no parent", path)
					}
				}
				return ""
			})
		})
		for name, test := range map[string]struct {
			call call
			want hops
		}{
			"a read is one internal call and one round trip":            {call{path: "/v1/results/" + stored.ID}, hops{1, 1}},
			"a create without a key is three calls and two round trips": {create(), hops{3, 2}},
			"a create with a key looks up once too, under the lock":     {create("idempotency_key", newKey()), hops{3, 2}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var got hops
				s.trace(t, test.call).await(t, func(spans []span) string {
					var whole bool
					if got, whole = countHops(spans); !whole {
						return fmt.Sprintf("the trace is not whole: %+v", got)
					}
					return ""
				})
				wantEqual(t, "the number of round trips", got, test.want)
			})
		}
		t.Run("every operation exports spans, for the scan", func(t *testing.T) {
			t.Parallel()
			failed, script := s.main.refused(t, slug, "idempotency_key", newKey())
			script.Then()
			for _, op := range operations(slug, failed.ID, stored.ID) {
				if r := s.main.do(t, op.call); r.status > 299 {
					t.Errorf("%s: status %d: %.200s", op.name, r.status, r.body)
				}
			}
		})
	})
}

// callTrace is the trace of one call.
type callTrace struct{ id, caller []byte }

// trace sends a call, which must succeed, as part of a trace.
func (s *stack) trace(t *testing.T, in call) callTrace {
	t.Helper()
	tr := callTrace{make([]byte, 16), make([]byte, 8)}
	_, _ = rand.Read(tr.id) // never fails
	_, _ = rand.Read(tr.caller)
	in.header = map[string][]string{"Traceparent": {fmt.Sprintf("00-%x-%x-01", tr.id, tr.caller)}}
	s.main.do(t, in).ok(t)
	return tr
}

// await reads the exported spans of the trace until missing returns no text.
func (tr callTrace) await(t *testing.T, missing func([]span) string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		text := missing(tr.spans(t))
		if text == "" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal(text)
		}
	}
}

// span is a span with the service that exported it.
type span struct {
	*tracepb.Span
	service string
}

func (tr callTrace) spans(t *testing.T) (found []span) {
	t.Helper()
	for _, b := range world.traces.Bodies() {
		var export coltrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(b, &export); err != nil {
			t.Fatal(err)
		}
		for _, resource := range export.GetResourceSpans() {
			service := attribute(resource.GetResource().GetAttributes(), "service.name")
			for _, scope := range resource.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					if string(s.GetTraceId()) == string(tr.id) {
						found = append(found, span{s, service})
					}
				}
			}
		}
	}
	return found
}

// paths are the ways from the caller's span, or from a span without a parent, to each span of the trace.
func (tr callTrace) paths(spans []span) (paths []string) {
	type node struct{ label, parent string }
	caller := hex.EncodeToString(tr.caller)
	nodes := map[string]node{caller: {label: "caller"}}
	for _, s := range spans {
		nodes[hex.EncodeToString(s.GetSpanId())] = node{s.service + " " + s.kind(), hex.EncodeToString(s.GetParentSpanId())}
	}
	for id := range nodes {
		var path []string
		for at, ok := nodes[id]; ok; at, ok = nodes[at.parent] {
			path = append(path, at.label)
		}
		slices.Reverse(path)
		if id != caller {
			paths = append(paths, strings.Join(path, " > "))
		}
	}
	return paths
}

// hops are the round trips of one call: those of the gateway to other services, and those of results to Postgres.
type hops struct{ internal, database int }

// countHops counts the spans of a trace. A process exports its spans in the order in which the spans ended, so the span of
// a served request is exported after all spans of the work for the request. The trace is whole when it has the gateway's
// server span and one server span for each of the gateway's internal calls.
func countHops(spans []span) (counted hops, whole bool) {
	served, gateway := 0, false
	for _, s := range spans {
		switch kind, inGateway := s.kind(), s.service == "prism-gateway"; {
		case kind == "server" && inGateway:
			gateway = true
		case kind == "server":
			served++
		case kind == "client" && inGateway:
			counted.internal++
		case kind == "postgresql" && s.isQuery():
			counted.database++
		}
	}
	return counted, gateway && served == counted.internal
}

// isQuery is false for the spans that a new connection adds: to connect, and to prepare its statements.
func (s span) isQuery() bool {
	return attribute(s.GetAttributes(), "db.query.text") != "" && attribute(s.GetAttributes(), "pgx.prepare_stmt.name") == ""
}

// kind is server or client, or the database that a client span calls.
func (s span) kind() string {
	for _, name := range []string{"db.system.name", "db.system"} {
		if system := attribute(s.GetAttributes(), name); system != "" {
			return system
		}
	}
	return strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"))
}

func attribute(attributes []*commonpb.KeyValue, name string) string {
	for _, a := range attributes {
		if a.GetKey() == name {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
