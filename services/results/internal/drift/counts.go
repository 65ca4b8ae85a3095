// Package drift notices that answers change: it counts the answers of watched prisms in spans of time, beside the calls, and
// compares the last hour and the last day with a reference by the population stability index (spec: drift-index).
//
//	results ── Worker: DriftAnswers, Counts.Add, AddDrift ──▶ counts of spans ── Read ──▶ comparisons ──▶ the API, the metrics
package drift

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// Top probabilities are counted by their log-odds, in bins that are a sixteenth wide, from -16 to 16 (spec: drift-bins).
const (
	topBins       = 512
	binsPerUnit   = 16
	lowestLogOdds = -16
)

// topBin is the bin of a probability.
func topBin(p float64) int {
	return int(min(max((math.Log(p/(1-p))-lowestLogOdds)*binsPerUnit, 0), topBins-1))
}

// Counts counts the answers to the targets of a version (prism.Target): its questions, or their options.
type Counts struct {
	Results int64
	Targets []TargetCounts
}

// TargetCounts counts the answers to one target, by top probability and by class.
type TargetCounts struct {
	Tops    [topBins]int64 // by the bin of the top probability
	Classes []int64        // by the number of the option or level; no and yes
}

// plan is what counting needs to know of a version.
type plan struct {
	targets []prism.Target
	places  []int      // of the question of each target
	classes [][]string // of each target
}

func newPlan(d prism.Definition) *plan {
	p := &plan{}
	for place, q := range d.Questions {
		for _, t := range q.Targets() {
			p.targets, p.places, p.classes = append(p.targets, t), append(p.places, place), append(p.classes, t.LabelValues())
		}
	}
	return p
}

// newCounts has no answers.
func (p *plan) newCounts() *Counts {
	c := &Counts{Targets: make([]TargetCounts, len(p.targets))}
	for i, classes := range p.classes {
		c.Targets[i].Classes = make([]int64, len(classes))
	}
	return c
}

// add counts the answers of a result. They are in the order of the questions; what is not of the version is left out.
func (p *plan) add(c *Counts, answers prism.Answers) {
	c.Results++
	for i, t := range p.targets {
		a, ok := t.AnswerIn(answers, p.places[i])
		if !ok {
			continue
		}
		class := slices.Index(p.classes[i], a.Value())
		if class < 0 {
			continue
		}
		c.Targets[i].Tops[topBin(a.Certainty())]++
		c.Targets[i].Classes[class]++
	}
}

// mostOptions is how many options of a question are compared: the most frequent ones.
const mostOptions = 20

// compared are the numbers of the targets of a question that are compared, in their order. The first of them has the number first. In
// counts they are the options that are the most often right; without counts, or of the same number, the first ones.
func compared(q prism.Question, first int, counts Counts) (numbers []int) {
	targets := len(q.Targets())
	for i := range targets {
		numbers = append(numbers, first+i)
	}
	if targets <= mostOptions {
		return numbers
	}
	often := func(number int) int64 {
		if number >= len(counts.Targets) || len(counts.Targets[number].Classes) == 0 {
			return 0
		}
		classes := counts.Targets[number].Classes
		return classes[len(classes)-1] // yes
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(often(b), often(a)) })
	numbers = numbers[:mostOptions]
	slices.Sort(numbers)
	return numbers
}

// amongOf is, of each target of questions, how many targets of its question are compared: an alarm of one of them is an alarm of the question.
func amongOf(questions []prism.Question) (among []int) {
	for _, q := range questions {
		targets := len(q.Targets())
		for range targets {
			among = append(among, min(targets, mostOptions))
		}
	}
	return among
}

// errCounts reports bytes that are no stored counts.
var errCounts = errors.New("drift: not stored counts")

// encode appends the counts of the targets, whose results are stored beside them, as unsigned varints: the number of targets,
// and for each one the number of its classes, their counts, the number of bins with a count, and of each of those how many bins it is
// behind the one before, and its count.
func (c *Counts) encode() (b []byte) {
	b = binary.AppendUvarint(b, uint64(len(c.Targets)))
	for i := range c.Targets {
		q := &c.Targets[i]
		b = binary.AppendUvarint(b, uint64(len(q.Classes)))
		for _, n := range q.Classes {
			b = binary.AppendUvarint(b, uint64(n)) //nolint:gosec // a count
		}
		some := 0
		for _, n := range q.Tops {
			if n > 0 {
				some++
			}
		}
		b = binary.AppendUvarint(b, uint64(some))
		before := 0
		for bin, n := range q.Tops {
			if n > 0 {
				b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(bin-before)), uint64(n)) //nolint:gosec // bins rise
				before = bin
			}
		}
	}
	return b
}

// addStored adds stored counts of the same targets.
func (c *Counts) addStored(results int64, b []byte) error {
	c.Results += results
	failed := false
	next := func(most uint64) int {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > most {
			failed = true
			return 0
		}
		b = b[size:]
		return int(n) //nolint:gosec // most is small enough
	}
	if targets := next(math.MaxInt32); c.Targets == nil {
		c.Targets = make([]TargetCounts, min(targets, len(b)))
	} else if targets != len(c.Targets) {
		return errCounts
	}
	for i := range c.Targets {
		q := &c.Targets[i]
		if classes := next(math.MaxInt32); q.Classes == nil {
			q.Classes = make([]int64, min(classes, len(b)))
		} else if classes != len(q.Classes) {
			return errCounts
		}
		for class := range q.Classes {
			q.Classes[class] += int64(next(math.MaxInt64))
		}
		bin := 0
		for range next(topBins) {
			bin += next(topBins)
			n := next(math.MaxInt64)
			if failed || bin >= topBins {
				return errCounts
			}
			q.Tops[bin] += int64(n)
		}
	}
	if failed || len(b) > 0 {
		return errCounts
	}
	return nil
}

// Add adds stored counts to stored counts of the same version.
func Add(stored, more []byte) ([]byte, error) {
	var c Counts
	if err := errors.Join(c.addStored(0, stored), c.addStored(0, more)); err != nil {
		return nil, err
	}
	return c.encode(), nil
}
