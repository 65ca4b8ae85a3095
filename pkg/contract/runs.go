package contract

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// Runs keeps file runs. Every method checks the API key and its role first, as those of Results do.
type Runs interface {
	// PlanRun is what a new run would answer, without making it: the prism, its version, the file and the columns are checked
	// (apierr.PrismNotFound, apierr.VersionNotFound, apierr.FileNotFound, apierr.FileNotReady, apierr.Invalid for a column that the
	// file does not have). It is the first half of a dry run.
	PlanRun(ctx context.Context, key KeyDigest, ref prism.Ref, n api.NewRun) (RunPlan, error)
	// PlanRows are the rows of a planned run in one chunk of its file, as a Chunk has them: the second half of a dry run.
	PlanRows(ctx context.Context, key KeyDigest, q PlanRows) ([]ChunkRow, error)
	// LabelsRun makes a file of the inputs of a version whose labels count, which n names by FromLabelsOf, or of results, FromResults, and
	// returns the run of that file: the checks are those of CreateRun, and apierr.TooFewLabels. A run that was made with the idempotency key
	// of n is returned as it is, without a file. Callers give it LabelsRunWait.
	LabelsRun(ctx context.Context, key KeyDigest, ref prism.Ref, n api.NewRun) (api.NewRun, error)
	// DropLabelsFile deletes the file that LabelsRun made for a dry run. Like the dry run, it has no entry in the audit.
	DropLabelsFile(ctx context.Context, key KeyDigest, id prism.FileID) (Response, error)
}

// RunPlan is what a run would answer. Chunks are the chunks of the file.
type RunPlan struct {
	Account prism.AccountID
	Prism   prism.PrismID
	Version prism.Version
	Run     api.NewRun
	Rows    int64
	Chunks  int32
}

// PlanRows selects the rows of a chunk of a plan's file; the first chunk is 0.
type PlanRows struct {
	Prism prism.Ref
	Run   api.NewRun
	Chunk int32
}

// Leases hands rows of runs, and results of retries of many (spec: retry-many), to workers. It checks no API key: workers are
// services.
type Leases interface {
	// LeaseChunk takes a chunk whose rows wait for their answers, for LeaseTime: nil if there is none. The account with the
	// fewest leased rows is served first, then the run that waited longest (spec: run-fairness). A retry of many results is leased
	// as a run is: each of its rows is a result that it retries.
	LeaseChunk(ctx context.Context, worker prism.UUID) (*Chunk, error)
	// RenewLeases renews leases for LeaseTime and tells which go on. Workers call it at least once in LeasePoll, to learn of
	// pauses, cancellations and new limits.
	RenewLeases(ctx context.Context, leases []Lease) ([]LeaseState, error)
	// SaveRows stores rows of a leased chunk in one transaction, and ends the lease if Done. ErrLeaseLost: nothing was stored,
	// nor will be under this lease. Storing a row again changes nothing.
	SaveRows(ctx context.Context, s SaveRows) error
}

// ErrLeaseLost tells that the lease was lost, because it ended or another worker has the chunk.
var ErrLeaseLost = errors.New("lease lost")

const (
	// LeaseTime is how long a lease lasts unless it is renewed.
	LeaseTime = 60 * time.Second
	// LeasePoll is how soon workers learn of a pause.
	LeasePoll = 500 * time.Millisecond
	// ChunkRows is how many rows a chunk has at most (spec: run-chunks).
	ChunkRows = 200
	// ChunkBytes is how large its rows are at most; a chunk has one row at least. The values of the rows of a lease have this size
	// at most too, where the cell of a column is the value of several fields (spec: run-chunks).
	ChunkBytes = 512 << 10
	// SaveBytes is how large the rows of one SaveRows are at most, in JSON; a save may have one larger row, which is as large as a
	// call at most (spec: rows-saved-together).
	SaveBytes = 8 << 20
)

// Lease names a leased chunk. Token is new with each lease, so that a worker that lost its lease saves nothing under it.
type Lease struct {
	Account prism.AccountID
	Run     prism.RunID // or a retry of many results
	Chunk   int32
	Token   prism.UUID
	// Version is what the chunk was leased with, if examples of it were taken from results: when one of these is deleted, the lease stops
	// (spec: emptied-examples). Else it is zero.
	Version LeasedVersion `json:",omitzero"`
}

// LeasedVersion is a version as it was when a chunk was leased.
type LeasedVersion struct {
	Prism  prism.PrismID
	Number int32
	Hash   prism.DefinitionHash
}

// LeaseState is what became of a lease.
type LeaseState struct {
	Lease
	// Stop: begin no further row, save those under way and end the lease, as the run pauses or is cancelled, an example of its version was
	// emptied, or the lease is lost.
	Stop bool
	RowLimits
}

// RowLimits bound the rows of one lease. Zero values bound nothing.
type RowLimits struct {
	RowsPerSecond float64
	Concurrency   int32
}

// Chunk is the leased rows of a run that wait for their answers, in the order of the file.
type Chunk struct {
	Lease
	RowLimits
	Facts RowFacts
	Rows  []ChunkRow
}

// RowFacts is what the checks need of the rows of a chunk.
type RowFacts struct {
	Account  prism.AccountID
	Key      prism.KeyID // that made the run
	Prism    prism.PrismID
	Archived bool `json:",omitzero"`
	Version  prism.Version
}

// ChunkRow is a row of a run.
type ChunkRow struct {
	Row     int64           // the first of the file is 1
	ID      prism.ResultID  // of the result of this row and attempt, decided with the lease
	RetryOf *prism.ResultID // the failed result of the attempt before; nil: the first
	Invalid string          `json:",omitzero"` // why the file has no such row; the fields then have no values
	Fields  []prism.FieldValue
	Ref     *string `json:",omitzero"`
	Context string  `json:",omitzero"`
	RowLabels
}

// RowLabels are the labels of a row, and a message for each of its cells that is no label (spec: run-labels-invalid).
type RowLabels struct {
	Labels        []RowLabel `json:",omitzero"`
	InvalidLabels []string   `json:",omitzero"`
}

// SaveRows is rows of a leased chunk to store.
type SaveRows struct {
	Lease
	Rows []RowOutcome
	Done bool // ends the lease
}

// RowOutcome is the outcome of a row: Invalid, the text of a create call's 4xx, or a result to save.
type RowOutcome struct {
	Row       int64
	Invalid   string `json:",omitzero"`
	Save      *Save  `json:",omitzero"` // its ID, RetryOf and fields are those of the ChunkRow
	RowLabels        // of the ChunkRow; stored with an ok result
}

// Rows answers rows of runs by the checks, the model calls and the limits of calls. It saves nothing.
type Rows interface {
	// AnswerRow checks a row as the call that it stands for, and asks the model. An error means that the row has no outcome and
	// waits for a later try: ErrUnavailable and apierr's 429 and 503 are reasons to slow down.
	AnswerRow(ctx context.Context, facts RowFacts, row ChunkRow) (RowOutcome, error)
}
