package modelproxy

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// metrics are the service's collectors. Label values are the provider, outcomes, status classes and kinds of tokens, so
// that the number of series does not grow with accounts, prisms or inputs.
type metrics struct {
	calls     *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	attempts  *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	labelMass prometheus.Histogram
	shed      prometheus.Counter
}

// newMetrics registers the collectors, unless to is nil. It panics when they are registered already.
func newMetrics(to prometheus.Registerer, providerName string, asker *ask.Asker) *metrics {
	of := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"provider": providerName}, to))
	m := &metrics{
		calls: of.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_model_calls_total", Help: "Asks by how they ended, over all their attempts.",
		}, []string{"outcome"}),
		duration: of.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_model_call_duration_seconds", Help: "Wall time of an ask over all its attempts and pauses.",
			Buckets: []float64{.001, .005, .025, .05, .1, .25, .5, 1, 2, 3, 5, 7.5, 10, 12.5, 15, 16},
		}, []string{"outcome"}),
		attempts: of.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_model_attempts_total",
			Help: "Upstream calls by status: 2xx, 3xx, 4xx, 408, 409, 429, 5xx, error (no response), cancelled.",
		}, []string{"status"}),
		tokens: of.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_model_tokens_total", Help: "Tokens as upstreams count them.",
		}, []string{"kind"}),
		labelMass: of.NewHistogram(prometheus.HistogramOpts{
			Name: "prism_model_label_mass", Help: "Part of a model's probability that went to a question's labels, where known.",
			Buckets: []float64{.01, .1, .25, .5, .75, .9, .95, .99, 1},
		}),
		shed: promauto.With(to).NewCounter(prometheus.CounterOpts{
			Name: "prism_model_shed_total", Help: "Asks refused because too many were under way.",
		}),
	}
	for _, r := range ask.Reasons() { // create the series now: a rate needs a value before the first failure
		m.calls.WithLabelValues(string(r))
	}
	gauge := func(name, help string, read func() int) {
		promauto.With(to).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
	}
	gauge("prism_model_in_flight", "Asks under way.", asker.InFlight)
	gauge("prism_model_in_flight_limit", "Asks under way at which more are shed.", asker.MaxInFlight)
	return m
}

func (m *metrics) asked(r ask.Reason, took time.Duration) {
	m.calls.WithLabelValues(string(r)).Inc()
	m.duration.WithLabelValues(string(r)).Observe(took.Seconds())
}

func (m *metrics) attempted(r provider.Reply, fault *upstream.Fault) {
	m.attempts.WithLabelValues(statusClass(fault)).Inc()
	if r.Tokens.Input > 0 {
		m.tokens.WithLabelValues("input").Add(float64(r.Tokens.Input))
	}
	if r.Tokens.Output > 0 {
		m.tokens.WithLabelValues("output").Add(float64(r.Tokens.Output))
	}
	for _, mass := range r.LabelMass {
		m.labelMass.Observe(mass)
	}
}

// statusClass is the label of an attempt: the statuses that are retried one by one, other statuses by class.
func statusClass(f *upstream.Fault) string {
	switch {
	case f == nil:
		return "2xx"
	case f.Cause == upstream.Cancelled:
		return "cancelled"
	case f.Status == 0:
		return "error"
	case f.Status == 408, f.Status == 409, f.Status == 429:
		return strconv.Itoa(f.Status)
	default:
		return strconv.Itoa(f.Status/100) + "xx"
	}
}
