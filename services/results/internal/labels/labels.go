// Package labels keeps the right answers that people and files give to questions of results.
package labels

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store keeps the right answers: at most one label for each question of a result. A label is deleted with its result.
type Store interface {
	// LabelTargets finds the results of a prism that have these ids, whatever their status, in any order.
	LabelTargets(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) ([]Target, error)
	// RefTargets finds for each ref the newest result of a prism that has the ref and is ok, in any order; version 0 is any.
	RefTargets(ctx context.Context, account prism.AccountID, prismID prism.PrismID, version int32, refs []string) ([]Target, error)
	// PutLabels stores labels of results of one prism. Each replaces the label of the same question of its result; one without a
	// value only removes that label. If two labels are of the same question of a result, the later one counts. PutLabels returns
	// the results that do not exist any more, for which it stores nothing. The results must be ok, and have the versions of their
	// labels.
	PutLabels(ctx context.Context, account prism.AccountID, prismID prism.PrismID, labels []Label) (gone []prism.ResultID, err error)
	// LabelsOf are the labels of results, those of each by question.
	LabelsOf(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) ([]Label, error)
	// ListLabels is a page of the labelled results of a prism, newest first, each with its labels that match.
	ListLabels(ctx context.Context, account prism.AccountID, f Filter, page store.Page) (labelled []Labelled, more bool, err error)
}

// Label is the right answer to a question of a result.
type Label struct {
	Result    prism.ResultID
	Version   int32 // that answered the result
	Question  string
	Value     string // an option key, a level key, "true" or "false"; "" in a change: no label
	Sample    prism.LabelSample
	Annotator string // "": not said
	Origin    store.LabelOrigin
	Key       prism.KeyID // that put it; of a session's key the member
	At        time.Time
}

// Hash is a 32-bit hash of everything in the label from which measures are computed.
func (l Label) Hash() int64 {
	b := append([]byte(l.Question), l.Result.UUID[:]...)
	for _, part := range []string{l.Value, string(l.Sample), string(l.Origin)} {
		b = append(append(b, 0), part...)
	}
	sum := sha256.Sum256(b)
	return int64(binary.BigEndian.Uint32(sum[:]))
}

// Target is a result to label. Ref is the one by which it was found.
type Target struct {
	Result  prism.ResultID
	Version int32
	Status  prism.Status
	Ref     string
}

// Filter narrows the labels of a prism; zero values narrow nothing.
type Filter struct {
	Prism    prism.PrismID
	Version  int32
	Question string
}

// Labelled is a result with labels.
type Labelled struct {
	Result  prism.ResultID
	Version int32
	Ref     *string
	Labels  []Label
}
