package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Labels keeps what was right: at most one label for each question of a result. A label goes with its result.
type Labels interface {
	// LabelTargets finds those results of a prism that have one of some ids, whatever their status, in any order.
	LabelTargets(ctx context.Context, account prism.AccountID, of prism.PrismID, ids []prism.ResultID) ([]LabelTarget, error)
	// RefTargets finds for each ref the newest result of a prism that has the ref and is ok, in any order; version 0 is any.
	RefTargets(ctx context.Context, account prism.AccountID, of prism.PrismID, version int32, refs []string) ([]LabelTarget, error)
	// PutLabels stores labels of results of one prism, each in place of the label that its result had for its question, and removes
	// those without a value. Of two labels of one question of a result the later one is stored. It returns the results that are gone,
	// of which nothing is stored. The labels are of results that are ok, and their versions are those of the results.
	PutLabels(ctx context.Context, account prism.AccountID, of prism.PrismID, labels []Label) (gone []prism.ResultID, err error)
	// LabelsOf are the labels of a result, by question.
	LabelsOf(ctx context.Context, account prism.AccountID, of prism.PrismID, id prism.ResultID) ([]Label, error)
	// ListLabels is a page of the labelled results of a prism, newest first, each with its labels that match.
	ListLabels(ctx context.Context, account prism.AccountID, f LabelFilter, page Page) ([]LabelledResult, error)

	// Labelled are the labels of a version with the answers that they are of, newest result first, at most limit. The prism and the
	// version of the filter are not zero; question "" is every question.
	Labelled(ctx context.Context, account prism.AccountID, f Filter, question string, limit int) ([]LabelledAnswer, error)
	// CountLabelled counts the labels that Labelled would find without a limit, but those of uncertain results.
	CountLabelled(ctx context.Context, account prism.AccountID, f Filter, question string) (int, error)
	// CountAnswered counts the results that are ok and pass a filter, up to limit.
	CountAnswered(ctx context.Context, account prism.AccountID, f Filter, limit int) (int, error)
	// LabelsState names the labels of a version: as long as it is the same, so are they.
	LabelsState(ctx context.Context, account prism.AccountID, of prism.PrismID, version int32) (LabelsState, error)

	// RandomQueue is the next ids of a prism's newest QueueResults results by RandomPosition, without those that have a label for the
	// question; it does not look at the results. from bounds the ids from below, and after is the position behind which to begin.
	RandomQueue(ctx context.Context, account prism.AccountID, q Queue, from, after prism.UUID, limit int) ([]QueueEntry, error)
	// Unlabelled is a page of the ok results of a prism that have no label for the question, newest first, with their answers.
	Unlabelled(ctx context.Context, account prism.AccountID, q Queue, page Page) ([]Unlabelled, error)
	// QueuedResults finds those of some results that are ok and have no label for the question, with their input, in any order.
	QueuedResults(ctx context.Context, account prism.AccountID, q Queue, ids []prism.ResultID) ([]prism.Result, error)
}

// Label is what was right for a question of a result.
type Label struct {
	Result    prism.ResultID
	Version   int32 // that answered the result
	Question  string
	Value     string // an option key, a level key, "true" or "false"; "" in a change: no label
	Sample    contract.LabelSample
	Annotator string // "": not said
	Origin    LabelOrigin
	Key       prism.KeyID // that put it; of a session's key the member
	At        time.Time
}

// Hash is a hash of what a measure is computed from: 32 bits.
func (l Label) Hash() int64 {
	b := append([]byte(l.Question), l.Result.UUID[:]...)
	for _, part := range []string{l.Value, string(l.Sample), string(l.Origin)} {
		b = append(append(b, 0), part...)
	}
	sum := sha256.Sum256(b)
	return int64(binary.BigEndian.Uint32(sum[:]))
}

// LabelOrigin is where a label comes from.
type LabelOrigin string

// The origins.
const (
	LabelOfCall LabelOrigin = "call"
	LabelOfFile LabelOrigin = "file" // of a run, whose whole column was stored
)

// LabelTarget is a result to label. Ref is the one by which it was found.
type LabelTarget struct {
	Result  prism.ResultID
	Version int32
	Status  prism.Status
	Ref     string
}

// LabelFilter narrows the labels of a prism; zero values narrow nothing.
type LabelFilter struct {
	Prism    prism.PrismID
	Version  int32
	Question string
}

// LabelledResult is a result with labels.
type LabelledResult struct {
	Result  prism.ResultID
	Version int32
	Ref     *string
	Labels  []Label
}

// LabelledAnswer is a label with the answers of its result, as they are stored.
type LabelledAnswer struct {
	Result   prism.ResultID
	Question string
	Value    string
	Sample   contract.LabelSample
	Origin   LabelOrigin
	Answers  []byte
	// Input is a hash of the context and the fields, whatever their order: equal texts have equal hashes, in every version.
	Input [16]byte
}

// LabelsState is the number of labels of a version and the sum of their hashes.
type LabelsState struct{ Labels, Hashes int64 }

// Queue selects results that wait for a label: those of a prism, or of one of its versions, without a label for a question.
type Queue struct {
	Prism    prism.PrismID
	Version  int32 // 0: any
	Question string
}

// QueueResults bounds how many of the newest results of a prism the random queue is made of.
const QueueResults = 1_000_000

// QueueEntry is a result in the random order.
type QueueEntry struct {
	Position prism.UUID
	Result   prism.ResultID
}

// RandomPosition is where a result stands in the random order: the first 16 bytes of the SHA-256 of its id. So the order has nothing
// to do with time, and each of its prefixes is a sample.
func RandomPosition(id prism.ResultID) (position prism.UUID) {
	sum := sha256.Sum256(id.UUID[:])
	copy(position[:], sum[:])
	return position
}

// Unlabelled is a result without a label.
type Unlabelled struct {
	Result  prism.ResultID
	Version int32
	Answers []byte
}
