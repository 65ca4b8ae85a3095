package lens

import (
	"math"
	"slices"

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

// Plan is a Lens prepared for the answers of one version. It can be used concurrently.
type Plan struct {
	columns []column
}

type column struct {
	question    string
	position    int // of the question in the version, and nearly always of its answer in a result
	show        prism.Show
	option      string
	yesAt, noAt float64
	known       []answerKey // the options or levels of the version; none when it has no such question
	knownType   prism.QuestionType
}

// answerKey is an option or level of the version that answered. Value belongs to a level.
type answerKey struct {
	key, label string
	value      float64
}

// Compile prepares a Lens for the answers of a version. The Lens is the prism's current one; a column that does not fit
// the version is null in every row.
func Compile(l prism.Lens, answered prism.Definition) *Plan {
	p := &Plan{columns: make([]column, len(l.Columns))}
	for i, c := range l.Columns {
		to := column{
			question: c.Question, show: c.Show, option: c.Option,
			yesAt: orDefault(c.YesAt, defaultYesAt), noAt: orDefault(c.NoAt, defaultNoAt),
		}
		at := slices.IndexFunc(answered.Questions, func(q prism.Question) bool { return q.Key == c.Question })
		if at >= 0 {
			to.position, to.knownType = at, answered.Questions[at].Type
			to.known = answerKeys(answered.Questions[at])
		}
		p.columns[i] = to
	}
	return p
}

func orDefault(limit *float64, otherwise float64) float64 {
	if limit == nil {
		return otherwise
	}
	return *limit
}

func answerKeys(q prism.Question) []answerKey {
	var keys []answerKey
	switch q.Type {
	case prism.Choice:
		for _, o := range q.Choices() {
			keys = append(keys, answerKey{key: o.Key, label: o.Label})
		}
	case prism.Scale:
		for _, l := range q.Levels {
			keys = append(keys, answerKey{key: l.Key, label: l.Label, value: l.Value})
		}
	case prism.YesNo:
	}
	return keys
}

// Apply is Compile and Plan.Apply for one result.
func Apply(l prism.Lens, answered prism.Definition, answers prism.Answers) []Cell {
	return Compile(l, answered).Apply(make([]Cell, 0, len(l.Columns)), answers)
}

// Apply appends one cell for each column, in Lens order. A column is null if the stored answer lacks its question, option
// or level, or if answers of that type have nothing to show there (spec: lens-column-without-an-answer).
func (p *Plan) Apply(dst []Cell, answers prism.Answers) []Cell {
	for i := range p.columns {
		c := &p.columns[i]
		if a := c.find(answers); a != nil {
			dst = append(dst, c.cell(a))
		} else {
			dst = append(dst, Cell{})
		}
	}
	return dst
}

// find is the column's answer, or nil. Answers are stored in the version's order, so it is nearly always at c.position.
func (c *column) find(answers prism.Answers) *prism.Answer {
	if c.position < len(answers) && answers[c.position].Question == c.question {
		return &answers[c.position]
	}
	for i := range answers {
		if answers[i].Question == c.question {
			return &answers[i]
		}
	}
	return nil
}

func (c *column) cell(a *prism.Answer) Cell {
	switch c.show {
	case prism.ShowAnswer:
		return c.answer(a)
	case prism.ShowProbability:
		return c.probability(a)
	case prism.ShowAverage:
		return c.average(a)
	case prism.ShowConfidence:
		if a.Type == prism.Choice {
			return Cell{Kind: Number, Number: a.Confidence}
		}
	}
	return Cell{}
}

func (c *column) answer(a *prism.Answer) Cell {
	switch a.Type {
	case prism.Choice, prism.Scale:
		label := a.Chosen
		if k := c.lookUp(a.Type, a.Chosen); k != nil && k.label != "" {
			label = k.label
		}
		return Cell{Kind: Text, Key: a.Chosen, Label: label}
	case prism.YesNo:
		switch p := a.Probability; {
		case p >= c.yesAt: // first, so that overlapping limits mean yes
			return Cell{Kind: Text, Key: "yes", Label: "Yes"}
		case p <= c.noAt:
			return Cell{Kind: Text, Key: "no", Label: "No"}
		default:
			return Cell{Kind: Text, Key: "unsure", Label: "Unsure"}
		}
	}
	return Cell{}
}

func (c *column) probability(a *prism.Answer) Cell {
	switch a.Type {
	case prism.Choice, prism.Scale:
		key := c.option
		if key == "" {
			key = a.Chosen
		}
		if p, ok := a.ProbabilityOf(key); ok {
			return Cell{Kind: Number, Number: p}
		}
	case prism.YesNo:
		if c.option == "" { // a yes_no answer has no options
			return Cell{Kind: Number, Number: a.Probability}
		}
	}
	return Cell{}
}

// average weighs the values of the levels in the version that answered (spec: show-average). If that version lacks a level
// of the stored answer, the average is null: leaving the level out would give a wrong number.
func (c *column) average(a *prism.Answer) Cell {
	if a.Type != prism.Scale || len(a.Probabilities) == 0 {
		return Cell{}
	}
	var sum float64
	for _, p := range a.Probabilities {
		k := c.lookUp(prism.Scale, p.Key)
		if k == nil {
			return Cell{}
		}
		sum += float64(p.Probability * k.value) // the conversion forbids fusing: the same digits on every processor
	}
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return Cell{} // values near the largest number
	}
	return Cell{Kind: Number, Number: sum}
}

// lookUp finds an option or level of the version that answered, or nil.
func (c *column) lookUp(t prism.QuestionType, key string) *answerKey {
	if c.knownType != t {
		return nil
	}
	for i := range c.known {
		if c.known[i].key == key {
			return &c.known[i]
		}
	}
	return nil
}
