package api

import "github.com/prism-results/prism/pkg/prism"

// The parts of a definition that are the same in a request as in the domain.
type (
	// Field is an input of a version.
	Field = prism.Field
	// Option is a possible answer of a choice question.
	Option = prism.Option
	// Escalate has a second model answer when an answer of the first one is doubtful.
	Escalate = prism.Escalate
	// Column is one column of a Lens.
	Column = prism.Column
	// Lens turns stored answers into named columns.
	Lens = prism.Lens
	// QuestionType is what kind of answer a question has.
	QuestionType = prism.QuestionType
)

// Level is a possible answer of a scale question.
type Level struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	// The level's number in an average. Without it, levels count 1, 2, 3 … in order.
	Value *float64 `json:"value,omitzero"`
}

// Question is a typed question. Options belong to a choice, Levels to a scale.
type Question struct {
	Key                     string       `json:"key"`
	Type                    QuestionType `json:"type"`
	Text                    string       `json:"text"`
	Options                 []Option     `json:"options,omitzero"`
	InsufficientInformation bool         `json:"insufficient_information,omitzero"`
	Levels                  []Level      `json:"levels,omitzero"`
}

// NewQuestions returns the questions of a version as responses show them.
func NewQuestions(list []prism.Question) []Question {
	questions := make([]Question, len(list))
	for i, q := range list {
		questions[i] = Question{
			Key: q.Key, Type: q.Type, Text: q.Text, Options: q.Options, InsufficientInformation: q.InsufficientInformation,
		}
		for _, l := range q.Levels {
			questions[i].Levels = append(questions[i].Levels, Level{l.Key, l.Label, &l.Value})
		}
	}
	return questions
}
