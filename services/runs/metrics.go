package runs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the collectors of a worker.
type metrics struct {
	rows      *prometheus.CounterVec
	slowdowns prometheus.Counter
	saves     *prometheus.HistogramVec
}

// The outcomes of rows and of saves.
const (
	rowOK      = "ok"
	rowFailed  = "failed"
	rowInvalid = "invalid"
	rowWaited  = "waited" // without an outcome, to be tried again

	savedRows  = "saved"
	lostLease  = "lost"
	failedSave = "failed"
)

func newMetrics(to prometheus.Registerer) *metrics {
	factory := promauto.With(to)
	m := &metrics{
		rows: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_run_rows_total",
			Help: "Rows of file runs: saved as ok, failed or invalid, and waited, which were not taken and are tried again.",
		}, []string{"outcome"}),
		slowdowns: factory.NewCounter(prometheus.CounterOpts{
			Name: "prism_run_slowdowns_total", Help: "Times that the rows at once of a model were halved, as the model was overloaded.",
		}),
		saves: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_run_save_seconds", Help: "Tries to save rows of a lease: saved, lost (the lease was), failed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"outcome"}),
	}
	for _, outcome := range []string{rowOK, rowFailed, rowInvalid, rowWaited} {
		m.rows.WithLabelValues(outcome) // a rate needs the zero before the first event
	}
	for _, outcome := range []string{savedRows, lostLease, failedSave} {
		m.saves.WithLabelValues(outcome)
	}
	return m
}

// measureNow registers what a worker does at the time of a scrape.
func measureNow(to prometheus.Registerer, p *pace, leases func() int) {
	factory := promauto.With(to)
	gauge := func(name, help string, read func() int) {
		factory.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
	}
	gauge("prism_run_leases", "Chunks of rows that are leased.", leases)
	gauge("prism_run_rows_running", "Rows that are being answered.", p.rows)
	gauge("prism_run_concurrency", "Rows that may be answered at once, as their models allow.", p.limit)
}

func (m *metrics) saved(outcome string, took time.Duration) {
	m.saves.WithLabelValues(outcome).Observe(took.Seconds())
}
