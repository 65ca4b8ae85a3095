package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// Answers are the answers to the questions of a version, in its order, with every probability.
type Answers []Answer

// Answer is the answer to one question. The members of other question types are empty.
type Answer struct {
	Question string       `json:"-"` // its key
	Type     QuestionType `json:"type"`
	// Value is the key of the chosen option (choice), Level that of the chosen level (scale).
	Value string `json:"value,omitempty"`
	Level string `json:"level,omitempty"`
	// Values are the keys of the options with a probability of 0.5 or more, the most probable first (tags).
	Values []string `json:"values,omitzero"`
	// Probability is that of yes (yes_no).
	Probability *float64 `json:"probability,omitempty"`
	// Probabilities are those of the options or levels, in definition order (choice, scale, tags).
	Probabilities Probabilities `json:"probabilities,omitempty"`
	// Confidence is 1 when the choice is certain and 0 when it is a guess (choice).
	Confidence *float64 `json:"confidence,omitempty"`
}

// ChoiceAnswer is the answer to a choice question.
type ChoiceAnswer struct {
	Value         string  // the key of the chosen option, which is the most probable one
	Confidence    float64 // 1 is certain, 0 a guess
	Probabilities Probabilities
}

// YesNoAnswer is the answer to a yes_no question.
type YesNoAnswer struct {
	Probability float64 // of yes, from 0 to 1
}

// ScaleAnswer is the answer to a scale question.
type ScaleAnswer struct {
	Level         string // the key of the chosen level, which is the most probable one
	Probabilities Probabilities
}

// TagsAnswer is the answer to a tags question.
type TagsAnswer struct {
	Values        []string      // the keys of the options with a probability of 0.5 or more, the most probable first
	Probabilities Probabilities // each from 0 to 1; they need not sum to 1
}

// Choice returns the answer to a choice question, given by its key. Another question, or a question of another type, is an error
// that names what there is.
func (a Answers) Choice(question string) (ChoiceAnswer, error) {
	answer, err := a.find(question, prism.Choice)
	if err != nil {
		return ChoiceAnswer{}, err
	}
	return ChoiceAnswer{answer.Value, *answer.Confidence, answer.Probabilities}, nil
}

// YesNo returns the answer to a yes_no question, as Choice does.
func (a Answers) YesNo(question string) (YesNoAnswer, error) {
	answer, err := a.find(question, prism.YesNo)
	if err != nil {
		return YesNoAnswer{}, err
	}
	return YesNoAnswer{*answer.Probability}, nil
}

// Scale returns the answer to a scale question, as Choice does.
func (a Answers) Scale(question string) (ScaleAnswer, error) {
	answer, err := a.find(question, prism.Scale)
	return ScaleAnswer{answer.Level, answer.Probabilities}, err
}

// Tags returns the answer to a tags question, as Choice does.
func (a Answers) Tags(question string) (TagsAnswer, error) {
	answer, err := a.find(question, prism.Tags)
	return TagsAnswer{answer.Values, answer.Probabilities}, err
}

// find returns the answer to a question of a type.
func (a Answers) find(question string, want QuestionType) (Answer, error) {
	if len(a) == 0 {
		return Answer{}, fmt.Errorf("client: no answer to %q: the result failed, or was read in another format than raw", question)
	}
	answer, ok := a.Get(question)
	switch {
	case !ok:
		var keys []string
		for _, other := range a {
			keys = append(keys, other.Question)
		}
		return Answer{}, fmt.Errorf("client: there is no question %q: the questions are %s", question, strings.Join(keys, ", "))
	case answer.Type != want:
		return Answer{}, fmt.Errorf("client: question %q is of type %s, not %s", question, answer.Type, want)
	case want == prism.Choice && answer.Confidence == nil, want == prism.YesNo && answer.Probability == nil:
		return Answer{}, fmt.Errorf("client: the answer to question %q is incomplete", question)
	}
	return answer, nil
}

// Get returns the answer to the question with this key, and false if there is none.
func (a Answers) Get(question string) (Answer, bool) {
	for _, answer := range a {
		if answer.Question == question {
			return answer, true
		}
	}
	return Answer{}, false
}

func answerMember(a *Answer) (*string, any) { return &a.Question, a }

// UnmarshalJSON keeps the order.
func (a *Answers) UnmarshalJSON(b []byte) (err error) {
	*a, err = ReadMembers(b, answerMember)
	for i := 0; err == nil && i < len(*a); i++ {
		err = (*a)[i].lacking()
	}
	return err
}

// LackingError is a response without members that every Prism sends: another server sent it.
type LackingError struct {
	Members []string // their paths, such as version.created_at
}

// maxLacking is the most members that an error names.
const maxLacking = 5

func (e *LackingError) Error() string {
	named, more := e.Members, ""
	if n := len(named) - maxLacking; n > 0 {
		named, more = named[:maxLacking], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(named, ", ") + more
}

// lacking returns a *LackingError if the answer lacks members that answers of its type have.
func (a *Answer) lacking() error {
	has, shape := map[string]bool{"type": a.Type != ""}, a.Type.Shape()
	if shape.Chosen != "" {
		chosen := map[string]bool{"value": a.Value != "", "level": a.Level != "", "values": a.Values != nil}
		has[shape.Chosen], has["probabilities"] = chosen[shape.Chosen], a.Probabilities != nil
	}
	if shape.Confidence {
		has["confidence"] = a.Confidence != nil
	}
	if shape.Probability {
		has["probability"] = a.Probability != nil
	}
	e := &LackingError{}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if !has[name] {
			e.Members = append(e.Members, "answers."+a.Question+"."+name)
		}
	}
	if e.Members == nil {
		return nil
	}
	return e
}

// MarshalJSON writes an object in order, or null when there are no answers.
func (a Answers) MarshalJSON() ([]byte, error) { return WriteMembers(a, answerMember) }

// Row is a result as the columns of a Lens, in Lens order.
type Row []Cell

// Cell is one column of a Row.
type Cell struct {
	Column string
	// Value is a string, a float64, or nil if the stored answers have no value for the column.
	Value any
}

// Get returns the value of the column with this name, and false if there is no such column.
func (r Row) Get(column string) (any, bool) {
	for _, cell := range r {
		if cell.Column == column {
			return cell.Value, true
		}
	}
	return nil, false
}

func cellMember(c *Cell) (*string, any) { return &c.Column, &c.Value }

// UnmarshalJSON keeps the order.
func (r *Row) UnmarshalJSON(b []byte) (err error) {
	*r, err = ReadMembers(b, cellMember)
	return err
}

// MarshalJSON writes an object in order, or null when there are no columns.
func (r Row) MarshalJSON() ([]byte, error) { return WriteMembers(r, cellMember) }

// Probabilities are probabilities by option or level key, in definition order.
type Probabilities []Probability

// Probability is that of one option or level.
type Probability struct {
	Key string
	P   float64
}

func probabilityMember(p *Probability) (*string, any) { return &p.Key, &p.P }

// UnmarshalJSON keeps the order.
func (p *Probabilities) UnmarshalJSON(b []byte) (err error) {
	*p, err = ReadMembers(b, probabilityMember)
	return err
}

// MarshalJSON writes an object in order.
func (p Probabilities) MarshalJSON() ([]byte, error) { return WriteMembers(p, probabilityMember) }
