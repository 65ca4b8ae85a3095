package prism

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of the examples of a version (spec: version-examples).
const (
	MaxExamples = 40
	// MaxExampleBytes bounds the JSON of all examples as it is stored, in bytes.
	MaxExampleBytes = 256 << 10
)

// Example is an input whose right answers are known. A model sees the examples of a version before the input of each call.
type Example struct {
	// Field key to value, as a call sends them. Empty once the result of the example was deleted, as the answers then are.
	Fields ExampleFields `json:"fields" max:"100000"`
	// Question key to what was right, as a label says it. At least one.
	Answers ExampleAnswers `json:"answers" max:"1000"`
	// The result that the example was taken from. When it is deleted, the example is emptied.
	Result ResultID `json:"result_id,omitzero" null:"true"`
}

// Emptied tells whether the result of the example was deleted, so that it has no content and is shown to no model (spec: emptied-examples).
func (e Example) Emptied() bool { return len(e.Fields) == 0 && len(e.Answers) == 0 }

// SameInput tells whether the example has these values, in any order.
func (e Example) SameInput(fields []FieldValue) bool {
	return len(e.Fields) == len(fields) && !e.Emptied() &&
		!slices.ContainsFunc(fields, func(f FieldValue) bool { return !slices.Contains(e.Fields, f) })
}

// Label is the value of the label that is right for a question: as labels of the question are stored. ok is false without one.
func (e Example) Label(q Question) (value string, ok bool) {
	at := slices.IndexFunc(e.Answers, func(a ExampleAnswer) bool { return a.Question == q.Key })
	if at < 0 {
		return "", false
	}
	value, problem := q.ReadLabel(e.Answers[at].Text())
	return value, problem == ""
}

// EmptyExamples takes the content of the examples that were taken from some results out of a definition, and returns how many there are.
// The examples of d keep their places in a list of their own.
func (d *Definition) EmptyExamples(results []ResultID) (emptied int) {
	examples := slices.Clone(d.Examples)
	for i, e := range examples {
		if !e.Result.IsZero() && slices.Contains(results, e.Result) {
			examples[i] = Example{Fields: ExampleFields{}, Answers: ExampleAnswers{}}
			emptied++
		}
	}
	d.Examples = examples
	return emptied
}

// ExampleFields are the values of an example by field, in the version's order. Their JSON is an object.
type ExampleFields []FieldValue

func fieldMember(f *FieldValue) (name *string, value any) { return &f.Key, &f.Value }

// MarshalJSON writes the values in their order.
func (f ExampleFields) MarshalJSON() ([]byte, error) {
	if f == nil {
		f = ExampleFields{}
	}
	return WriteMembers(f, fieldMember)
}

// UnmarshalJSON reads the values in the order of the object.
func (f *ExampleFields) UnmarshalJSON(b []byte) (err error) {
	list, err := ReadMembers(b, fieldMember)
	if *f = list; list == nil {
		*f = ExampleFields{}
	}
	return err
}

// ExampleAnswers are the right answers of an example, in the order of the version's questions. Their JSON is an object.
type ExampleAnswers []ExampleAnswer

// ExampleAnswer is what was right for a question.
type ExampleAnswer struct {
	Question string
	// Value is the label as JSON: the key of an option or level, true or false, or what else labels of the question's type are.
	Value json.RawMessage
}

// NewExampleAnswer is the answer that a value of a label of a question says.
func NewExampleAnswer(q Question, value string) ExampleAnswer {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(q.Type.ShownLabel(value)) // keys and booleans have a JSON
	return ExampleAnswer{q.Key, json.RawMessage(bytes.TrimSpace(b.Bytes()))}
}

// Text is the label as a text for Question.ReadLabel: a text without its quotes, other JSON as it is.
func (a ExampleAnswer) Text() string {
	var text string
	if json.Unmarshal(a.Value, &text) == nil && strings.HasPrefix(string(a.Value), `"`) {
		return text
	}
	return string(a.Value)
}

func answerMember(a *ExampleAnswer) (name *string, value any) { return &a.Question, &a.Value }

// MarshalJSON writes the answers in their order.
func (a ExampleAnswers) MarshalJSON() ([]byte, error) {
	if a == nil {
		a = ExampleAnswers{}
	}
	return WriteMembers(a, answerMember)
}

// UnmarshalJSON reads the answers in the order of the object.
func (a *ExampleAnswers) UnmarshalJSON(b []byte) (err error) {
	list, err := ReadMembers(b, answerMember)
	if *a = list; list == nil {
		*a = ExampleAnswers{}
	}
	return err
}
