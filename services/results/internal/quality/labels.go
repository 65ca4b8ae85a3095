package quality

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// LabelStore reads the labels of a question, and the answers that they are of.
type LabelStore interface {
	// Labelled are the labels of a question, newest result first, at most limit. The prism and the version of the filter are not
	// zero.
	Labelled(ctx context.Context, account prism.AccountID, f store.Filter, question string, limit int) ([]Label, error)
	// Answers calls read with what results were asked and answered, in any order, and maybe again with some. The answers are
	// valid only in the call. Results that do not exist, or failed, are left out.
	Answers(ctx context.Context, account prism.AccountID, ids []prism.ResultID, read func(Answered) error) error
	// CountLabelled counts the labels that Labelled would find without a limit, except those of prism.UncertainSample.
	CountLabelled(ctx context.Context, account prism.AccountID, f store.Filter, question string) (int, error)
	// CountAnswered counts the results that are ok and pass a filter, up to limit.
	CountAnswered(ctx context.Context, account prism.AccountID, f store.Filter, limit int) (int, error)
	// LabelsState identifies the labels of a version: while it is the same, so are the labels.
	LabelsState(ctx context.Context, account prism.AccountID, of prism.PrismID, version int32) (LabelsState, error)
}

// Label is a label with what decides whether it counts.
type Label struct {
	Result prism.ResultID
	Value  string
	Sample prism.LabelSample
	Origin store.LabelOrigin
}

// Answered is what a result was asked and answered.
type Answered struct {
	Result  prism.ResultID
	Answers []byte // as they are stored
	// Input is a hash of the context and the fields, whatever their order: equal texts have equal hashes, in every version. Fields is one of
	// the fields alone.
	Input, Fields [16]byte
}

// LabelsState is the number of labels of a version and the sum of their hashes.
type LabelsState struct{ Labels, Hashes int64 }
