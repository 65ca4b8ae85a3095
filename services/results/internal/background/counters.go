package background

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// NewCounters makes a counter for each value of a label, with the zero that a rate needs before the first event.
func NewCounters(name, help, label string, values ...string) *prometheus.CounterVec {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		all.WithLabelValues(value)
	}
	return all
}

// Register registers metrics, all that can be.
func Register(to prometheus.Registerer, metrics ...prometheus.Collector) error {
	var errs []error
	for _, m := range metrics {
		errs = append(errs, to.Register(m))
	}
	return errors.Join(errs...)
}
