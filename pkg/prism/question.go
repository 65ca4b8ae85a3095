package prism

import (
	"slices"
	"strings"
)

// InsufficientInformation is the key of the option that a choice question with insufficient_information adds.
const InsufficientInformation = "insufficient_information"

var insufficientInformation = Option{Key: InsufficientInformation, Label: "Insufficient information"}

// The bounds of questions (spec: question-choice, question-tags, version-questions, option-groups).
const (
	// MaxOptions is how many options a choice has, with the one that insufficient_information adds: the maximum of Question.Options.
	MaxOptions = 255
	// MaxMembers is how many options and levels the questions of a version have together.
	MaxMembers = 2000
	// MaxGroups is how many groups the options of a question name.
	MaxGroups = 32
)

// Option is a possible answer of a choice question, and one that may be right of a tags question.
type Option struct {
	// The answer's value.
	Key string `json:"key" form:"key" schema:"Key"`
	// What people and the model read.
	Label string `json:"label" min:"1" max:"1000"`
	// When this option is the right one, for the model.
	Description string `json:"description,omitzero" max:"10000" null:"true"`
	// Options of one group are asked together when a question has more options than a model is asked at once. At most 32 groups a question.
	Group string `json:"group,omitzero" max:"64" null:"true"`
}

// Text is what a model reads of an option: its label, and its description when it has one.
func (o Option) Text() string {
	if o.Description == "" {
		return o.Label
	}
	return o.Label + ": " + o.Description
}

// Level is a possible answer of a scale question.
type Level struct {
	// The answer's level.
	Key string `json:"key" form:"key" schema:"Key"`
	// What people and the model read.
	Label string `json:"label" min:"1" max:"1000"`
	// What the average weighs, each greater than the one before. 1, 2, 3 … in order when it is not given.
	Value *float64 `json:"value,omitzero" null:"true"`
}

// Question is a typed question. Its members depend on the type.
type Question struct {
	// Names the question in answers and in the Lens.
	Key string `json:"key" form:"key" schema:"Key"`
	// What kind of answer the question has.
	Type QuestionType `json:"type"`
	// The question, as the model reads it.
	Text string `json:"text" min:"1" max:"10000"`
	// 2 to 255 options of a choice; the one that `insufficient_information` adds counts towards the 255. 1 to 100 options of a tags, of
	// which any number can be right. Their keys are unique.
	Options []Option `json:"options,omitzero" min:"2" max:"255" of:"choice,tags" tags:"1-100" required:"true"`
	// Adds the option `insufficient_information`, labelled Insufficient information, after the others.
	InsufficientInformation bool `json:"insufficient_information,omitzero" of:"choice" null:"true"`
	// 2 to 10 levels in rising order. Their keys are unique.
	Levels []Level `json:"levels,omitzero" min:"2" max:"10" of:"scale" required:"true"`
}

// size is how many members there are.
func (q Question) size() int {
	n := len(q.Options) + len(q.Levels)
	if q.InsufficientInformation {
		n++
	}
	return n
}

// CountMembers is how many options and levels questions have together.
func CountMembers(questions []Question) (n int) {
	for _, q := range questions {
		n += q.size()
	}
	return n
}

// Members are the options, or the levels as options, in definition order, with the one that insufficient_information adds at the end; none for a
// yes_no question.
func (q Question) Members() []Option {
	members := make([]Option, 0, q.size())
	members = append(members, q.Options...)
	if q.InsufficientInformation {
		members = append(members, insufficientInformation)
	}
	for _, l := range q.Levels {
		members = append(members, Option{Key: l.Key, Label: l.Label})
	}
	return members
}

// AnswerKeys are the keys of the members.
func (q Question) AnswerKeys() []string {
	keys := make([]string, 0, q.size())
	for _, o := range q.Options {
		keys = append(keys, o.Key)
	}
	if q.InsufficientInformation {
		keys = append(keys, InsufficientInformation)
	}
	for _, l := range q.Levels {
		keys = append(keys, l.Key)
	}
	return keys
}

// ReplyKeys are the keys of what a model can reply, in the order in which it is asked: the members, or yes and no.
func (q Question) ReplyKeys() []string {
	if q.Type.Classes() == Binary {
		return []string{"yes", "no"}
	}
	return q.AnswerKeys()
}

// LabelReplies are those of ReplyKeys that a stored label of the question stands for: one, or any number of right options.
func (q Question) LabelReplies(value string) []string {
	switch q.Type.Classes() {
	case Multiple:
		return listed(value)
	case Binary:
		return []string{q.ReplyOf(value)}
	default:
		return []string{value}
	}
}

// ReplyOf is the one of ReplyKeys that a value of a label stands for; "" if none does.
func (q Question) ReplyOf(value string) string {
	at := slices.Index(q.LabelValues(), value)
	switch {
	case at < 0:
		return ""
	case q.Type.Classes() == Binary: // no and yes
		return q.ReplyKeys()[1-at]
	}
	return value
}

// Texts are the texts of a question that a model reads.
func (q Question) Texts() []string {
	texts := append(make([]string, 0, 1+2*q.size()), q.Text)
	for _, o := range q.Options {
		texts = append(texts, o.Label, o.Description)
	}
	if q.InsufficientInformation {
		texts = append(texts, insufficientInformation.Label)
	}
	for _, l := range q.Levels {
		texts = append(texts, l.Label)
	}
	return texts
}

// LabelValues are the values that labels of the question have, in order. The index of a value is its class. Where several options can be
// right they are the keys that a label lists.
func (q Question) LabelValues() []string { return q.Type.kind().labelValues(q) }

// ReadLabel is the value of the label that a text stands for, or the problem if there is none (spec: label-value).
func (q Question) ReadLabel(text string) (value, problem string) {
	return q.Type.kind().readLabel(q, strings.TrimSpace(text))
}

// Parts are the yes_no questions that make up a question of whose options any number can be right: one for each option, with its key. Any
// other question has none.
func (q Question) Parts() []Question { return q.Type.kind().parts(q) }

// Whole is the answer to a question with the answers to all of its Parts, in their order.
func (q Question) Whole(parts []Answer) Answer { return q.Type.kind().whole(q, parts) }
