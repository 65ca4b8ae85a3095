// Package labelqueue lists the results of a prism that wait for a label: in a random order, or the most uncertain ones first.
package labelqueue

import (
	"context"
	"crypto/sha256"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store finds results that wait for a label.
type Store interface {
	// RandomQueue returns the next of the newest MaxResults results of a prism by RandomPosition, without those that have a
	// label for the question. It reads only ids. from is the lower bound of the ids, and after that of the positions.
	RandomQueue(ctx context.Context, account prism.AccountID, q Queue, from, after prism.UUID, limit int) ([]Entry, error)
	// Unlabelled is the entries that entry makes of a page of the ok results of a prism that have no label for the question, newest
	// first. It holds the answers of one result at a time, and leaves out those for which entry returns nil. last is the id of the
	// page's last result, or zero if the page is not full.
	Unlabelled(
		ctx context.Context, account prism.AccountID, q Queue, page store.Page, entry func(Unlabelled) (*Entry, error),
	) (entries []Entry, last prism.UUID, err error)
	// Queued finds those of the given results that are ok and have no label for the question, in any order.
	Queued(ctx context.Context, account prism.AccountID, q Queue, ids []prism.ResultID) ([]Queued, error)
	// QueuedResults is Queued with everything that a call sent and got.
	QueuedResults(ctx context.Context, account prism.AccountID, q Queue, ids []prism.ResultID) ([]prism.Result, error)
}

// Queue selects results that wait for a label: those of a prism, or of one of its versions, without a label for a question.
type Queue struct {
	Prism    prism.PrismID
	Version  int32 // 0: any
	Question string
}

// MaxResults bounds how many of the newest results of a prism the random queue is made of.
const MaxResults = 1_000_000

// Entry is a result in the random order.
type Entry struct {
	Position prism.UUID
	Result   prism.ResultID
}

// RandomPosition is where a result stands in the random order: the first 16 bytes of the SHA-256 of its id. So the order has
// nothing to do with time, and each of its prefixes is a sample.
func RandomPosition(id prism.ResultID) (position prism.UUID) {
	sum := sha256.Sum256(id.UUID[:])
	copy(position[:], sum[:])
	return position
}

// Queued is a result that waits for a label.
type Queued struct {
	Result  prism.ResultID
	Version int32
	Bytes   int // of its input and its answers, as they are stored
}

// Unlabelled is a result without a label.
type Unlabelled struct {
	Result  prism.ResultID
	Version int32
	Answers []byte
}
