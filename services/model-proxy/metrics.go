package modelproxy

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/contract"
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
	provider  string
}

func newMetrics(providerName string) *metrics {
	m := &metrics{
		provider: providerName,
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_model_calls_total", Help: "Asks by how they ended, over all their attempts.",
		}, []string{"provider", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_model_call_duration_seconds", Help: "Wall time of an ask over all its attempts and pauses.",
			Buckets: []float64{.001, .005, .025, .05, .1, .25, .5, 1, 2, 3, 5, 7.5, 10, 12.5, 15, 16},
		}, []string{"provider", "outcome"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_model_attempts_total",
			Help: "Upstream calls by status: 2xx, 3xx, 4xx, 408, 409, 429, 5xx, error (no response), cancelled.",
		}, []string{"provider", "status"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_model_tokens_total", Help: "Tokens as upstreams count them.",
		}, []string{"provider", "kind"}),
		labelMass: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "prism_model_label_mass", Help: "Part of a model's probability that went to a question's labels, where known.",
			Buckets:     []float64{.01, .1, .25, .5, .75, .9, .95, .99, 1},
			ConstLabels: prometheus.Labels{"provider": providerName},
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prism_model_shed_total", Help: "Asks refused because too many were under way.",
		}),
	}
	for _, r := range ask.Reasons() { // create the series now: a rate needs a value before the first failure
		m.calls.WithLabelValues(providerName, string(r))
	}
	return m
}

func (m *metrics) register(to prometheus.Registerer, asker *ask.Asker) error {
	gauge := func(name, help string, read func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
	}
	for _, c := range []prometheus.Collector{
		m.calls, m.duration, m.attempts, m.tokens, m.labelMass, m.shed,
		gauge("prism_model_in_flight", "Asks under way.", asker.InFlight),
		gauge("prism_model_in_flight_limit", "Asks under way at which more are shed.", asker.MaxInFlight),
	} {
		if err := to.Register(c); err != nil {
			return fmt.Errorf("modelproxy: metrics: %w", err)
		}
	}
	return nil
}

func (m *metrics) asked(r ask.Reason, took time.Duration) {
	m.calls.WithLabelValues(m.provider, string(r)).Inc()
	m.duration.WithLabelValues(m.provider, string(r)).Observe(took.Seconds())
}

func (m *metrics) attempted(r provider.Reply, fault *upstream.Fault) {
	m.attempts.WithLabelValues(m.provider, statusClass(fault)).Inc()
	if r.Tokens.Input > 0 {
		m.tokens.WithLabelValues(m.provider, "input").Add(float64(r.Tokens.Input))
	}
	if r.Tokens.Output > 0 {
		m.tokens.WithLabelValues(m.provider, "output").Add(float64(r.Tokens.Output))
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
	case f.Kind == upstream.Cancelled:
		return "cancelled"
	case f.Kind == upstream.Unreachable:
		return "error"
	case f.Status == 408, f.Status == 409, f.Status == 429:
		return strconv.Itoa(f.Status)
	default:
		return strconv.Itoa(f.Status/100) + "xx"
	}
}

// counted is a provider that counts its attempts in metrics.
type counted struct {
	inner   provider.Provider
	metrics *metrics
}

// Name implements provider.Provider.
func (c counted) Name() string { return c.inner.Name() }

// Calls implements provider.Provider.
func (c counted) Calls(a contract.Ask) []provider.Call {
	calls := c.inner.Calls(a)
	for i, call := range calls {
		calls[i].Do = func(ctx context.Context) (provider.Reply, *upstream.Fault) {
			r, fault := call.Do(ctx)
			c.metrics.attempted(r, fault)
			return r, fault
		}
	}
	return calls
}
