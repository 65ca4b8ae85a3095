package lens

import (
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// maxKeys is the most options or levels that a question has: 26 options and insufficient information.
const maxKeys = 27

// calibrated is the answer that was calibrated last: columns of one question are mostly side by side.
type calibrated struct {
	of            *prism.Answer
	calibrated    prism.Answer
	keys          [maxKeys]prism.KeyProbability
	probabilities [maxKeys]float64
}

// answer is an answer with calibrated probabilities, until the next call. What was chosen stays: no calibration of a choice or
// scale changes the order of its probabilities (spec: calibrated-column).
func (l *calibrated) answer(a *prism.Answer, by *calibration.Calibration) *prism.Answer {
	if l.of == a {
		return &l.calibrated
	}
	l.of, l.calibrated = a, *a
	if a.Type == prism.YesNo {
		l.calibrated.Probability = by.Apply(append(l.probabilities[:0], a.Probability))[0]
		return &l.calibrated
	}
	p := l.probabilities[:0]
	for _, k := range a.Probabilities {
		p = append(p, k.Probability)
	}
	p = by.Apply(p)
	l.calibrated.Probabilities = l.keys[:0]
	for i, k := range a.Probabilities {
		l.calibrated.Probabilities = append(l.calibrated.Probabilities, prism.KeyProbability{Key: k.Key, Probability: p[i]})
	}
	if a.Type == prism.Choice {
		chosen, _ := l.calibrated.ProbabilityOf(a.Chosen)
		l.calibrated.Confidence = prism.Confidence(chosen, len(p))
	}
	return &l.calibrated
}
