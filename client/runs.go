package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// RunStatus is the state of a file run.
type RunStatus string

// The states of runs.
const (
	RunQueued     RunStatus = "queued"
	RunRunning    RunStatus = "running"
	RunPausing    RunStatus = "pausing" // until the calls under way end, at most 16 s
	RunPaused     RunStatus = "paused"
	RunCancelling RunStatus = "cancelling" // until the calls under way end, at most 16 s
	RunCancelled  RunStatus = "cancelled"
	RunFinished   RunStatus = "finished"
)

// Settled tells whether a run changes no more unless somebody resumes or retries it.
func (s RunStatus) Settled() bool { return s == RunFinished || s == RunCancelled || s == RunPaused }

// RunLimits bound how fast a run goes. For a new run, nil is no limit. In SetRunLimits, nil keeps a limit and 0 removes it.
type RunLimits struct {
	RowsPerSecond *float64 `json:"rows_per_second,omitempty"` // at most 100,000
	Concurrency   *int     `json:"concurrency,omitempty"`     // rows at the model at once, at most 10,000
}

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
	FromLabelsOf int    `json:"from_labels_of,omitempty"`
	Name         string `json:"name,omitempty"`
	RunLimits
	// PauseAtFailures is the part of the last 200 rows above which failures pause the run; 0.5 when nil.
	PauseAtFailures *float64 `json:"pause_at_failures,omitempty"`
	// IdempotencyKey makes repeats of the call safe: the same key is the same run.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// Run is a file run. OK, Failed, Invalid, Cancelled and Pending add up to Rows.
type Run struct {
	ID      string    `json:"id"`
	Name    *string   `json:"name"`
	Prism   string    `json:"prism"`
	Version int       `json:"version"`
	FileID  string    `json:"file_id"`
	Status  RunStatus `json:"status"`
	Reason  *string   `json:"reason"` // why the run paused by itself
	Rows    int64     `json:"rows"`
	OK      int64     `json:"ok"`
	Failed  int64     `json:"failed"`  // the model gave no usable answer; RetryRun sends them again
	Invalid int64     `json:"invalid"` // a call would refuse them; there is no result
	// Cancelled rows were not answered when the run was cancelled.
	Cancelled        int64      `json:"cancelled"`
	Pending          int64      `json:"pending"`
	Labels           *RunLabels `json:"labels"` // nil without label columns
	RowsPerSecondNow float64    `json:"rows_per_second_now"`
	ETASeconds       *float64   `json:"eta_seconds"` // nil if it is not known
	Usage            RunUsage   `json:"usage"`
	CreatedAt        Time       `json:"created_at"`
	StartedAt        *Time      `json:"started_at"`
	FinishedAt       *Time      `json:"finished_at"`
	Plan             *DryRun    `json:"-"` // what the run would do, of a dry run
}

// RunLabels counts the cells of label columns: labels of rows that are ok, and cells that are no value of their question.
type RunLabels struct {
	Stored  int64 `json:"stored"`
	Invalid int64 `json:"invalid"`
}

// Done is the number of rows that have their outcome.
func (r Run) Done() int64 { return r.Rows - r.Pending }

// RunUsage is the tokens of a run and their cost.
type RunUsage struct {
	InputTokens  int64        `json:"input_tokens"`
	OutputTokens int64        `json:"output_tokens"`
	Cost         *json.Number `json:"cost"` // exact; nil without a currency
	Currency     *string      `json:"currency"`
}

// DryRun is what a run would do.
type DryRun struct {
	Rows         int64        `json:"rows"`
	RowsChecked  int64        `json:"rows_checked"` // fewer than Rows of a file that takes longer than 20 s to check
	Invalid      []InvalidRow `json:"invalid"`      // the first 100
	InvalidTotal int64        `json:"invalid_total"`
	// InvalidLabels are the first 100 cells of label columns that are no label. Their rows are answered.
	InvalidLabels      []InvalidRow `json:"invalid_labels"`
	InvalidLabelsTotal int64        `json:"invalid_labels_total"`
	Tokens             int64        `json:"tokens"` // an estimate, as what follows
	ModelCalls         int64        `json:"model_calls"`
	Seconds            *float64     `json:"seconds"` // nil if it is not known
	Cost               *json.Number `json:"cost"`    // nil if the model has no price
	Currency           *string      `json:"currency"`
}

// InvalidRow is a row that a call would refuse, with the message of the refusal.
type InvalidRow struct {
	Row     int64  `json:"row"` // the first is 1
	Message string `json:"message"`
}

// CreateRun starts a run of a ready file through a prism, given by its slug or id. A dry run makes every check, also of the rows,
// and returns a Run that has only its Plan.
func (c *Client) CreateRun(ctx context.Context, prism string, r NewRun, options ...CallOption) (Run, error) {
	k := request("createRun", http.MethodPost, "prisms", prism, "runs").creating(r).allowDryRun()
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
	return fetch[Page[Run]](ctx, c, request("listRuns", http.MethodGet, "runs").where(q), options)
}

// Runs iterates over the account's runs, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Runs(ctx context.Context, f RunFilter, options ...CallOption) iter.Seq2[Run, error] {
	return pages(func(cursor string) (Page[Run], error) {
		return c.ListRuns(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ReadRun reads a run.
func (c *Client) ReadRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, request("readRun", http.MethodGet, "runs", id), options)
}

// PauseRun begins no further row of a run. Those under way end within 16 s. The call is idempotent.
func (c *Client) PauseRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, request("pauseRun", http.MethodPost, "runs", id, "pause").idempotent(), options)
}

// ResumeRun continues a paused run. The call is idempotent.
func (c *Client) ResumeRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, request("resumeRun", http.MethodPost, "runs", id, "resume").idempotent(), options)
}

// CancelRun ends a run for good; answers that are there stay. The call is idempotent.
func (c *Client) CancelRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, request("cancelRun", http.MethodPost, "runs", id, "cancel").idempotent(), options)
}

// RetryRun sends the failed rows of a run to the model again. It is ErrConflict if there are none.
func (c *Client) RetryRun(ctx context.Context, id string, options ...CallOption) (Run, error) {
	return fetch[Run](ctx, c, request("retryRun", http.MethodPost, "runs", id, "retry"), options)
}

// SetRunLimits changes how fast a run goes.
func (c *Client) SetRunLimits(ctx context.Context, id string, l RunLimits, options ...CallOption) (Run, error) {
	k, sent := request("setRunLimits", http.MethodPut, "runs", id, "limits"), map[string]any{}
	if l.RowsPerSecond != nil {
		sent["rows_per_second"] = orNull(*l.RowsPerSecond)
	}
	if l.Concurrency != nil {
		sent["concurrency"] = orNull(*l.Concurrency)
	}
	k.body = sent
	return fetch[Run](ctx, c, k, options)
}

// orNull is a limit, or null to remove it.
func orNull[T comparable](limit T) *T {
	if limit == *new(T) {
		return nil
	}
	return &limit
}

// RowsFormat is the format of the rows of a run.
type RowsFormat string

// The formats of rows.
const (
	RowsCSV   RowsFormat = "csv"
	RowsTSV   RowsFormat = "tsv"
	RowsJSONL RowsFormat = "jsonl"
	RowsXLSX  RowsFormat = "xlsx"
)

// RowStatus is the state of a row of a run.
type RowStatus string

// The states of rows that can be selected.
const (
	RowOK      RowStatus = "ok"
	RowFailed  RowStatus = "failed"  // the model gave no usable answer
	RowInvalid RowStatus = "invalid" // a call would refuse it
	RowPending RowStatus = "pending"
)

// RunRows selects rows of a run and their format.
type RunRows struct {
	Format RowsFormat // RowsCSV when empty
	Only   RowStatus  // all when empty
	After  int64      // only rows behind the one with this number
}

// ListRunRows streams the rows of a run in the order of its file: the columns of the file, then the outcome, then the answers.
// It works in every state of the run. A stream of csv, tsv or jsonl whose connection is lost continues behind the last row that
// was read; one of xlsx ends with a *ConnectionError. The caller closes the stream.
func (c *Client) ListRunRows(ctx context.Context, id string, q RunRows, options ...CallOption) (io.ReadCloser, error) {
	r := &rows{ctx: ctx, c: c, id: id, RunRows: q, options: options}
	from, err := r.request(q.After)
	if err != nil || q.Format == RowsXLSX {
		return from, err
	}
	r.take(from)
	return r, nil
}

func (q RunRows) query() url.Values {
	v := url.Values{}
	set(v, "format", string(q.Format))
	set(v, "only", string(q.Only))
	if q.After != 0 {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	return v
}
