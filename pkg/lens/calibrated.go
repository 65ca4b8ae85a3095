package lens

import (
	"github.com/prism-results/prism/pkg/prism"
)

// maxKeys is the most options or levels that a question has.
const maxKeys = prism.MaxOptions

// scratch is memory for a calibrated answer.
type scratch struct {
	keys          [maxKeys]prism.KeyProbability
	probabilities [2 * maxKeys]float64 // stored and calibrated
	last          prism.Answer         // calibrated, with its memory in the others
}

// applyCalibrated is Apply for a Lens with calibrated columns, and Reasons for any Lens if reasons is not nil. Columns of one
// question are mostly side by side, so the answer that was calibrated last is kept.
func (p *Plan) applyCalibrated(dst []prism.Cell, reasons []prism.Reason, answers prism.Answers) []prism.Cell {
	m, _ := p.scratch.Get().(*scratch)
	if m == nil {
		m = &scratch{}
	}
	defer p.scratch.Put(m)
	var lastAnswer *prism.Answer // of m.last
	for i := range p.columns {
		c := &p.columns[i]
		dst = append(dst, prism.Cell{})
		a, cell := c.find(answers), &dst[len(dst)-1]
		reason := c.show(a, cell)
		if c.Calibrated && reason == "" {
			if lastAnswer != a {
				lastAnswer, m.last = a, *a
				m.calibrate(c)
			}
			*cell = prism.Cell{}
			reason = c.SetCell(cell, &m.last)
		}
		if reasons != nil {
			reasons[i] = reason
		}
	}
	return dst
}

// calibrate calibrates the probabilities of m.last. What was chosen stays: no calibration of a choice or scale changes the order of
// its probabilities (spec: calibrated-column).
func (m *scratch) calibrate(by *column) {
	p := m.last.AppendProbabilities(m.probabilities[:0])
	if !by.byOption {
		m.last.SetProbabilities(by.calibrations[0].Append(p[len(p):], p), m.keys[:0])
		return
	}
	calibrated := p[len(p):]
	for i := range p {
		if i < len(by.calibrations) && by.calibrations[i] != nil {
			calibrated = by.calibrations[i].Append(calibrated, p[i:i+1])
		} else {
			calibrated = append(calibrated, p[i])
		}
	}
	m.last.SetProbabilities(calibrated, m.keys[:0])
}
