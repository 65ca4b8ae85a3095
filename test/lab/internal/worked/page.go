package worked

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/lab/internal/chart"
)

// PicturesOf is the folder of the pictures of a page, beside it and with its name.
func PicturesOf(page string) string { return strings.TrimSuffix(page, filepath.Ext(page)) }

// WritePictures writes pictures by their names into a folder.
func WritePictures(dir string, pictures map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, svg := range pictures {
		if err := os.WriteFile(filepath.Join(dir, name), svg, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Sections are the tables of docs/quality.md by the names of their sections.
func (o Offline) Sections() map[string]string {
	return map[string]string{
		"quality: growth":       growthTable(o.Growth),
		"quality: measures":     measuresTable(o.First, o.Second),
		"quality: classes":      classesTable(of(o.Second.Quality, Topic)),
		"quality: comparison":   comparisonTable(o.Comparisons),
		"quality: calibrations": calibrationsTable(o.Second),
		"quality: thresholds":   thresholdsTable(o.Second.Thresholds),
	}
}

// Pictures are the pictures of docs/quality.md by the names of their files.
func (o Offline) Pictures() map[string][]byte {
	return map[string][]byte{
		"problem.svg":    reliability(o.Second, Problem),
		"topic.svg":      reliability(o.Second, Topic),
		"coverage.svg":   coverage(o.First, o.Second),
		"thresholds.svg": thresholds(o.Second.Thresholds),
	}
}

// Live is the example with the offline model as version 1 and a real one as version 2, on the same texts.
type Live struct {
	Offline, Real Version
	Comparisons   []client.Comparison
}

// Sections are the tables of docs/quality.md by the names of their sections.
func (l Live) Sections() map[string]string {
	return map[string]string{
		"quality: live measures":     measuresTable(l.Offline, l.Real),
		"quality: live comparison":   comparisonTable(l.Comparisons),
		"quality: live calibrations": calibrationsTable(l.Real),
	}
}

// Pictures are the pictures of docs/quality.md by the names of their files.
func (l Live) Pictures() map[string][]byte {
	return map[string][]byte{
		"live-problem.svg": reliability(l.Real, Problem),
		"live-topic.svg":   reliability(l.Real, Topic),
	}
}

func growthTable(all []Growth) string {
	var b strings.Builder
	b.WriteString("| labels | right topic | Brier score of `topic` | calibration error of `topic` | calibration of `problem` |\n" +
		"|---:|---|---|---|---|\n")
	for _, g := range all {
		t := of(g.Quality, Topic)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
			number(g.Labels), percent(t.Accuracy), figure(t.Brier), figure(t.ECE), g.calibration(Problem))
	}
	return b.String()
}

// calibration is that of a question, or why there is none.
func (g Growth) calibration(question string) string {
	c, ok := g.Calibrations[question]
	if !ok {
		return g.None[question]
	}
	switch {
	case c.Temperature != nil:
		return fmt.Sprintf("`temperature`, T = %.2f", *c.Temperature)
	case c.A != nil && c.B != nil:
		return fmt.Sprintf("`platt`, a = %.2f, b = %.2f", *c.A, *c.B)
	case c.Points != nil:
		return fmt.Sprintf("`isotonic`, %d corners", len(*c.Points))
	}
	return string(c.Method)
}

func measuresTable(versions ...Version) string {
	var b strings.Builder
	b.WriteString("| question | version | labels | right | log loss | Brier score | calibration error |\n" +
		"|---|---|---:|---|---|---|---|\n")
	for _, question := range []string{Topic, Problem} {
		for _, v := range versions {
			q := of(v.Quality, question)
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n",
				question, v.Name, number(q.Counted), percent(q.Accuracy), figure(q.LogLoss), figure(q.Brier), figure(q.ECE))
		}
	}
	return b.String()
}

func classesTable(q client.QuestionQuality) string {
	var b strings.Builder
	b.WriteString("| topic | labels | precision | recall | most often taken for |\n|---|---:|---|---|---|\n")
	for i, c := range q.Classes {
		taken, most := "–", 0
		for j, n := range q.Confusion.Counts[i] {
			if j != i && n > most {
				taken, most = fmt.Sprintf("`%s` (%d)", q.Confusion.Values[j], n), n
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n",
			c.Value, number(c.N), percent(c.Precision), percent(&c.Recall), taken)
	}
	return b.String()
}

func comparisonTable(all []client.Comparison) string {
	var b strings.Builder
	b.WriteString("| question | inputs | only 1 right | only 2 right | p | accuracy, 2 less 1 | Brier score, 2 less 1 | " +
		"verdict on 2 |\n" +
		"|---|---:|---:|---:|---:|---|---|---|\n")
	for _, c := range all {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %s | %s | %s | %s |\n",
			c.Question, number(c.Counted), c.McNemar.OnlyA, c.McNemar.OnlyB, probability(c.McNemar.P), signed(c.Differences.Accuracy), signed(c.Differences.Brier), c.Verdict)
	}
	return b.String()
}

func calibrationsTable(v Version) string {
	var b strings.Builder
	b.WriteString("| question | `auto` took | log loss before | after, cross-validated | gain | right before | right after |\n" +
		"|---|---|---:|---:|---|---|---|\n")
	for _, question := range []string{Topic, Problem} {
		before, after, gain := "–", "–", "–"
		if c, ok := v.Calibrations[question]; ok {
			before, after, gain = fmt.Sprintf("%.3f", c.LogLossBefore), fmt.Sprintf("%.3f", c.LogLossAfter), figure(&c.Gain)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", question, v.calibration(question), before, after, gain,
			percent(of(v.Quality, question).Accuracy), percent(of(v.Calibrated, question).Accuracy))
	}
	return b.String()
}

func thresholdsTable(t client.Thresholds) string {
	var b strings.Builder
	b.WriteString("| thresholds | no_at | yes_at | no | unsure | yes | false no | false yes | cost of 1,000 |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, one := range []struct {
		name string
		client.Threshold
	}{{"by theory", t.Theory}, {"the cheapest on these labels", t.Empirical}} {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %s | %s | %s | %d | %d | %.0f |\n", one.name, one.NoAt, one.YesAt, number(one.No),
			number(one.Unsure), number(one.Yes), one.FalseNo, one.FalseYes, 1000*one.Mean)
	}
	return b.String()
}

func figure(f *client.Figure) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", f.Value, f.Low, f.High)
}

func percent(f *client.Figure) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f%% (%.1f to %.1f)", 100*f.Value, 100*f.Low, 100*f.High)
}

func signed(f *client.Figure) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%+.3f (%+.3f to %+.3f)", f.Value, f.Low, f.High)
}

func probability(p float64) string {
	if p < 0.0001 {
		return "below 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

// reliability is the reliability diagram of a question, before and after the calibration if there is one.
func reliability(v Version, question string) []byte {
	happened := "right"
	if question == Problem {
		happened = "yes"
	}
	p := chart.Plots{
		Title: "Reliability of " + question + ", version " + v.Name,
		Note: "A dot is answers with similar probabilities. Its height is how often they were " + happened +
			", with the 95% interval.",
	}
	add := func(name string, q client.QuestionQuality) {
		plot := chart.Plot{
			Title: name, X: chart.Axis{Name: "probability", To: 1, Step: 0.2}, Y: chart.Axis{Name: happened, To: 1, Step: 0.2},
			Lines: []chart.Line{{Name: "as it should be", Kind: chart.Limit, Points: [][2]float64{{0, 0}, {1, 1}}}},
		}
		for _, bin := range q.Bins {
			plot.Dots = append(plot.Dots, chart.Dot{X: bin.Mean, Y: bin.Rate, Low: bin.Low, High: bin.High})
		}
		p.Plots = append(p.Plots, plot)
	}
	add("As the model says", of(v.Quality, question))
	if c, ok := v.Calibrations[question]; ok {
		add("Calibrated: "+string(c.Method), of(v.Calibrated, question))
	}
	return p.SVG()
}

// coverage is the risk over the share of answers that is kept.
func coverage(first, second Version) []byte {
	plot := chart.Plot{
		X: chart.Axis{Name: "share of answers that is kept", To: 1, Step: 0.1}, Y: chart.Axis{Name: "wrong", To: 0.5, Step: 0.1},
	}
	for _, one := range []struct {
		Version
		kind chart.Kind
	}{{first, chart.Competitor}, {second, chart.Subject}} {
		line := chart.Line{Name: "version " + one.Name, Kind: one.kind}
		for _, at := range of(one.Quality, Topic).Coverage {
			line.Points = append(line.Points, [2]float64{at.Kept, at.Risk})
		}
		plot.Lines = append(plot.Lines, line)
	}
	return chart.Plots{
		Title: "How often a topic that is kept is wrong", Plots: []chart.Plot{plot},
		Note: "The least sure answers are left to people first.",
	}.SVG()
}

// thresholds is what each threshold costs while the other one is where theory puts it.
func thresholds(t client.Thresholds) []byte {
	yes := chart.Line{Name: "yes from here", Kind: chart.Subject}
	no := chart.Line{Name: "no up to here", Kind: chart.Competitor}
	fixed := func(at float64) client.ThresholdCount {
		return t.Counts[min(max(int(math.Round(at*100)), 0), len(t.Counts)-1)]
	}
	cost := func(noAt, yesAt client.ThresholdCount) float64 {
		unsure := t.Counted - yesAt.FromYes - yesAt.FromNo - noAt.ToYes - noAt.ToNo
		return 1000 * (t.FalseYes*float64(yesAt.FromNo) + t.FalseNo*float64(noAt.ToYes) + t.Unsure*float64(unsure)) / float64(t.Counted)
	}
	for _, at := range t.Counts {
		if at.At > t.NoAt {
			yes.Points = append(yes.Points, [2]float64{at.At, cost(fixed(t.NoAt), at)})
		}
		if at.At < t.YesAt {
			no.Points = append(no.Points, [2]float64{at.At, cost(at, fixed(t.YesAt))})
		}
	}
	most := 0.0
	for _, p := range append(yes.Points, no.Points...) {
		most = max(most, p[1])
	}
	top := 200 * math.Ceil(most/200)
	rule := func(at float64) chart.Line {
		return chart.Line{Kind: chart.Limit, Points: [][2]float64{{at, 0}, {at, top}}}
	}
	return chart.Plots{
		Title: "What a threshold costs",
		Note: fmt.Sprintf("Of 1,000 answers: %g for a false yes, %g for a false no, %g for an unsure one. "+
			"Dashed: where theory puts them.", t.FalseYes, t.FalseNo, t.Unsure),
		Plots: []chart.Plot{{
			X: chart.Axis{Name: "calibrated probability", To: 1, Step: 0.1}, Y: chart.Axis{Name: "cost", To: top, Step: top / 4},
			Lines: []chart.Line{rule(t.NoAt), rule(t.YesAt), no, yes},
		}},
	}.SVG()
}
