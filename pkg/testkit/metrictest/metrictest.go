// Package metrictest reads metrics in tests.
package metrictest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Values are all series by the name of the metric and the values of its labels, with a space between: a counter or gauge as it
// is, of a histogram how many values it has seen.
func Values(t testing.TB, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			series := f.GetName()
			for _, l := range m.GetLabel() {
				series += " " + l.GetValue()
			}
			values[series] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// Value is one of Values. The test fails if there is none.
func Value(t testing.TB, from prometheus.Gatherer, series string) float64 {
	t.Helper()
	value, ok := Values(t, from)[series]
	if !ok {
		t.Fatalf("there is no series %q", series)
	}
	return value
}
