package background

import "github.com/prometheus/client_golang/prometheus"

// NewCounters makes a counter for each value of a label, with the zero that a rate needs before the first event.
func NewCounters(name, help, label string, values ...string) *prometheus.CounterVec {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		all.WithLabelValues(value)
	}
	return all
}
