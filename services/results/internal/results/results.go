package results

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// Store is what creating, reading, retrying and listing results needs. A method for a call is one round trip to the database, except after a
// conflict, and except for the repeat of a call, which a replicated database has to confirm. Ad-hoc prisms are there while they have results
// (spec: adhoc-kept). Lists are ordered by id: an id is a UUIDv7, which begins with its time of creation.
type Store interface {
	// CreateFacts looks up the API key, the prism, its version and the idempotency key on one snapshot. The input of the
	// result that holds the idempotency key is loaded only if the result failed or the query's format is tabular.
	CreateFacts(ctx context.Context, q contract.CreateQuery) (store.CreateFacts, error)
	// ResultFacts looks up the API key, the result and its prism on one snapshot.
	ResultFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input) (store.ResultFacts, error)
	// Record finds a result with everything that its row has: store.ErrNotFound.
	Record(ctx context.Context, account prism.AccountID, id prism.ResultID) (store.Record, error)
	// SaveResult stores the result of a first call. Saving the same id again changes nothing and returns the stored
	// result, even if its idempotency key has moved to a retry. It returns contract.ErrKeyTaken if another result of the
	// account holds the idempotency key, and store.ErrNotFound if the account has no such prism version.
	SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error)
	// SaveRetry atomically stores the new result, marks the old one as retried by it, and moves the idempotency key from
	// the old one to the new one; r.IdempotencyKey is ignored. Saving the same id again changes nothing and returns the
	// stored result. It returns *store.RetriedError if another result retried the old one first, and store.ErrNotFound if the account
	// has no such failed result of r's prism version.
	SaveRetry(ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID) (store.Saved, error)
	// AdHocFull tells whether an account has as many ad-hoc prisms as limit.
	AdHocFull(ctx context.Context, account prism.AccountID, limit int64) (bool, error)
	// SaveAdHoc is SaveResult for a result of the ad-hoc prism with the slug of p, whatever r.Prism is. If the account has no such prism,
	// the same transaction makes p, and an entry of the audit: store.ErrTooManyAdHoc if the account has as many as limit. The deletion of the last
	// result ends the prism, in the transaction of the deletion. store.ErrUnavailable if others make and end the prism all the time.
	SaveAdHoc(ctx context.Context, account prism.AccountID, p prism.Prism, limit int64, r prism.Result, by store.By) (store.Saved, error)
	// ListResults is a page of the account's results, newest first; those of one run in row order, where page.After is a
	// contract.RowPosition.
	ListResults(
		ctx context.Context, account prism.AccountID, f store.Filter, in store.Input, page store.Page,
	) (results []store.Saved, more bool, err error)
	// LookedAt finds the id of the last result of a list that looks at this many results of the account, or of the filter's prism
	// and times: zero if there are fewer.
	LookedAt(ctx context.Context, account prism.AccountID, f store.Filter, after prism.UUID, results int) (prism.UUID, error)
	// ExportResults is a page of one prism's results, oldest first. A page ends early before the row that would exceed
	// store.PageBytes, unless it is the first; only an empty page is past the last row.
	ExportResults(ctx context.Context, account prism.AccountID, id prism.PrismID, f store.Filter, page store.Page) ([]prism.Result, error)
	// FindResults finds the results of a prism that have these ids, in any order.
	FindResults(
		ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input,
	) ([]prism.Result, error)
}

// Deps are what Handlers work with; all are required.
type Deps struct {
	Store    handlerStore
	Access   *access.Access
	Now      func() time.Time
	NewID    func() (prism.UUID, error)
	Versions *prisms.Handlers
	Quality  *quality.Handlers
	Searches *search.Handlers
}

// handlerStore finds prisms and labels too, counts tries, and tells whether it can be written.
type handlerStore interface {
	Store
	prisms.Store
	labels.Store
	search.Store
	usage.Store
	Full() bool
	ProbeWrite(ctx context.Context) error
}

// Handlers are those of calls, and of the operations on results that no other slice has.
type Handlers struct {
	deps  Deps
	saves saves
}

// NewHandlers makes Handlers.
func NewHandlers(d Deps) *Handlers { return &Handlers{deps: d} }

// Operations are those that list, read and preview.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Encoded(api.ListResults, h.listResults),
		access.Encoded(api.ReadRecord, h.readRecord),
		access.Encoded(api.PreviewLens, h.previewLens),
	}
}
