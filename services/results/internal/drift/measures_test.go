package drift_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
)

// gathered are the metrics of quality by name and labels.
func gathered(t *testing.T, by *drift.Worker) map[string]float64 {
	t.Helper()
	metrics := prometheus.NewRegistry()
	must(t, by.Measure(metrics), by.MeasureWatched(t.Context()))
	families, err := metrics.Gather()
	must(t, err)
	got := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "prism_quality_") {
			continue
		}
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetGauge().GetValue()
		}
	}
	return got
}

// spec: drift-metrics
func TestTheLatestVersionOfAWatchedPrismHasMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := gathered(t, w.worker()); len(got) != 2 {
		t.Errorf("without a watched prism: %v", got)
	}
	w.watch(t, time.Time{}, time.Time{})
	w.save(t, w.now, 2000, 0.8)
	w.pass(t, 2*time.Hour)
	w.save(t, w.now, 300, 0.4)
	w.pass(t, 5*time.Minute)
	got := gathered(t, w.worker())
	p, question := w.prism.String(), w.read(t).Hour.Targets[0]
	for name, want := range map[string]float64{
		"prism_quality_psi probability " + p + " 0 hour": question.Probability.Index, "prism_quality_psi classes " + p + " 0 hour": question.Classes.Index,
		"prism_quality_psi probability " + p + " 0 day": question.Probability.Index, "prism_quality_psi classes " + p + " 0 day": question.Classes.Index,
		"prism_quality_drift_alarm " + p + " 0": 1, "prism_quality_prisms_left_out": 0, "prism_quality_counting_late_seconds": 120,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if len(got) != 7 {
		t.Errorf("there are %v", got)
	}
	// An hour that was counted long ago is no news.
	w.now = w.now.Add(time.Hour)
	if got := gathered(t, w.worker()); len(got) != 2 || got["prism_quality_counting_late_seconds"] != 3720 {
		t.Errorf("when the counting is late: %v", got)
	}
	// Too few answers have no index, and no alarm.
	w.pass(t, 0)
	w.pass(t, 24*time.Hour)
	if got := gathered(t, w.worker()); len(got) != 3 || got["prism_quality_drift_alarm "+p+" 0"] != 0 {
		t.Errorf("with too few answers: %v", got)
	}
}

// spec: drift-metrics, drift-slots
func TestThereAreAtMost200SeriesOfAnyNumberOfPrisms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.watch(t, time.Time{}, time.Time{})
	for i := range byte(4) {
		id := prism.PrismID{UUID: prism.UUID{3 + i}}
		w.now = w.now.Add(time.Millisecond)
		must(t, w.CreatePrism(t.Context(), w.account, prism.Prism{ID: id, Slug: fmt.Sprint("p", i), Latest: version(1, 16)}, w.by()),
			w.SetDrift(t.Context(), w.account, id, drift.Change{Watched: true, Start: drift.Start(w.now), Version: 1}, w.by()))
	}
	w.count(t, w.worker())
	got := gathered(t, w.worker())
	alarms := map[string]int{}
	for name := range got {
		if rest, ok := strings.CutPrefix(name, "prism_quality_drift_alarm "); ok {
			alarms[rest[:2]]++
		}
	}
	if alarms["02"] != 1 || alarms["03"] != 10 || alarms["04"] != 10 || alarms["05"] != 9 || alarms["06"] != 9 || got["prism_quality_prisms_left_out"] != 4 {
		t.Errorf("%v questions of the prisms, %v left out", alarms, got["prism_quality_prisms_left_out"])
	}
	questions := 0
	for _, n := range alarms {
		questions += n
	}
	if others := len(got) - questions; questions*(4+1)+others > 200 { // with an index of both in both windows
		t.Errorf("%d questions and %d other series", questions, others)
	}
}
