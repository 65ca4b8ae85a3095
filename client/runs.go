package client

import (
	"context"
	"io"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

type (
	// RunStatus is the state of a file run.
	RunStatus = api.RunStatus
	// Run is a file run. OK, Failed, Invalid, Cancelled and Pending add up to Rows. That of a dry run has only its Plan.
	Run = api.Run
	// DryRun is what a run would do.
	DryRun = api.DryRun
	// InvalidRow is a row that a call would refuse, or a cell that is no label, with the message.
	InvalidRow = api.InvalidRow
	// RunLimits bound how fast a run goes. For a new run, nil is no limit. In SetRunLimits, nil keeps a limit and 0 removes it.
	RunLimits = api.RunLimits
	// RunLabels counts the cells of label columns.
	RunLabels = api.RunLabels
	// RunUsage is the tokens of a run and their cost.
	RunUsage = api.RunUsage
	// RowsFormat is the format of the rows of a run.
	RowsFormat = api.RowsFormat
	// RowStatus is the state of a row of a run.
	RowStatus = api.RowStatus
)

// The states of runs.
const (
	RunQueued     = prism.RunQueued
	RunRunning    = prism.RunRunning
	RunPausing    = prism.RunPausing // until the calls under way end, at most 16 s
	RunPaused     = prism.RunPaused
	RunCancelling = prism.RunCancelling // until the calls under way end, at most 16 s
	RunCancelled  = prism.RunCancelled
	RunFinished   = prism.RunFinished
)

// The formats of rows.
const (
	RowsCSV   = prism.RowsCSV
	RowsTSV   = prism.RowsTSV
	RowsJSONL = prism.RowsJSONL
	RowsXLSX  = prism.RowsXLSX

	RowsParquet = prism.RowsParquet
)

// The states of rows that can be selected.
const (
	RowOK      = prism.RowOK
	RowFailed  = prism.RowFailed  // the model gave no usable answer
	RowInvalid = prism.RowInvalid // a call would refuse it
	RowPending = prism.RowPending
)

// NewRun is a run of a file to create.
type NewRun struct {
	FileID  string            `json:"file_id,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`  // the column of each field
	Labels  map[string]string `json:"labels,omitempty"`  // the column of each question that has labels
	Ref     string            `json:"ref,omitempty"`     // the column with your own names of the rows
	Context string            `json:"context,omitempty"` // a column if the file has one of this name, else a text for every row
	Version int               `json:"version,omitempty"` // pins a version; 0 is the latest
	// FromLabelsOf replaces FileID, Fields, Labels, Ref and Context. It is a version: the run answers its labelled inputs, and its
	// results get the same labels.
	FromLabelsOf int `json:"from_labels_of,omitempty"`
	// FromResults replaces them too: the run answers the inputs of these results of the prism anew.
	FromResults *ResultsOfRun `json:"from_results,omitempty"`
	Name        string        `json:"name,omitempty"`
	RunLimits
	// PauseAtFailures is the part of the last 200 rows above which failures pause the run; 0.5 when nil.
	PauseAtFailures *float64 `json:"pause_at_failures,omitempty"`
	// IdempotencyKey makes repeats of the call safe: the same key is the same run.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// ResultsOfRun selects up to 10,000 results whose inputs a run answers: those for which every member holds. An empty member selects all.
type ResultsOfRun struct {
	IDs     []string   `json:"ids,omitempty"` // up to 1,000
	Status  Status     `json:"status,omitempty"`
	Version int        `json:"version,omitempty"` // that answered
	From    *time.Time `json:"from,omitempty"`    // saved then or later
	To      *time.Time `json:"to,omitempty"`      // saved before
	SearchMembers
}

// CreateRun starts a run of a ready file through a prism, given by its slug or id. A dry run makes every check, also of the rows,
// and returns a Run that has only its Plan.
func (c *Client) CreateRun(ctx context.Context, prism string, r NewRun, options ...CallOption) (Run, error) {
	k := declared(api.CreateRun, prism).sending(r)
	k.repeatable = r.IdempotencyKey != ""
	k = k.with(options)
	if !k.dryRun {
		return fetch[Run](ctx, c, k, nil)
	}
	if k.timeout == Timeout {
		k.timeout = PlanTimeout
	}
	plan, err := fetch[DryRun](ctx, c, k, nil)
	if err != nil {
		return Run{}, err
	}
	return Run{Plan: &plan}, nil
}

// RunFilter selects the runs of a list; an empty member selects all.
type RunFilter struct {
	Prism  string // the slug or id
	Status RunStatus
}

// ListRuns returns one page of the account's runs, newest first.
func (c *Client) ListRuns(ctx context.Context, f RunFilter, o PageOptions, options ...CallOption) (Page[Run], error) {
	q := o.query()
	set(q, "prism", f.Prism)
	set(q, "status", string(f.Status))
	return fetch[Page[Run]](ctx, c, declared(api.ListRuns).where(q), options)
}

// Runs iterates over the account's runs, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Runs(ctx context.Context, f RunFilter, options ...CallOption) iter.Seq2[Run, error] {
	return pages(func(cursor string) (Page[Run], error) {
		return c.ListRuns(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ReadRun reads a run.
func (c *Client) ReadRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, declared(api.ReadRun, id), options)
}

// PauseRun begins no further row of a run. Those under way end within 16 s. The call is idempotent.
func (c *Client) PauseRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, declared(api.PauseRun, id), options)
}

// ResumeRun continues a paused run. The call is idempotent.
func (c *Client) ResumeRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, declared(api.ResumeRun, id), options)
}

// CancelRun ends a run for good; answers that are there stay. The call is idempotent.
func (c *Client) CancelRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, declared(api.CancelRun, id), options)
}

// RetryRun sends the failed rows of a run to the model again. It is ErrConflict if there are none.
func (c *Client) RetryRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, declared(api.RetryRun, id), options)
}

// SetRunLimits changes how fast a run goes.
func (c *Client) SetRunLimits(ctx context.Context, id string, l RunLimits, options ...CallOption) (Run, error) {
	sent := map[string]any{}
	if l.RowsPerSecond != nil {
		sent["rows_per_second"] = orNull(*l.RowsPerSecond)
	}
	if l.Concurrency != nil {
		sent["concurrency"] = orNull(*l.Concurrency)
	}
	return fetch[Run](ctx, c, declared(api.SetRunLimits, id).sending(sent), options)
}

// orNull is a limit, or null to remove it.
func orNull[T comparable](limit T) *T {
	if limit == *new(T) {
		return nil
	}
	return &limit
}

// RunRows selects rows of a run and their format.
type RunRows struct {
	Format RowsFormat // that of the file when empty, and RowsCSV of Parquet
	Only   RowStatus  // all when empty
	After  int64      // only rows behind the one with this number
	TextStyle
	Raw bool // RowsParquet has a column of the stored answers; it takes no After
}

// ListRunRows streams the rows of a run in the order of its file: the columns of the file, then the outcome, then the answers.
// It works in every state of the run. A stream of csv, tsv or jsonl whose connection is lost continues behind the last row that
// was read; one of xlsx or Parquet ends with a *ConnectionError. The caller closes the stream.
func (c *Client) ListRunRows(ctx context.Context, id string, q RunRows, options ...CallOption) (io.ReadCloser, error) {
	r := &rows{ctx: ctx, c: c, id: id, RunRows: q, options: options}
	from, err := r.request(q.After)
	if err != nil || r.Format == RowsXLSX || r.Format == RowsParquet {
		return from, err
	}
	r.take(from)
	return r, nil
}

func (q RunRows) query() url.Values {
	v := url.Values{}
	set(v, "format", string(q.Format))
	set(v, "only", string(q.Only))
	setStyle(v, q.TextStyle)
	setRaw(v, q.Raw)
	if q.After != 0 {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	return v
}
