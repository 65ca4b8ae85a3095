package drift

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

func definition() prism.Definition {
	return prism.Definition{Questions: []prism.Question{
		{Key: "urgent", Type: prism.YesNo},
		{Key: "topic", Type: prism.Choice, InsufficientInformation: true, Options: []prism.Option{{Key: "a"}, {Key: "b"}}},
		{Key: "mood", Type: prism.Scale, Levels: []prism.Level{{Key: "low"}, {Key: "up"}}},
	}}
}

func yesNo(p float64) prism.Answer {
	return prism.Answer{Question: "urgent", Type: prism.YesNo, Probability: p}
}

func chosen(question string, typ prism.QuestionType, key string, p float64) prism.Answer {
	return prism.Answer{
		Question: question, Type: typ, Chosen: key,
		Probabilities: []prism.KeyProbability{{Key: "other", Probability: 1 - p}, {Key: key, Probability: p}},
	}
}

// spec: drift-bins
func TestAProbabilityHasABinOfItsLogOdds(t *testing.T) {
	t.Parallel()
	for p, want := range map[float64]int{
		0: 0, 1e-300: 0, 0.5: 256, 1 / (1 + math.Exp(-1.01)): 272, 1 / (1 + math.Exp(-0.99)): 271, 1 - 1e-12: 511, 1: 511,
	} {
		if got := topBin(p); got != want {
			t.Errorf("%v is in bin %d, want %d", p, got, want)
		}
	}
}

// spec: drift-index
func TestTopProbabilitiesAndClassesAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers prism.Answers
		tops    [3]float64 // 0: not counted
		classes [3]int
	}{
		{
			"in the order of the questions",
			prism.Answers{yesNo(0.3), chosen("topic", prism.Choice, "b", 0.8), chosen("mood", prism.Scale, "up", 0.9)},
			[3]float64{0.7, 0.8, 0.9},
			[3]int{0, 1, 1},
		},
		{
			"in another order",
			prism.Answers{chosen("mood", prism.Scale, "low", 0.6), yesNo(0.5), chosen("topic", prism.Choice, prism.InsufficientInformation, 0.7)},
			[3]float64{0.5, 0.7, 0.6},
			[3]int{1, 2, 0},
		},
		{"some of them", prism.Answers{yesNo(0.9), chosen("mood", prism.Scale, "up", 0.9)}, [3]float64{0.9, 0, 0.9}, [3]int{1, 0, 1}},
		{
			"none of the version",
			prism.Answers{chosen("urgent", prism.Choice, "a", 0.9), chosen("topic", prism.Choice, "gone", 0.8), yesNo(0.9)},
			[3]float64{},
			[3]int{},
		},
	} {
		p := newPlan(definition())
		got, want := p.newCounts(), p.newCounts()
		p.add(got, c.answers)
		want.Results = 1
		for i, top := range c.tops {
			if top > 0 {
				want.Targets[i].Tops[topBin(top)]++
				want.Targets[i].Classes[c.classes[i]]++
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other counts", c.name)
		}
	}
}

func draw(t *rapid.T, shape []int) *Counts {
	c := &Counts{Targets: make([]TargetCounts, len(shape))}
	for i, classes := range shape {
		q := &c.Targets[i]
		q.Classes = rapid.SliceOfN(rapid.Int64Range(0, 1<<40), classes, classes).Draw(t, "classes")
		for bin, n := range rapid.MapOf(rapid.IntRange(0, topBins-1), rapid.Int64Range(0, 1<<40)).Draw(t, "tops") {
			q.Tops[bin] = n
		}
	}
	return c
}

// spec: drift-counting
func TestStoredCountsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(2, prism.MaxOptions), 1, 4).Draw(t, "shape")
		a, b := draw(t, shape), draw(t, shape)
		stored, err := Add(a.encode(), b.encode())
		if err != nil {
			t.Fatal(err)
		}
		var got Counts
		if err := got.addStored(7, stored); err != nil {
			t.Fatal(err)
		}
		want := Counts{Results: 7, Targets: make([]TargetCounts, len(shape))}
		for i := range shape {
			w := &want.Targets[i]
			w.Classes = make([]int64, len(a.Targets[i].Classes))
			for j := range w.Classes {
				w.Classes[j] = a.Targets[i].Classes[j] + b.Targets[i].Classes[j]
			}
			for j := range w.Tops {
				w.Tops[j] = a.Targets[i].Tops[j] + b.Targets[i].Tops[j]
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatal("the sum is another one")
		}
	})
}

func TestWhatAreNoCountsIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := draw(t, []int{2, 3}).encode()
		cut := whole[:rapid.IntRange(0, len(whole)-1).Draw(t, "length")]
		other := draw(t, []int{2, 4}).encode()
		fewer := draw(t, []int{2}).encode()
		for _, b := range [][]byte{cut, append(whole[:len(whole):len(whole)], 0), other, fewer} {
			if _, err := Add(whole, b); !errors.Is(err, errCounts) {
				t.Fatalf("%x was added to %x: %v", b, whole, err)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) { // any bytes end in an error or in counts, within their memory
		var c Counts
		_ = c.addStored(0, rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "bytes"))
	})
}

// spec: drift-counting, version-questions
func TestCountsOfTheMostOptionsAreSmall(t *testing.T) {
	t.Parallel()
	var d prism.Definition
	for left := prism.MaxMembers; left > 0; left -= prism.MaxOptions {
		q := prism.Question{Key: fmt.Sprint("q", len(d.Questions)), Type: prism.Choice}
		for i := range min(left, prism.MaxOptions) {
			q.Options = append(q.Options, prism.Option{Key: fmt.Sprint("o", i)})
		}
		d.Questions = append(d.Questions, q)
	}
	p := newPlan(d)
	c := p.newCounts()
	const results = 100_000
	for i := range results {
		var answers prism.Answers
		for _, q := range d.Questions {
			answers = append(answers, chosen(q.Key, prism.Choice, q.Options[i%len(q.Options)].Key, 0.9))
		}
		p.add(c, answers)
	}
	stored := c.encode()
	if len(stored) > 16<<10 {
		t.Errorf("the counts of %d options have %d bytes", prism.MaxMembers, len(stored))
	}
	var got Counts
	if err := got.addStored(results, stored); err != nil || !reflect.DeepEqual(&got, c) {
		t.Errorf("other counts are stored: %v", err)
	}
}
