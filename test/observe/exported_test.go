package observe

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// exported is every metric by the name that PromQL knows it by, its labels and their values.
type exported map[string]map[string]map[string]bool

// metrics are what the services export, once everything has happened to them. All tests share one run.
func metrics(t *testing.T) exported {
	t.Helper()
	gathered.Do(func() {
		s := start(t)
		s.live(t)
		all := exported{}
		for _, p := range append(s.services(), s.operator) {
			_, text, err := p.Get(t.Context(), "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			all.read(t, text)
		}
		gathered.all = all
	})
	if gathered.all == nil {
		t.Fatal("the services did not come to export their metrics")
	}
	return gathered.all
}

var gathered struct {
	sync.Once
	all exported
}

func (e exported) read(t *testing.T, text string) {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			switch {
			case m.GetHistogram() != nil:
				e.add(name+"_sum", labels)
				e.add(name+"_count", labels)
				e.add(name+"_bucket", labels, "le", "+Inf")
				for _, b := range m.GetHistogram().GetBucket() {
					e.add(name+"_bucket", labels, "le", strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
				}
			case m.GetSummary() != nil:
				e.add(name+"_sum", labels)
				e.add(name+"_count", labels)
			default:
				e.add(name, labels)
			}
		}
	}
}

func (e exported) add(name string, labels map[string]string, more ...string) {
	if e[name] == nil {
		e[name] = map[string]map[string]bool{}
	}
	note := func(label, value string) {
		if e[name][label] == nil {
			e[name][label] = map[string]bool{}
		}
		e[name][label][value] = true
	}
	for label, value := range labels {
		note(label, value)
	}
	for pair := range slices.Chunk(more, 2) {
		note(pair[0], pair[1])
	}
}

// targetLabels are those that Prometheus gives to every series of a target; pod is known in Kubernetes alone.
var targetLabels = []string{"namespace", "job", "instance", "pod"}

// synthetic are the metrics that Prometheus makes itself.
var synthetic = []string{"up"}

// eventual are values of labels that no test makes appear: what leads to them is a bug, takes too long, or is a matter of
// luck. They are those of pkg/httpkit/tracker.go and services/results/internal/instrumented.
var eventual = map[string]map[string][]string{
	"prism_http_shed_total":                        {"reason": {"arriving", "arriving_address", "bodies", "connections", "stopping"}, "service": {"prism"}},
	"prism_store_operation_duration_seconds_count": {"outcome": {"error"}},
}
