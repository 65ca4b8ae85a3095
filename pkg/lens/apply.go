package lens

import (
	"slices"
	"sync"

	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// Pinned is the calibrations that are pinned to a version, by the names of targets (prism.TargetName). Nil is none.
type Pinned map[string]*calibration.Calibration

// Plan is a Lens prepared for the answers of one version. It can be used concurrently.
type Plan struct {
	columns    []column
	calibrated bool // a column is
	scratch    sync.Pool
}

type column struct {
	prism.AnsweredColumn
	position int // of the question in the version, and nearly always of its answer in a result
	// calibrations are of all probabilities of an answer, or each of the probability of an option; nil if nothing is pinned that the column
	// shows.
	calibrations []*calibration.Calibration
	byOption     bool
}

// Compile prepares a Lens for the answers of a version with its pinned calibrations. The Lens is the prism's current one: a
// column that does not fit the version is null in every row, and so is a calibrated column of a question without a calibration.
func Compile(l prism.Lens, answered prism.Definition, pinned Pinned) *Plan {
	p := &Plan{columns: make([]column, len(l.Columns)), calibrated: l.Calibrated()}
	for i, c := range l.Columns {
		to := &p.columns[i]
		var q prism.Question
		if at := slices.IndexFunc(answered.Questions, func(q prism.Question) bool { return q.Key == c.Question }); at >= 0 {
			q, to.position = answered.Questions[at], at
		}
		to.AnsweredColumn = prism.ColumnOf(c, q)
		to.pin(q, pinned)
	}
	return p
}

// pin finds the calibrations of the column. One that shows all options needs one of them at least: the others are as they are stored
// (spec: calibrated-column).
func (c *column) pin(q prism.Question, pinned Pinned) {
	q.Key = c.Question // also if the version does not have it
	targets := q.Targets()
	c.byOption = targets[0].Option != ""
	calibrations, some := make([]*calibration.Calibration, len(targets)), false
	for i, t := range targets {
		calibrations[i] = pinned[t.Name()]
		some = some || calibrations[i] != nil && (c.Option == "" || !c.byOption || c.Option == t.Option)
	}
	if some {
		c.calibrations = calibrations
	}
}

// Calibrated tells whether a column of the Lens is calibrated.
func (p *Plan) Calibrated() bool { return p.calibrated }

// Apply appends one cell for each column, in Lens order. A column is null if the stored answer lacks its question, option
// or level, or if answers of that type have nothing to show there (spec: lens-column-without-an-answer).
func (p *Plan) Apply(dst []prism.Cell, answers prism.Answers) []prism.Cell {
	dst = slices.Grow(dst, len(p.columns))
	if p.calibrated {
		return p.applyCalibrated(dst, nil, answers)
	}
	for i := range p.columns {
		dst = append(dst, prism.Cell{})
		p.columns[i].show(p.columns[i].find(answers), &dst[len(dst)-1])
	}
	return dst
}

// Reasons returns, for each column in Lens order, why its cell is null.
func (p *Plan) Reasons(answers prism.Answers) []prism.Reason {
	reasons := make([]prism.Reason, len(p.columns))
	p.applyCalibrated(nil, reasons, answers)
	return reasons
}

// show sets the column's cell before calibration, or returns why it stays null. A nil answer is none.
func (c *column) show(a *prism.Answer, to *prism.Cell) prism.Reason {
	if a == nil {
		return prism.NoQuestion
	}
	reason := c.SetCell(to, a)
	if c.Calibrated && c.calibrations == nil && reason == "" {
		*to, reason = prism.Cell{}, prism.NotPinned
	}
	return reason
}

// find is the column's answer, or nil. Answers are stored in the version's order, so it is nearly always at c.position.
func (c *column) find(answers prism.Answers) *prism.Answer {
	if c.position < len(answers) && answers[c.position].Question == c.Question {
		return &answers[c.position]
	}
	for i := range answers {
		if answers[i].Question == c.Question {
			return &answers[i]
		}
	}
	return nil
}
