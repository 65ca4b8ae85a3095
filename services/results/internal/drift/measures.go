package drift

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

const (
	// measureEvery is how often the drift of watched prisms is measured.
	measureEvery = 10 * time.Second
	// stale is how late the counting may be. Beyond it a prism has no metrics of drift: its last counted hour is too old.
	stale = 15 * time.Minute
)

var (
	psiOf = prometheus.NewDesc("prism_quality_psi",
		"Population stability index of the answers to a question (its number, from 0) of a watched prism's latest version: "+
			"of the top probability or the classes, in the last hour or day. Absent if there were too few answers, or if "+
			"the counting is more than 15 minutes late.",
		[]string{"prism", "question", "of", "window"}, nil)
	alarmOf = prometheus.NewDesc("prism_quality_drift_alarm",
		"1 if an index of prism_quality_psi of the question is above its limit.", []string{"prism", "question"}, nil)
	leftOut = prometheus.NewDesc("prism_quality_prisms_left_out",
		"Watched prisms of which not every question has metrics, as there would be too many.", nil, nil)
	countingLate = prometheus.NewDesc("prism_quality_counting_late_seconds",
		"How long ago the time is up to which the answers of each watched prism with metrics are counted, at most.", nil, nil)
)

// measures are the metrics of the last look. They are replaced together, so that a scrape sees those of one look.
type measures struct {
	mu     sync.Mutex
	latest []prometheus.Metric
}

// Describe implements prometheus.Collector.
func (m *measures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{psiOf, alarmOf, leftOut, countingLate} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *measures) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, each := range m.latest {
		to <- each
	}
}

// MeasureWatched measures the drift of the watched prisms.
func (w *Worker) MeasureWatched(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	slots, left, err := Slots(ctx, w.deps.Store, w.deps.Store)
	if err != nil {
		return err
	}
	var (
		metrics []prometheus.Metric
		late    = 0.
		now     = prism.Now(w.deps.Now)
	)
	for _, slot := range slots {
		if slot.Shown == 0 {
			continue
		}
		behind := now.Sub(slot.Reached.Time())
		late = max(late, behind.Seconds())
		if behind > stale {
			continue
		}
		last, err := Read(ctx, w.deps.Store, slot.Watch, slot.Latest, slot.definition.Questions)
		if err != nil {
			return err
		}
		metrics = append(metrics, last.metrics(slot.Prism, slot.definition.Questions[:slot.Shown])...)
	}
	metrics = append(metrics,
		prometheus.MustNewConstMetric(leftOut, prometheus.GaugeValue, float64(left)),
		prometheus.MustNewConstMetric(countingLate, prometheus.GaugeValue, late))
	w.measures.mu.Lock()
	defer w.measures.mu.Unlock()
	w.measures.latest = metrics
	return nil
}

// metrics are those of the first questions of a prism. Of a question whose options are compared each by itself they are of the option that
// drifts the most.
func (l Last) metrics(id prism.PrismID, questions []prism.Question) (metrics []prometheus.Metric) {
	first := 0 // target of the question
	for i, q := range questions {
		number, alarm := strconv.Itoa(i), 0.
		targets := compared(q, first, l.Reference.Counts)
		first += len(q.Targets())
		for window, comparisons := range map[string][]Comparison{"hour": l.Hour.Targets, "day": l.Day.Targets} {
			far, known := farthest(comparisons, targets)
			if !known {
				continue
			}
			if far.Alarm() {
				alarm = 1
			}
			for name, d := range map[string]float64{"probability": far.Probability.Index, "classes": far.Classes.Index} {
				metrics = append(metrics, prometheus.MustNewConstMetric(psiOf, prometheus.GaugeValue, d, id.String(), number, name, window))
			}
		}
		metrics = append(metrics, prometheus.MustNewConstMetric(alarmOf, prometheus.GaugeValue, alarm, id.String(), number))
	}
	return metrics
}

// farthest has the greatest of each index of some targets, and an alarm if one of them has it; false if none is known.
func farthest(comparisons []Comparison, targets []int) (far Comparison, known bool) {
	for _, t := range targets {
		if t >= len(comparisons) || !comparisons[t].Known() {
			continue
		}
		next := comparisons[t]
		if !known {
			far, known = next, true
			continue
		}
		far = Comparison{Probability: farther(far.Probability, next.Probability), Classes: farther(far.Classes, next.Classes)}
	}
	return far, known
}

// farther is the drift with the greater index, and an alarm if either is one.
func farther(a, b calibration.Drift) calibration.Drift {
	alarm := a.Alarm || b.Alarm
	if b.Index > a.Index {
		a = b
	}
	a.Alarm = alarm
	return a
}
