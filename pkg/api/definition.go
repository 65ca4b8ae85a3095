package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// Definitions, and what belongs to them, are the same in requests as in the domain.
type (
	// Definition is what is asked.
	Definition = prism.Definition
	// Field is an input of a version.
	Field = prism.Field
	// Question is a typed question. Its members depend on the type.
	Question = prism.Question
	// QuestionType is what kind of answer a question has.
	QuestionType = prism.QuestionType
	// Option is a possible answer of a choice question.
	Option = prism.Option
	// Level is a possible answer of a scale question.
	Level = prism.Level
	// Escalate has a second model answer all questions when an answer of the first model is doubtful. The second answers are the
	// result, and the record has both.
	Escalate = prism.Escalate
	// Example is an input whose right answers are known. A model sees the examples of a version before the input of each call.
	Example = prism.Example
	// Lens turns stored answers into named columns. It belongs to the prism, not to a version, and is applied when a result is read.
	Lens = prism.Lens
	// Column is one column of a Lens.
	Column = prism.Column
)

// CreatePrism stores a prism with version 1 (spec: prism-create).
var CreatePrism = Op[CreatePrismRequest, Prism]{Declaration{
	Name: "createPrism", Method: http.MethodPost, Path: "/v1/prisms", Tag: "Prisms", Role: prism.Editor, Class: Keyed,
	Status: http.StatusCreated, ETag: true, Errors: []*apierr.Error{apierr.SlugTaken()},
}}

// CreatePrismRequest is the request of CreatePrism.
type CreatePrismRequest struct {
	NewPrism
	Dry
}

// NewPrism is a prism to be, with its version 1.
type NewPrism struct {
	Slug string `json:"slug" form:"prism" schema:"NewSlug"`
	// What people call it.
	Name string `json:"name,omitzero" max:"200"`
	NewVersion
	// `false` has searches leave the results out.
	Searchable *bool `json:"searchable,omitzero" default:"true"`
}

// NewVersion is a version to be. It replaces the Lens by the one sent, or else by the one derived from its questions.
type NewVersion struct {
	Definition
	// Without it the Lens is derived from the questions.
	Lens *Lens `json:"lens,omitzero"`
}

// Dry is the member of calls that can be a dry run (spec: dry-run).
type Dry struct {
	// Makes every check of the call and answers 200 with what it would store, but stores nothing.
	DryRun bool `json:"dry_run,omitzero" default:"false"`
}

// CreateVersion stores the next version of a prism, and replaces its Lens (spec: version-create).
var CreateVersion = Op[CreateVersionRequest, Version]{Declaration{
	Name: "createVersion", Method: http.MethodPost, Path: "/v1/prisms/{prism}/versions", Tag: "Prisms", Role: prism.Editor,
	Class: Keyed, Status: http.StatusCreated, Wait: MeasureWait, Errors: []*apierr.Error{
		apierr.PrismNotFound(), apierr.ArchivedUnchangeable(), apierr.PrismChanged(), apierr.NotLatest(1), apierr.TooFewLabels(3, 10),
	},
}}

// CreateVersionRequest is the request of CreateVersion.
type CreateVersionRequest struct {
	PrismRequest
	IfMatch IfMatch `header:"If-Match"`
	NewVersion
	Dry
	// The number of the version that has to be the latest. With another latest version the response is a 409.
	IfLatest int32 `json:"if_latest,omitzero" min:"1" max:"2147483647"`
	// In place of examples: labels of the prism's results that they are taken from.
	ExamplesFromLabels *ExamplesFromLabels `json:"examples_from_labels,omitzero" without:"examples"`
}

// ExamplesFromLabels is a question, from whose labels the examples of a version are taken (spec: examples-from-labels).
type ExamplesFromLabels struct {
	// A question of the version. Its labels are taken in turn, so that each value is there as often as any other.
	Question string `json:"question" schema:"Key"`
	// How many examples are taken. With fewer labels than that the response is a 409.
	N int `json:"n" min:"1" max:"40"`
	// Which of the labels are taken: with one seed and the same labels always the same ones.
	Seed int32 `json:"seed,omitzero" min:"0" max:"2147483647" default:"0"`
}

// ReplaceLens replaces the Lens of a prism (spec: lens-edit). It is checked against the latest version.
var ReplaceLens = Op[ReplaceLensRequest, Prism]{Declaration{
	Name: "replaceLens", Method: http.MethodPut, Path: "/v1/prisms/{prism}/lens", Tag: "Prisms", Role: prism.Editor, Class: Keyed,
	ETag: true, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.ArchivedUnchangeable(), apierr.PrismChanged()},
}}

// ReplaceLensRequest is the request of ReplaceLens.
type ReplaceLensRequest struct {
	PrismRequest
	IfMatch IfMatch `header:"If-Match"`
	NewLens
	Dry
}

// NewLens is a Lens to replace the prism's.
type NewLens struct{ Lens }

// PreviewLens shows results of a prism as a read with another Lens would, and stores nothing (spec: lens-preview). The Lens is checked
// as that of ReplaceLens.
var PreviewLens = Op[PreviewLensRequest, PreviewedLens]{Declaration{
	Name: "previewLens", Method: http.MethodPost, Path: "/v1/prisms/{prism}/lens/preview", Tag: "Prisms", Role: prism.Reader,
	Class: Listing, Repeatable: true, ReadOnly: true, Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// PreviewLensRequest is the request of PreviewLens.
type PreviewLensRequest struct {
	PrismRequest
	LensPreview
}

// LensPreview is a Lens that is not stored, and the results to show with it.
type LensPreview struct {
	Lens
	// The results to show, up to 50. Without one only the columns are checked.
	Results []prism.ResultID `json:"result_ids" min:"0" max:"50"`
}

// PreviewedLens is results under a Lens that is not stored.
type PreviewedLens struct {
	// The names of the columns, in Lens order.
	Columns []string `json:"columns"`
	// The results, in the order of the ids that were sent.
	Data []PreviewedResult `json:"data"`
}

// PreviewedResult is a result under a Lens that is not stored.
type PreviewedResult struct {
	// The result as a read shows it, with these columns as its answers.
	Result Result `json:"result"`
	// By the name of each column that is null, why: the version that answered lacks what the column shows, or has no pinned
	// calibration. Empty for a failed result, whose `error` says why.
	Missing map[string]string `json:"missing"`
}
