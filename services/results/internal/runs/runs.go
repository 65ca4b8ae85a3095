// Package runs keeps runs of files and retries of many results: what is said of them, the leases of their rows, and their downloads. A run is made
// of a file, of labels, or of results.
package runs

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store keeps file runs. A run has one row, and a row for each chunk of its file, in which the state of each of the chunk's rows is
// a byte. So ten million rows are 50,000 rows here, and no row that all workers update.
type Store interface {
	// CreateRun stores a run and its chunks, all rows pending. If the account has a run with the idempotency key, that run is
	// returned instead. ErrNotFound, ErrFileState if the file is not ready.
	CreateRun(ctx context.Context, account prism.AccountID, r Run, by store.By) (Run, error)
	// ReadRun finds a run with its counts: ErrNotFound.
	ReadRun(ctx context.Context, account prism.AccountID, id prism.RunID) (Run, error)
	// ListRuns is a page of runs with their counts, newest first.
	ListRuns(ctx context.Context, account prism.AccountID, f Filter, page store.Page) (runs []Run, more bool, err error)
	// ActOnRun changes the state of a run: ErrNotFound, ErrRunOver, ErrNoFailedRows. RunRetry makes the rows whose newest
	// result failed pending again, in the next attempt. What takes long goes on in TendRuns.
	ActOnRun(ctx context.Context, account prism.AccountID, id prism.RunID, a store.Action, by store.By) (Run, error)
	// PauseRun pauses a run that is queued or running, with a reason: ErrNotFound.
	PauseRun(ctx context.Context, account prism.AccountID, id prism.RunID, reason string, at time.Time) error
	// SetRunLimits replaces the limits that are not nil: ErrNotFound, ErrRunOver.
	SetRunLimits(ctx context.Context, account prism.AccountID, id prism.RunID, l api.RunLimits, by store.By) (Run, error)
	// RunChunks is a page of chunks of a run, from a number on. It ends as a page of RunResults does.
	RunChunks(ctx context.Context, account prism.AccountID, id prism.RunID, from int32, limit int) ([]Chunk, error)
	// RunResults are the newest results of the rows from first on, without their input, in row order, at most limit. A page ends
	// early as one of ExportResults does. Rows without a result, or whose newest one was deleted, are not among them.
	RunResults(ctx context.Context, account prism.AccountID, id prism.RunID, first int64, limit int) ([]RowResult, error)
	// RunOfKey finds the run with an idempotency key: ErrNotFound.
	RunOfKey(ctx context.Context, account prism.AccountID, key string) (Run, error)
	// RowsSince is how many rows of a run got their outcome since a time.
	RowsSince(ctx context.Context, account prism.AccountID, id prism.RunID, since time.Time) (int64, error)

	// LeaseChunk, RenewLeases and SaveRows are those of contract.Leases, on rows of the store.
	LeaseChunk(ctx context.Context, token prism.UUID, now, until time.Time) (*LeasedChunk, error)
	RenewLeases(ctx context.Context, leases []contract.Lease, now, until time.Time) ([]contract.LeaseState, error)
	SaveRows(ctx context.Context, s contract.SaveRows, now time.Time) error
	// TendRuns ends leases whose time is over, completes the stop of pausing and cancelling runs that have no lease or have waited
	// long enough, finishes runs without pending rows, and pauses runs by themselves (spec: run-pauses-itself). It returns how
	// many runs it changed; a caller who gets more than 0 calls again. It also adds the chunks at the front of a run that are done
	// to the sums of the run, which changes nothing that callers see.
	TendRuns(ctx context.Context, now time.Time) (int, error)
	// QueueOfRuns measures what waits.
	QueueOfRuns(ctx context.Context, now time.Time) (Queue, error)
}

// Run is a stored run with its counts.
type Run struct {
	ID             prism.RunID
	Prism          prism.PrismID
	Slug           string
	Version        int32
	File           prism.FileID
	Name           string
	Mapping        []byte // JSON of mapping: which columns are the fields, the ref and the context
	Status         prism.RunStatus
	Reason         string
	Key            prism.KeyID // that made the run
	IdempotencyKey string
	PauseAt        float64
	contract.RowLimits
	Rows                           int64
	OK, Failed, Invalid, Cancelled int64
	Labels, InvalidLabels          int64 // of rows that are ok
	Usage                          Usage
	Chunks                         int32
	CreatedAt                      time.Time
	StartedAt, FinishedAt          *time.Time
}

// Pending is the number of rows that wait for their outcome.
func (r Run) Pending() int64 { return r.Rows - r.OK - r.Failed - r.Invalid - r.Cancelled }

// Usage is the sum over all results of a run that were ever saved, those that were retried or deleted since included.
type Usage struct {
	InputTokens, OutputTokens int64
	Cost                      prism.Cost
	Currency                  string // "": no result had a price; SeveralCurrencies: Cost says nothing
}

// SeveralCurrencies stands for the currency of a run whose results have prices in several.
const SeveralCurrencies = "*"

// RowResult is the newest result of a row.
type RowResult struct {
	Row int64
	prism.Result
}

// Filter narrows a list; zero values narrow nothing.
type Filter struct {
	Prism  prism.PrismID
	Status prism.RunStatus
}

// Chunk is the state of the rows of a chunk.
type Chunk struct {
	Number   int32
	FirstRow int64
	Attempt  int32
	// States has a letter for each row: RowStates.
	States []byte
	// Invalid are the messages of the invalid rows.
	Invalid map[int64]string
}

// The letters of the states of rows.
const (
	RowPendingState   = 'p'
	RowOKState        = 'o'
	RowFailedState    = 'f'
	RowInvalidState   = 'i'
	RowCancelledState = 'c'
)

// LeasedChunk is a leased chunk of a run. BegunAt is the time with which the ids of this lease's results begin. A row that is
// pending in the same attempt gets a result with the same id under every lease with the same BegunAt.
type LeasedChunk struct {
	contract.Lease
	contract.RowLimits
	Run     Run // without its counts
	Chunk   Chunk
	BegunAt time.Time
	// Failed are the results that the pending rows of an attempt after the first retry, by row.
	Failed map[int64]prism.ResultID
	// Retried are results of a Retry. Then nothing of a file is leased: Run has only the ID of the retry, the prism, the version
	// and the key, and Chunk only its number.
	Retried []RowResult
}

const (
	// StopWait is how long calls under way may take when a run pauses or is cancelled (spec: run-states).
	StopWait = 16 * time.Second
	// AttemptAge is the most that the ids of an attempt's results are older than a lease of it.
	AttemptAge = time.Hour
	// WatchedRows is how many of the last rows decide whether a run pauses by itself.
	WatchedRows = 200
	// MaxRuns is how many runs of an account are not over (spec: runs-not-over). Each look for a lease reads all runs under way.
	MaxRuns = 500
	// LeaseShare is the most rows at the model at once of one lease of a run whose concurrency is limited.
	LeaseShare = 32
	// PartChunks bounds how many chunks one statement changes when a run is cancelled or retried.
	PartChunks = 1000
)

// Queue is what waits for workers.
type Queue struct {
	Runs        int64     // queued or running
	PendingRows int64     // of those runs
	Leases      int64     // that have not ended
	OldestSince time.Time // since when the run that waits longest for a lease has waited; zero if none waits
}

// RetryStore keeps retries of many results. A prism has one at a time. Its results are leased in chunks as the rows of runs are, by
// LeaseChunk, RenewLeases and SaveRows of Store, where its id stands for that of a run; TendRuns ends it when the prism is
// archived, when its key is revoked, and when nothing is left to retry.
type RetryStore interface {
	// CountRetry counts the results that match, up to contract.MaxRetried and one more. underWay tells whether results of the
	// prism are being retried.
	CountRetry(ctx context.Context, r Retry) (matches int64, underWay bool, err error)
	// AddRetry stores a retry of the results that match in one snapshot: *MatchError if they are not as many as expected,
	// ErrRetrying.
	AddRetry(ctx context.Context, r Retry, expected int64, by store.By) error
}

// Retry is a retry of many results: those of a prism that failed, were not retried, and were saved from From (inclusive) to To
// (exclusive), where a zero time bounds nothing.
type Retry struct {
	Account  prism.AccountID
	ID       prism.RunID
	Prism    prism.PrismID
	Slug     string
	Key      prism.KeyID // of the call
	From, To time.Time
	// Among are the results that a search has found, by their ids; nil: any. By names what they were found by, for the audit.
	Among []prism.ResultID
	By    []string
}
