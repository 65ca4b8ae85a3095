package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/prism-results/prism/test/lab/internal/chart"
)

// Figure is one measured number with its target.
type Figure struct {
	Row       string    `json:"row"`
	What      string    `json:"what"`
	Unit      string    `json:"unit"`
	Value     float64   `json:"value"`
	Yardstick float64   `json:"yardstick,omitzero"`
	Ratio     float64   `json:"ratio,omitzero"` // the median of the rounds' ratios
	Target    string    `json:"target,omitzero"`
	Reached   bool      `json:"reached"` // true without a target too
	Rounds    []float64 `json:"rounds"`  // the ratio of each round, or the value
}

// beside is a figure whose target is a ratio to a yardstick, measured in the same rounds.
func beside(row, what, unit string, values, yardsticks []float64, least float64) Figure {
	r := ratios(values, yardsticks)
	return Figure{
		Row: row, What: what, Unit: unit, Value: median(values), Yardstick: median(yardsticks), Ratio: median(r),
		Target: fmt.Sprintf("≥ %.2f ×", least), Reached: median(r) >= least, Rounds: r,
	}
}

// besideAtMost is a figure whose target is a highest ratio to a yardstick, measured in the same rounds.
func besideAtMost(row, what, unit string, values, yardsticks []float64, most float64) Figure {
	f := beside(row, what, unit, values, yardsticks, 0)
	f.Target, f.Reached = fmt.Sprintf("≤ %.2f ×", most), f.Ratio <= most
	return f
}

// judgedByInterval is besideAtMost, whose target is missed only when the whole confidence interval of the median lies above.
func judgedByInterval(row, what, unit string, values, yardsticks []float64, most float64) Figure {
	f := besideAtMost(row, what, unit, values, yardsticks, most)
	low, high := interval(f.Rounds)
	f.Target += fmt.Sprintf(", of %.3f to %.3f", low, high)
	f.Reached = low <= most
	return f
}

// interval is a confidence interval of the median with at least 95%, or from the lowest to the highest of fewer than six values: between two
// values that lie as far from the ends, of which the chance that the median is outside is that of so few heads or tails.
func interval(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	outside := math.Pow(0.5, float64(n-1)) // the median lies beyond the first or the last
	ways, k := 1., 0
	for next := outside; ; k++ {
		ways *= float64(n-k) / float64(k+1)
		if next += ways * outside; next > 0.05 {
			break
		}
	}
	return sorted[k], sorted[n-1-k]
}

// plain is a figure without a target.
func plain(row, what, unit string, values []float64) Figure {
	return Figure{Row: row, What: what, Unit: unit, Value: median(values), Reached: true, Rounds: values}
}

// atMost is a figure whose target is a highest value.
func atMost(row, what, unit string, values []float64, most float64) Figure {
	return Figure{
		Row: row, What: what, Unit: unit, Value: median(values), Target: fmt.Sprintf("≤ %g", most),
		Reached: median(values) <= most, Rounds: values,
	}
}

// atLeast is a figure whose target is a lowest value.
func atLeast(row, what, unit string, values []float64, least float64) Figure {
	return Figure{
		Row: row, What: what, Unit: unit, Value: median(values), Target: fmt.Sprintf("≥ %g", least),
		Reached: median(values) >= least, Rounds: values,
	}
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// report is everything that a run measured.
type report struct {
	Go       string      `json:"go"`
	CPUs     int         `json:"cpus"`
	Settings settings    `json:"settings"`
	Figures  []Figure    `json:"figures"`
	Cells    cells       `json:"compared,omitzero"`
	Attacks  []*Attacked `json:"attacks,omitzero"`
}

func newReport(s settings) *report {
	return &report{Go: runtime.Version(), CPUs: runtime.NumCPU(), Settings: s}
}

func (r *report) add(out io.Writer, figures ...Figure) {
	for _, f := range figures {
		fmt.Fprintf(out, "  %s: %s %s\n", f.What, number(f.Value), f.Unit)
	}
	r.Figures = append(r.Figures, figures...)
}

// table prints the figures, and each cell of the comparison.
func (r *report) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Cells) > 0 {
		fmt.Fprintln(w, "\nPRISM\tCALL\tSYSTEM\t1/S\tP50 MS\tP99 MS\tPROCESSOR µS")
	}
	for _, c := range r.Cells {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Prism, c.Call, c.System, number(median(c.of(rate))),
			number(median(c.of(func(s sample) float64 { return s.P50 }))),
			number(median(c.of(func(s sample) float64 { return s.P99 }))), number(median(c.of(sample.total))))
	}
	if len(r.Attacks) > 0 {
		fmt.Fprint(out, "\n", r.attacksTable())
	}
	if len(r.Figures) > 0 {
		fmt.Fprintln(w, "\nWHAT\tMEASURED\tCOMPARED WITH\tRATIO\tTARGET\t")
	}
	for _, f := range r.Figures {
		yardstick, ratio := "", ""
		if f.Yardstick != 0 {
			yardstick, ratio = number(f.Yardstick), fmt.Sprintf("%.3f", f.Ratio)
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\t%s\t%s\n", f.What, number(f.Value), f.Unit, yardstick, ratio, f.Target, f.verdict())
	}
	return w.Flush()
}

// verdict says in a word whether the target is reached.
func (f Figure) verdict() string {
	switch {
	case f.Target == "":
		return ""
	case f.Reached:
		return "reached"
	}
	return "missed"
}

// span is the lowest and the highest round.
func (f Figure) span() string {
	lowest, highest := slices.Min(f.Rounds), slices.Max(f.Rounds)
	if f.Yardstick != 0 {
		return fmt.Sprintf("%.2f to %.2f", lowest, highest)
	}
	return number(lowest) + " to " + number(highest)
}

// number writes a figure with three digits or more.
func number(v float64) string {
	switch {
	case v >= 100:
		return chart.Thousands(v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// ratios are x over y, round by round.
func ratios(x, y []float64) []float64 {
	r := make([]float64, len(x))
	for i := range x {
		r[i] = x[i] / y[i]
	}
	return r
}

// differences are x less y, round by round.
func differences(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	return d
}
