package client

import (
	"encoding/json"
	"mime"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// Format is how a result is written.
type Format = api.Format

// The formats.
const (
	JSON  = api.JSON  // the columns of the Lens
	Raw   = api.Raw   // the answers with every probability
	CSV   = api.CSV   // a header row and a row for each result, with labels
	TSV   = api.TSV   // the same between tabs
	JSONL = api.JSONL // a JSON object on each line, with keys in place of labels
	XLSX  = api.XLSX  // a workbook, of exports alone

	Parquet = api.Parquet // typed columns, of exports alone
)

// mediaTypes are those of rows, by their format.
var mediaTypes = map[string]string{
	"csv": "text/csv", "tsv": "text/tab-separated-values", "jsonl": "application/jsonl",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "parquet": "application/vnd.apache.parquet",
}

func isOf(contentType, mediaType string) bool {
	got, _, err := mime.ParseMediaType(contentType)
	return err == nil && got == mediaType
}

// Status is whether a result has answers.
type Status = api.Status

// The statuses.
const (
	OK     = prism.OK
	Failed = prism.Failed // the model gave no usable answer
)

// Time is a time of the API, in UTC with milliseconds.
type Time = api.Time

// NewResult is a call. Send either Fields or Text.
type NewResult struct {
	// Fields has a value for each field of the version.
	Fields map[string]string `json:"fields,omitempty"`
	// Text is the value of the version's only field. An empty text can be sent only in Fields.
	Text string `json:"text,omitempty"`
	// Version pins a version; 0 is the latest.
	Version int `json:"version,omitempty"`
	// IdempotencyKey makes repeats of the call safe, by the caller and by the client: see NewIdempotencyKey.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Ref is your own name for the call, stored with the result.
	Ref string `json:"ref,omitempty"`
	// Context is what the model should know beside the fields.
	Context string `json:"context,omitempty"`
}

// ResultMembers are the members of a result beside its answers.
type ResultMembers = api.ResultMembers

// Result is the saved answer to one call.
type Result struct {
	ResultMembers
	// Answers are the answers to the questions, with every probability; nil for a failed result, and in another format than Raw.
	Answers Answers `json:"answers"`
	// Fields is the value of each field, in the order of the version, and Context the context of the call, or nil; in a list of
	// results that was asked for them.
	api.SentMembers
	// Row is the columns of the prism's current Lens, in the format JSON; nil for a failed result, and in other formats.
	Row Row `json:"-"`
	// Body is the response in the format that WithFormat asked for; nil without that option. In CSV, TSV and JSONL a result has
	// only its Body.
	Body []byte `json:"-"`
}

// UnmarshalJSON reads a result of the format Raw, whose answers are objects, or JSON, whose answers are texts and numbers.
func (r *Result) UnmarshalJSON(b []byte) error {
	type members Result
	read := struct {
		*members
		Answers json.RawMessage `json:"answers"`
	}{members: (*members)(r)}
	r.Answers, r.Row = nil, nil
	if err := json.Unmarshal(b, &read); err != nil || read.Answers == nil {
		return err
	}
	if err := json.Unmarshal(read.Answers, &r.Row); err != nil {
		return err
	}
	for _, cell := range r.Row {
		if _, raw := cell.Value.(map[string]any); raw {
			r.Row = nil
			return json.Unmarshal(read.Answers, &r.Answers)
		}
	}
	return nil
}

// MarshalJSON writes a result in the format that it was read in, as Raw or JSON.
func (r Result) MarshalJSON() ([]byte, error) {
	type members Result
	if r.Row == nil {
		return json.Marshal(members(r))
	}
	return json.Marshal(struct {
		members
		Answers Row `json:"answers"`
	}{members(r), r.Row})
}

// The answers of a result.
type (
	// Answers are the answers to the questions of a version, in its order, with every probability.
	Answers = api.Answers
	// Answer is the answer to one question. The members of other question types are empty.
	Answer = api.Answer
	// ChoiceAnswer is the answer to a choice question.
	ChoiceAnswer = api.ChoiceAnswer
	// YesNoAnswer is the answer to a yes_no question.
	YesNoAnswer = api.YesNoAnswer
	// ScaleAnswer is the answer to a scale question.
	ScaleAnswer = api.ScaleAnswer
	// TagsAnswer is the answer to a tags question.
	TagsAnswer = api.TagsAnswer
	// Probabilities are probabilities by option or level key, in definition order.
	Probabilities = api.Probabilities
	// Probability is that of one option or level.
	Probability = api.Probability
	// Row is a result as the columns of a Lens, in Lens order.
	Row = api.Row
	// Cell is one column of a Row.
	Cell = api.Cell
)

// Definitions, their parts, and Lenses.
type (
	// Definition is what is asked: a version without its Lens.
	Definition = api.Definition
	// Field is an input of a version.
	Field = api.Field
	// Option is a possible answer of a choice question.
	Option = api.Option
	// Level is a possible answer of a scale question.
	Level = api.Level
	// Question is a typed question. Options belong to a choice or a tags, Levels to a scale.
	Question = api.Question
	// QuestionType is what kind of answer a question has.
	QuestionType = prism.QuestionType
	// Escalate has a second model answer when an answer of the first one is doubtful.
	Escalate = api.Escalate
	// Example is an input whose right answers are known. A model sees the examples of a version before the input of each call.
	Example = api.Example
	// ExamplesFromLabels takes the examples of a version from labels of a question: see WithExamplesFromLabels.
	ExamplesFromLabels = api.ExamplesFromLabels
	// ExampleFields are the values of an example by field.
	ExampleFields = prism.ExampleFields
	// FieldValue is a value of a field.
	FieldValue = prism.FieldValue
	// ExampleAnswers are the right answers of an example.
	ExampleAnswers = prism.ExampleAnswers
	// ExampleAnswer is what was right for a question. Its value is JSON: "billing" in quotes, true, or a list of keys.
	ExampleAnswer = prism.ExampleAnswer
	// Lens turns stored answers into named columns.
	Lens = api.Lens
	// Column is one column of a Lens.
	Column = api.Column
	// Show is the part of an answer that a Lens column shows.
	Show = prism.Show
	// NewVersion is a version to create. Without a Lens, the prism gets the Lens derived from the questions.
	NewVersion = api.NewVersion
	// NewPrism is a prism to create, with its version 1.
	NewPrism = api.NewPrism
)

// The question types.
const (
	Choice = prism.Choice // one of several options
	YesNo  = prism.YesNo  // the probability of yes
	Scale  = prism.Scale  // a level of a rising scale
	Tags   = prism.Tags   // any number of several options
)

// The parts of an answer.
const (
	ShowAnswer      = prism.ShowAnswer
	ShowProbability = prism.ShowProbability
	ShowAverage     = prism.ShowAverage    // of a scale
	ShowConfidence  = prism.ShowConfidence // of a choice
	ShowCount       = prism.ShowCount      // of a tags
)

// What responses show of prisms.
type (
	// Prism is a named definition with its latest version.
	Prism = api.Prism
	// Version is a numbered definition. It never changes, but that an example is emptied when its result is deleted.
	Version = api.Version
)

// Role says what a key or a member may do. Each role may do all that a Reader may.
type Role = api.Role

// The roles.
const (
	Owner    = prism.Owner    // everything
	Editor   = prism.Editor   // everything but managing keys and members and reading the audit
	Caller   = prism.Caller   // create, read and retry results, and read prisms
	Labeller = prism.Labeller // read and label results, and read prisms
	Reader   = prism.Reader   // read results and prisms
)

// API keys.
type (
	// NewKey is an API key to create. Without a role it is an Owner.
	NewKey = api.NewKey
	// APIKey is a key without its text.
	APIKey = api.APIKey
)

// CreatedAPIKey is a new key. Its text is shown only here.
type CreatedAPIKey struct {
	APIKey
	Key Secret `json:"key"`
}

// Page is a part of a list.
type Page[T any] = api.Page[T]
