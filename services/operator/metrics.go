package operator

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// outcomes are how a reconciliation goes: reasons of the condition Synced, and Abandoned.
var outcomes = []string{
	v1alpha1.ReasonSynced, v1alpha1.Drifted, v1alpha1.ReasonNotAllowed, v1alpha1.ReasonNoAccount, v1alpha1.ReasonInvalid, v1alpha1.ReasonUnavailable,
	v1alpha1.ReasonFailed, v1alpha1.ReasonAbandoned,
}

// metrics are the collectors of an operator.
type metrics struct {
	reconciles *prometheus.CounterVec
	took       *prometheus.HistogramVec
	leader     prometheus.Gauge
	objects    *prometheus.GaugeVec

	mu     sync.Mutex
	states map[string]string // of each object of a kind, the state in which objects counts it
}

func newMetrics(to prometheus.Registerer) *metrics {
	factory := promauto.With(to)
	m := &metrics{
		states: map[string]string{},
		objects: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "prism_operator_objects", Help: "Custom resources, by kind and state: Synced, or why Prism is not as they say.",
		}, []string{"kind", "state"}),
		reconciles: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_operator_reconciles_total",
			Help: "Looks at custom resources, by kind and by how they went: Synced, or the reason of the condition.",
		}, []string{"kind", "outcome"}),
		took: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_operator_reconcile_seconds", Help: "How long looks at custom resources took.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"kind"}),
		leader: factory.NewGauge(prometheus.GaugeOpts{
			Name: "prism_operator_leader", Help: "1 in the process that looks at custom resources, 0 in those that wait to replace it.",
		}),
	}
	for _, kind := range kinds {
		m.took.WithLabelValues(kind)
		for _, outcome := range outcomes {
			m.reconciles.WithLabelValues(kind, outcome) // a rate needs the zero before the first event
			if outcome != v1alpha1.ReasonAbandoned {
				m.objects.WithLabelValues(kind, outcome)
			}
		}
	}
	return m
}

// done counts a look at an object that is there.
func (m *metrics) done(kind, object, outcome string) {
	m.reconciles.WithLabelValues(kind, outcome).Inc()
	m.move(kind, object, outcome)
}

// gone counts an object no more.
func (m *metrics) gone(kind, object string) { m.move(kind, object, "") }

func (m *metrics) move(kind, object, state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := kind + " " + object
	if was := m.states[key]; was != "" {
		m.objects.WithLabelValues(kind, was).Dec()
	}
	if delete(m.states, key); state != "" {
		m.states[key] = state
		m.objects.WithLabelValues(kind, state).Inc()
	}
}

func (m *metrics) abandoned(kind string) {
	m.reconciles.WithLabelValues(kind, v1alpha1.ReasonAbandoned).Inc()
}

func (m *metrics) observe(kind string, began time.Time) {
	m.took.WithLabelValues(kind).Observe(time.Since(began).Seconds())
}
