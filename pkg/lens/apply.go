package lens

import (
	"cmp"
	"slices"
	"sync"

	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// The default limits of a yes_no answer: yes from defaultYesAt up, no from defaultNoAt down (spec: show-answer).
const (
	defaultYesAt = 0.6
	defaultNoAt  = 0.4
)

// Kind tells which fields of a Cell are set.
type Kind uint8

// The kinds of cells.
const (
	Null   Kind = iota // the stored answer does not have what the column shows
	Number             // Cell.Number: a probability, an average or a confidence
	Text               // Cell.Key and Cell.Label: an option, a level, or yes, no, unsure
)

// Cell is the value of one column for one result. The zero value is null.
type Cell struct {
	Kind   Kind
	Number float64 // finite
	Key    string  // for programs (json, jsonl): the option or level key, or yes, no, unsure
	// Label is for people (csv, tsv): the label in the version that answered, or the key where it has none; Yes, No, Unsure.
	Label string
}

// Reason says why a cell is null; it is empty for every other cell (spec: lens-preview).
type Reason string

// The reasons. They name the version that answered, as the Lens fits the latest one.
const (
	NoQuestion Reason = "The version that answered does not have this question."
	NoOption   Reason = "The question did not have this option or level in the version that answered."
	OtherType  Reason = "The question had another type in the version that answered."
	NoAverage  Reason = "The values of the levels have no average."
	NotPinned  Reason = "No calibration is pinned for this question in the version that answered."
)

// Pinned is the calibrations that are pinned to a version, by question. Nil is none.
type Pinned map[string]*calibration.Calibration

// Plan is a Lens prepared for the answers of one version. It can be used concurrently.
type Plan struct {
	columns    []column
	calibrated bool // a column is
	scratch    sync.Pool
}

type column struct {
	prism.Column
	position    int           // of the question in the version, and nearly always of its answer in a result
	known       []prism.Level // the levels of the version, or the options without values; none when it has no such question
	scale       bool          // known are levels
	calibration *calibration.Calibration
}

// Compile prepares a Lens for the answers of a version with its pinned calibrations. The Lens is the prism's current one: a
// column that does not fit the version is null in every row, and so is a calibrated column of a question without a calibration.
func Compile(l prism.Lens, answered prism.Definition, pinned Pinned) *Plan {
	p := &Plan{columns: make([]column, len(l.Columns)), calibrated: l.Calibrated()}
	for i, c := range l.Columns {
		to := &p.columns[i]
		to.Column, to.calibration = c, pinned[c.Question]
		at := slices.IndexFunc(answered.Questions, func(q prism.Question) bool { return q.Key == c.Question })
		if at < 0 {
			continue
		}
		q := answered.Questions[at]
		to.position, to.known, to.scale = at, q.Levels, q.Type == prism.Scale
		if q.Type == prism.Choice {
			for _, o := range q.Choices() {
				to.known = append(to.known, prism.Level{Key: o.Key, Label: o.Label})
			}
		}
	}
	return p
}

// Calibrated tells whether a column of the Lens is calibrated.
func (p *Plan) Calibrated() bool { return p.calibrated }

// Apply appends one cell for each column, in Lens order. A column is null if the stored answer lacks its question, option
// or level, or if answers of that type have nothing to show there (spec: lens-column-without-an-answer).
func (p *Plan) Apply(dst []Cell, answers prism.Answers) []Cell {
	dst = slices.Grow(dst, len(p.columns))
	if p.calibrated {
		return p.applyCalibrated(dst, nil, answers)
	}
	for i := range p.columns {
		cell, _ := p.columns[i].show(p.columns[i].find(answers))
		dst = append(dst, cell)
	}
	return dst
}

// Reasons returns, for each column in Lens order, why its cell is null.
func (p *Plan) Reasons(answers prism.Answers) []Reason {
	reasons := make([]Reason, len(p.columns))
	p.applyCalibrated(nil, reasons, answers)
	return reasons
}

// show is the column's cell, or why it is null, before calibration. A nil answer is none.
func (c *column) show(a *prism.Answer) (Cell, Reason) {
	if a == nil {
		return Cell{}, NoQuestion
	}
	cell, reason := c.cell(a)
	if c.Calibrated && c.calibration == nil && reason == "" {
		return Cell{}, NotPinned
	}
	return cell, reason
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

func (c *column) cell(a *prism.Answer) (Cell, Reason) {
	yesNo := a.Type == prism.YesNo
	choiceOrScale := a.Type == prism.Choice || a.Type == prism.Scale
	switch {
	case c.Show == prism.ShowAnswer && yesNo:
		return c.yesOrNo(a.Probability), ""
	case c.Show == prism.ShowAnswer && choiceOrScale:
		if k := c.lookUp(a.Type, a.Chosen); k != nil && k.Label != "" {
			return Cell{Kind: Text, Key: a.Chosen, Label: k.Label}, ""
		}
		return Cell{Kind: Text, Key: a.Chosen, Label: a.Chosen}, ""
	case c.Show == prism.ShowProbability && yesNo && c.Option == "": // a yes_no answer has no options
		return Cell{Kind: Number, Number: a.Probability}, ""
	case c.Show == prism.ShowProbability && choiceOrScale:
		if p, ok := a.ProbabilityOf(cmp.Or(c.Option, a.Chosen)); ok {
			return Cell{Kind: Number, Number: p}, ""
		}
		return Cell{}, NoOption
	case c.Show == prism.ShowAverage && a.Type == prism.Scale:
		return c.average(a.Probabilities)
	case c.Show == prism.ShowConfidence && a.Type == prism.Choice:
		return Cell{Kind: Number, Number: a.Confidence}, ""
	}
	return Cell{}, OtherType
}

func (c *column) yesOrNo(p float64) Cell {
	switch {
	case p >= orDefault(c.YesAt, defaultYesAt): // first, so that overlapping limits mean yes
		return Cell{Kind: Text, Key: "yes", Label: "Yes"}
	case p <= orDefault(c.NoAt, defaultNoAt):
		return Cell{Kind: Text, Key: "no", Label: "No"}
	}
	return Cell{Kind: Text, Key: "unsure", Label: "Unsure"}
}

func orDefault(limit *float64, otherwise float64) float64 {
	if limit == nil {
		return otherwise
	}
	return *limit
}

// average weighs the values of the levels in the version that answered (spec: show-average). If that version lacks a level
// of the stored answer, the average is null: leaving the level out would give a wrong number.
func (c *column) average(levels []prism.KeyProbability) (Cell, Reason) {
	if !c.scale {
		return Cell{}, NoAverage
	}
	sum, ok := prism.Average(c.known, levels)
	if !ok {
		return Cell{}, NoAverage
	}
	return Cell{Kind: Number, Number: sum}, ""
}

// lookUp finds an option or level of the version that answered, or nil.
func (c *column) lookUp(t prism.QuestionType, key string) *prism.Level {
	if c.scale != (t == prism.Scale) {
		return nil
	}
	for i := range c.known {
		if c.known[i].Key == key {
			return &c.known[i]
		}
	}
	return nil
}
