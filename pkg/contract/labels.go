package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Labels says what was right for results, and which results to label. Every method checks the API key and its role first, as those of
// Results do. A value is an option key, a level key, "true" or "false", or one of the texts that stand for one (spec: label-value).
type Labels interface {
	// PutLabels replaces labels of a result and returns all that it has: apierr.ResultNotFound, apierr.OnlyOKLabelled, apierr.Invalid
	// for a question or value that its version does not have; then nothing is stored.
	PutLabels(ctx context.Context, key KeyDigest, id prism.ResultID, l NewLabels) (Response, error)
	// ResultLabels are the labels of a result: apierr.ResultNotFound.
	ResultLabels(ctx context.Context, key KeyDigest, id prism.ResultID) (Response, error)
	// AddLabels stores labels of results of a prism, those that it can: {labelled, not_found, invalid}. apierr.PrismNotFound.
	AddLabels(ctx context.Context, key KeyDigest, ref prism.Ref, l ManyLabels) (Response, error)
	// ListLabels is a page of the labelled results of a prism, newest first: {data, next_cursor}. apierr.PrismNotFound.
	ListLabels(ctx context.Context, key KeyDigest, ref prism.Ref, q LabelList) (Response, error)
	// LabelQueue is a page of results to label: {data, sample, next_cursor}. apierr.PrismNotFound, apierr.VersionNotFound,
	// apierr.Invalid for an unknown question. Callers give it QueueWait.
	LabelQueue(ctx context.Context, key KeyDigest, ref prism.Ref, q LabelQueue) (Response, error)
}

// MaxLabels bounds the labels of one AddLabels (spec: labels-add).
const MaxLabels = 1000

// QueueWait is how long a caller waits for LabelQueue, which reads up to a million ids.
const QueueWait = 10 * time.Second

// LabelSample is how the results were chosen that were labelled (spec: label-sample).
type LabelSample string

// The samples. "" is a label of no sample: nothing is said about how its result was chosen.
const (
	RandomSample    LabelSample = "random"
	UncertainSample LabelSample = "uncertain"
)

// LabelBy is what the labels of a call have in common.
type LabelBy struct {
	Sample    LabelSample `json:",omitzero"`
	Annotator string      `json:",omitzero"` // "": not said
}

// NewLabels are labels of one result, in the order sent.
type NewLabels struct {
	Labels []RowLabel // without a Value: removes the label
	LabelBy
}

// RowLabel is a label of a result that is known, such as that of a row.
type RowLabel struct{ Question, Value string }

// ManyLabels are labels of results of a prism.
type ManyLabels struct {
	Labels []NewLabel
	LabelBy
	Version int32 `json:",omitzero"` // of the results; 0: any
}

// NewLabel is a label of a result with an id, or of the newest ok result with a ref.
type NewLabel struct {
	Result   prism.ResultID `json:",omitzero"`
	Ref      *string        `json:",omitzero"` // nil: the result has the id
	Question string
	Value    string
}

// LabelList filters and pages labels. Zero values filter nothing.
type LabelList struct {
	Version  int32  `json:",omitzero"`
	Question string `json:",omitzero"`
	Page     Page
}

// LabelQueue selects results without a label for a question.
type LabelQueue struct {
	Question string
	Order    LabelSample // RandomSample or UncertainSample
	Version  int32       `json:",omitzero"` // 0: any
	Page     Page        // of List of the order
}

// List is the list that an order's cursors belong to.
func (s LabelSample) List() List {
	if s == UncertainSample {
		return ListOfUncertain
	}
	return ListOfRandom
}
