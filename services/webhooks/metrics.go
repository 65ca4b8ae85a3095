package webhooks

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prism-results/prism/pkg/api"
)

// metrics are the collectors of a sender.
type metrics struct {
	tries *prometheus.CounterVec
	took  prometheus.Histogram
	saves *prometheus.HistogramVec
}

// The outcome of a try that succeeded, and those of saves.
const (
	delivered = "delivered"

	savedTries = "saved"
	lostLease  = "lost"
	failedSave = "failed"
)

func newMetrics(to prometheus.Registerer, p *places) *metrics {
	factory := promauto.With(to)
	m := &metrics{
		tries: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_webhook_tries_total", Help: "Tries to send events to webhooks: delivered, or why they failed.",
		}, []string{"outcome"}),
		took: factory.NewHistogram(prometheus.HistogramOpts{
			Name: "prism_webhook_try_seconds", Help: "How long tries to send events took.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}),
		saves: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_webhook_save_seconds", Help: "Tries to save what became of events: saved, lost (the lease was), failed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"outcome"}),
	}
	for _, outcome := range append(api.TryError("").Values(), delivered) {
		m.tries.WithLabelValues(outcome) // a rate needs the zero before the first event
	}
	for _, outcome := range []string{savedTries, lostLease, failedSave} {
		m.saves.WithLabelValues(outcome)
	}
	for k, name := range map[kind]string{anyHealth: "any", healthy: "healthy"} {
		labels := prometheus.Labels{"webhooks": name}
		factory.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "prism_webhook_places", ConstLabels: labels,
			Help: "Webhooks to which events can be sent at once: any, and further ones whose last try succeeded.",
		}, func() float64 { return float64(p.size(k)) })
		factory.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "prism_webhook_places_taken", ConstLabels: labels, Help: "Webhooks to which events are being sent.",
		}, func() float64 { return float64(p.taken(k)) })
	}
	return m
}

func (m *metrics) tried(failed api.TryError, took time.Duration) {
	m.tries.WithLabelValues(cmp.Or(string(failed), delivered)).Inc()
	m.took.Observe(took.Seconds())
}
