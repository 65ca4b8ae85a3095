package operator

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// kinds are the names of the kinds in metrics.
var kinds = []string{"Prism", "PrismAccount", "PrismKey", "PrismModels", "PrismWebhook"}

// outcomes are how a reconciliation goes: reasons of conditions.
var outcomes = []string{
	v1alpha1.ReasonSynced, v1alpha1.ReasonNotAllowed, v1alpha1.ReasonNoAccount, v1alpha1.ReasonInvalid, v1alpha1.ReasonUnavailable,
	v1alpha1.ReasonFailed, v1alpha1.ReasonAbandoned,
}

// metrics are the collectors of an operator.
type metrics struct {
	reconciles *prometheus.CounterVec
	took       *prometheus.HistogramVec
	leader     prometheus.Gauge
}

func newMetrics(to prometheus.Registerer) *metrics {
	factory := promauto.With(to)
	m := &metrics{
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
		}
	}
	return m
}

func (m *metrics) done(kind, outcome string) { m.reconciles.WithLabelValues(kind, outcome).Inc() }

func (m *metrics) observe(kind string, began time.Time) {
	m.took.WithLabelValues(kind).Observe(time.Since(began).Seconds())
}
