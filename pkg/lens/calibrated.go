package lens

import (
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// maxKeys is the most options or levels that a question has: 26 options, insufficient_information included.
const maxKeys = 26

// scratch is memory for a calibrated answer.
type scratch struct {
	keys          [maxKeys]prism.KeyProbability
	probabilities [2 * maxKeys]float64 // stored and calibrated
}

// applyCalibrated is Apply for a Lens with calibrated columns, and Reasons for any Lens if reasons is not nil. Columns of one
// question are mostly side by side, so the answer that was calibrated last is kept.
func (p *Plan) applyCalibrated(dst []Cell, reasons []Reason, answers prism.Answers) []Cell {
	m, _ := p.scratch.Get().(*scratch)
	if m == nil {
		m = &scratch{}
	}
	defer p.scratch.Put(m)
	var (
		of   *prism.Answer
		last prism.Answer
	)
	for i := range p.columns {
		c := &p.columns[i]
		a := c.find(answers)
		cell, reason := c.show(a)
		if c.Calibrated && reason == "" {
			if of != a {
				of, last = a, calibrated(*a, c.calibration, m.keys[:0], m.probabilities[:0])
			}
			cell, reason = c.cell(&last)
		}
		if reasons != nil {
			reasons[i] = reason
		}
		dst = append(dst, cell)
	}
	return dst
}

// calibrated is an answer with calibrated probabilities. What was chosen stays: no calibration of a choice or scale changes the
// order of its probabilities (spec: calibrated-column). The new answer uses the memory of keys; p is memory to work in.
func calibrated(a prism.Answer, by *calibration.Calibration, keys []prism.KeyProbability, p []float64) prism.Answer {
	if a.Type == prism.YesNo {
		p = append(p, a.Probability)
		a.Probability = by.Append(p[1:], p)[0]
		return a
	}
	n := len(a.Probabilities)
	for _, k := range a.Probabilities {
		p = append(p, k.Probability)
	}
	for i, calibrated := range by.Append(p[n:], p) {
		keys = append(keys, prism.KeyProbability{Key: a.Probabilities[i].Key, Probability: calibrated})
	}
	a.Probabilities = keys
	if a.Type == prism.Choice {
		chosen, _ := a.ProbabilityOf(a.Chosen)
		a.Confidence = prism.Confidence(chosen, n)
	}
	return a
}
