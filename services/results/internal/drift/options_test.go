package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// withOptions is a definition with a question of n options of which any number can be right, between two others.
func withOptions(n int) prism.Definition {
	several := prism.Question{Key: "tags", Type: prism.Tags}
	for i := range n {
		several.Options = append(several.Options, prism.Option{Key: fmt.Sprint("o", i)})
	}
	return prism.Definition{Questions: []prism.Question{{Key: "first", Type: prism.YesNo}, several, {Key: "urgent", Type: prism.YesNo}}}
}

// spec: drift-options
func TestEachOptionIsCountedAsAYesNo(t *testing.T) {
	t.Parallel()
	p := newPlan(withOptions(2))
	got := p.newCounts()
	p.add(got, prism.Answers{
		{Question: "tags", Type: prism.Tags, Probabilities: []prism.KeyProbability{{Key: "o0", Probability: 0.2}, {Key: "o1", Probability: 0.9}}}, yesNo(0.7),
	})
	if len(got.Targets) != 4 {
		t.Fatalf("%d targets", len(got.Targets))
	}
	for i, want := range []struct {
		classes []int64
		top     float64
	}{{[]int64{0, 0}, 0}, {[]int64{1, 0}, 0.8}, {[]int64{0, 1}, 0.9}, {[]int64{0, 1}, 0.7}} {
		if !slices.Equal(got.Targets[i].Classes, want.classes) || want.top > 0 && got.Targets[i].Tops[topBin(want.top)] != 1 {
			t.Errorf("target %d has %v", i, got.Targets[i].Classes)
		}
	}
}

// spec: drift-options
func TestTheMostFrequentOptionsAreCompared(t *testing.T) {
	t.Parallel()
	d := withOptions(30)
	counts := *newPlan(d).newCounts()
	for i := range counts.Targets {
		counts.Targets[i].Classes[1] = int64(i % 10) // twice each of 1 to 9, and more
	}
	numbers := compared(d.Questions[1], 1, counts)
	if len(numbers) != 20 || !slices.IsSorted(numbers) {
		t.Fatalf("compared %v", numbers)
	}
	for n := 1; n <= 30; n++ {
		if often := n%10 >= 4; often && !slices.Contains(numbers, n) || n%10 < 3 && slices.Contains(numbers, n) {
			t.Errorf("target %d, right %d times: compared %v", n, n%10, numbers)
		}
	}
	if numbers := compared(d.Questions[1], 1, Counts{}); numbers[0] != 1 || numbers[19] != 20 {
		t.Errorf("without counts %v", numbers)
	}
	if numbers := compared(d.Questions[2], 31, counts); !slices.Equal(numbers, []int{31}) {
		t.Errorf("of another question %v", numbers)
	}
}

// Answers of the same distribution: a question of 20 options, of which many are rare, has as few alarms as one of one option. Without the
// correction one of the 20 would have an alarm in 20 times as many.
//
// spec: drift-alarm, drift-options
func TestAQuestionOfManyOptionsRaisesNoMoreFalseAlarmsThanOneOption(t *testing.T) {
	t.Parallel()
	const count = 600
	for _, results := range []int64{calibration.MinDrift, 600} {
		t.Run(fmt.Sprint(results), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(41, uint64(results)))
			questions := withOptions(20).Questions[1:2]
			draw := func(results int64) Counts {
				c := Counts{Results: results, Targets: make([]TargetCounts, 20)}
				for i := range c.Targets {
					q := &c.Targets[i]
					q.Classes = make([]int64, 2)
					for range results {
						score := 1.5*r.NormFloat64() - float64(i)/5 // from half of the results to about one in 170
						p := 1 / (1 + math.Exp(-score))
						q.Tops[topBin(max(p, 1-p))]++
						if p >= 0.5 {
							q.Classes[1]++
						} else {
							q.Classes[0]++
						}
					}
				}
				return c
			}
			alarms, uncorrected := 0, 0
			for range count {
				ref, window := Reference{Counts: draw(calibration.MinReference)}, draw(results)
				for _, each := range []struct {
					among []int
					n     *int
				}{{amongOf(questions), &alarms}, {nil, &uncorrected}} {
					ref.among = each.among
					w, err := newComparer(ref).window(now, now, window)
					if err != nil {
						t.Fatal(err)
					}
					if far, known := farthest(w.Targets, compared(questions[0], 0, ref.Counts)); !known {
						t.Fatal("too few answers")
					} else if far.Alarm() {
						*each.n++
					}
				}
			}
			t.Logf("%d of %d questions have an alarm, and %d without the correction", alarms, count, uncorrected)
			if most := 0.002*count + 3*math.Sqrt(0.002*count); float64(alarms) > most {
				t.Errorf("%d of %d questions have an alarm", alarms, count)
			}
			if uncorrected < 4*max(alarms, 1) {
				t.Errorf("%d questions have an alarm without the correction, and %d with it", uncorrected, alarms)
			}
		})
	}
}

// spec: drift-options
func TestOptionsShareTheErrorOfTheirQuestion(t *testing.T) {
	t.Parallel()
	d := withOptions(30)
	among := amongOf(d.Questions)
	if len(among) != 32 || among[0] != 1 || among[1] != 20 || among[30] != 20 || among[31] != 1 {
		t.Errorf("got %v", among)
	}
	if among := amongOf(withOptions(3).Questions); among[1] != 3 {
		t.Errorf("of 3 options %v", among)
	}
}

// spec: drift-options, drift-metrics
func TestTheMetricsOfOptionsAreOfTheOneThatIsTheFarthest(t *testing.T) {
	t.Parallel()
	drifted := func(index float64, alarm bool) Comparison {
		return Comparison{calibration.Drift{Index: index, Alarm: alarm}, calibration.Drift{Index: index / 2}}
	}
	unknown := Comparison{Probability: calibration.Drift{TooFew: true}}
	last := Last{Hour: Window{Targets: []Comparison{drifted(0.1, false), drifted(0.2, true), drifted(0.6, false), drifted(0.4, false)}}}
	last.Day.Targets = []Comparison{unknown, unknown, unknown, drifted(0.5, false)}
	got := map[string]float64{}
	for _, m := range last.metrics(prism.PrismID{}, withOptions(2).Questions) {
		var of dto.Metric
		if err := m.Write(&of); err != nil {
			t.Fatal(err)
		}
		name := ""
		for _, l := range of.GetLabel() {
			if l.GetName() != "prism" {
				name += l.GetValue() + " "
			}
		}
		got[name] = of.GetGauge().GetValue()
	}
	want := map[string]float64{
		"probability 0 hour ": 0.1, "classes 0 hour ": 0.05, "0 ": 0, "probability 1 hour ": 0.6, "classes 1 hour ": 0.3, "1 ": 1,
		"probability 2 hour ": 0.4, "classes 2 hour ": 0.2, "probability 2 day ": 0.5, "classes 2 day ": 0.25, "2 ": 0,
	}
	for name, value := range want {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s is %v, want %v", name, v, value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}
