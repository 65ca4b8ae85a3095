package modelproxy

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/modelsfile"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// metrics are the service's collectors. Label values are the names of configured models, providers, classes of failures, outcomes, status classes,
// kinds of tokens and currencies, so that the number of series does not grow with accounts, prisms or inputs.
type metrics struct {
	calls         *prometheus.CounterVec
	duration      *prometheus.HistogramVec
	attempts      *prometheus.CounterVec
	tokens        *prometheus.CounterVec
	cost          *costs
	labelMass     *prometheus.HistogramVec
	fallbacks     *prometheus.CounterVec
	escalations   *prometheus.CounterVec
	shed          prometheus.Counter
	notConfigured prometheus.Counter
	refused       prometheus.Counter
	reloaded      prometheus.Gauge
}

// newMetrics registers the collectors, unless to is nil. It panics when they are registered already.
func newMetrics(to prometheus.Registerer, source *models.Current, asker *ask.Asker) *metrics {
	factory := promauto.With(to)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"model", "provider"}, labels...))
	}
	histograms := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return factory.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets},
			append([]string{"model", "provider"}, labels...))
	}
	counter := func(name, help string) prometheus.Counter {
		return factory.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		calls: counters("prism_model_calls_total", "Asks of models by how they ended, over all their attempts.", "class", "outcome"),
		duration: histograms("prism_model_call_duration_seconds", "Wall time of the ask of a model over all its attempts and pauses.",
			[]float64{.001, .005, .025, .05, .1, .25, .5, 1, 2, 3, 5, 7.5, 10, 12.5, 15, 16}, "class", "outcome"),
		attempts: counters("prism_model_attempts_total",
			"Upstream calls by status: 2xx, 3xx, 4xx, 408, 409, 429, 5xx, error (no response), cancelled.", "status"),
		tokens: counters("prism_model_tokens_total",
			"Tokens as upstreams count them: input, of these cached_input, and output.", "kind"),
		cost: &costs{sums: map[costLabels]prism.Cost{}},
		labelMass: histograms("prism_model_label_mass", "Part of a model's probability that went to a question's labels, where known.",
			[]float64{.01, .1, .25, .5, .75, .9, .95, .99, 1}),
		fallbacks: counters("prism_model_fallbacks_total", "Asks of models as the fallback of another one."),
		escalations: counters("prism_model_escalations_total",
			"Escalations to a model by how they ended: unless ok, the first answers are the result.", "outcome"),
		shed:          counter("prism_model_shed_total", "Asks refused because too many were under way."),
		notConfigured: counter("prism_model_not_configured_total", "Asks of models that are not configured."),
		refused:       counter("prism_models_refused_total", "New files of models that could not be used."),
		reloaded: factory.NewGauge(prometheus.GaugeOpts{
			Name: "prism_models_last_reload_successful",
			Help: "0 while the file of models cannot be used as it is, and the previous models are in use; otherwise 1.",
		}),
	}
	gauge := func(name, help string, read func() int) {
		factory.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
	}
	gauge("prism_model_in_flight", "Asks under way.", asker.InFlight)
	gauge("prism_model_in_flight_limit", "Asks under way at which more are shed.", asker.MaxInFlight)
	if to != nil {
		to.MustRegister(states{source}, m.cost)
	}
	return m
}

// refuse notes that a new file of models cannot be used.
func (m *metrics) refuse() {
	m.refused.Inc()
	m.reloaded.Set(0)
}

// load notes that models come into use, and starts their series of calls at 0: a rate needs a value before the first failure.
func (m *metrics) load(set *models.Set) {
	m.reloaded.Set(1)
	for _, one := range set.Models() {
		for _, end := range ask.Endings() {
			m.calls.WithLabelValues(one.Name, one.API.Name, string(end.Class), outcome(end.Code))
		}
	}
}

func (m *metrics) asked(e ask.End) {
	labels := []string{e.Model.Name, e.Model.API.Name, string(e.Report.Class), outcome(e.Report.Code)}
	m.calls.WithLabelValues(labels...).Inc()
	m.duration.WithLabelValues(labels...).Observe(e.Took.Seconds())
	if e.FellBack {
		m.fallbacks.WithLabelValues(e.Model.Name, e.Model.API.Name).Inc()
	}
}

func (m *metrics) escalated(to *models.Model, code prism.ErrorCode) {
	m.escalations.WithLabelValues(to.Name, to.API.Name, outcome(code)).Inc()
}

// outcome is the label of how an ask ended: its error code, or ok.
func outcome(code prism.ErrorCode) string { return cmp.Or(string(code), "ok") }

func (m *metrics) attempted(a ask.Attempt) {
	name, api := a.Model.Name, a.Model.API.Name
	if a.Model.Remote() { // the offline model calls no upstream
		m.attempts.WithLabelValues(name, api, statusClass(a.Fault)).Inc()
	}
	for _, t := range []struct {
		kind  string
		count provider.Count
	}{{"input", a.Reply.Tokens.Input}, {"cached_input", a.Reply.Tokens.Cached}, {"output", a.Reply.Tokens.Output}} {
		if t.count.N > 0 {
			m.tokens.WithLabelValues(name, api, t.kind).Add(float64(t.count.N))
		}
	}
	if a.Cost > 0 {
		m.cost.add(costLabels{name, api, a.Model.Price.Currency}, a.Cost)
	}
	for _, mass := range a.Reply.LabelMass {
		m.labelMass.WithLabelValues(name, api).Observe(mass.Mass)
	}
}

// statusClass is the label of an attempt: 408, 409 and 429, the statuses below 500 that are retried, are labels of their own;
// other statuses are grouped by class.
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

// states collects the states of the current models when metrics are read.
type states struct{ source *models.Current }

var (
	modelLabels  = []string{"model", "provider"}
	breakerState = prometheus.NewDesc("prism_model_breaker_state",
		"Circuit breaker of a model: 0 closed, 2 open (skipped while another model is left), 1 until a call on trial has ended.",
		modelLabels, nil)
	running = prometheus.NewDesc("prism_model_running", "Asks of a model under way.", modelLabels, nil)
	bound   = prometheus.NewDesc("prism_model_running_limit", "max_in_flight of a model that has one.", modelLabels, nil)
)

// Describe implements prometheus.Collector.
func (s states) Describe(to chan<- *prometheus.Desc) { to <- breakerState; to <- running; to <- bound }

// Collect implements prometheus.Collector.
func (s states) Collect(to chan<- prometheus.Metric) {
	set := s.source.Acquire()
	defer set.Release()
	for _, m := range set.Models() {
		gauge := func(d *prometheus.Desc, v int64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), m.Name, m.API.Name)
		}
		gauge(breakerState, int64(m.State()))
		gauge(running, m.Running())
		if m.MaxInFlight > 0 {
			gauge(bound, int64(m.MaxInFlight))
		}
	}
}

// files collects which file of models is in use.
type files struct{ source *modelsfile.Source }

var fileInfo = prometheus.NewDesc("prism_models_file", "The file of models by its hash and whether it is used, or refused and the one before is used; always 1.",
	[]string{"hash", "state"}, nil)

// Describe implements prometheus.Collector.
func (f files) Describe(to chan<- *prometheus.Desc) { to <- fileInfo }

// Collect implements prometheus.Collector.
func (f files) Collect(to chan<- prometheus.Metric) {
	used, refused := f.source.Hashes()
	for state, hash := range map[string]string{"used": used, "refused": refused} {
		if hash != "" {
			to <- prometheus.MustNewConstMetric(fileInfo, prometheus.GaugeValue, 1, hash, state)
		}
	}
}

// costs adds up what models cost. Sums of floats would not be exact (spec: cost-is-exact): a sum is a float only when it is read.
type costs struct {
	mu   sync.Mutex
	sums map[costLabels]prism.Cost
}

type costLabels struct{ model, provider, currency string }

var costTotal = prometheus.NewDesc("prism_model_cost_total", "Cost of the calls of models with a price, in the currency.",
	append(slices.Clip(modelLabels), "currency"), nil)

// add adds a cost in 10⁻¹² of the currency.
func (c *costs) add(to costLabels, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums[to] = c.sums[to].Add(prism.Cost{Rest: cost})
}

// Describe implements prometheus.Collector.
func (c *costs) Describe(to chan<- *prometheus.Desc) { to <- costTotal }

// Collect implements prometheus.Collector.
func (c *costs) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cost, sum := range c.sums {
		to <- prometheus.MustNewConstMetric(costTotal, prometheus.CounterValue, sum.Float64(), cost.model, cost.provider, cost.currency)
	}
}
