package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateRun sends every row of a file through a prism (spec: run-requests). A dry run checks the rows.
var CreateRun = Op[CreateRunRequest, Run]{Declaration{
	Name: "createRun", Method: http.MethodPost, Path: "/v1/prisms/{prism}/runs", Tag: "Runs", Role: prism.Caller, Class: Scanning,
	Status: http.StatusCreated, Plan: DryRun{}, Errors: []*apierr.Error{
		apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.FileNotFound(), apierr.FileNotReady(), apierr.ContentMissing(),
		apierr.KeyOfAnotherPrism(), apierr.TooManyUploads(20), apierr.NoRoom(50 << 30), apierr.TooManyRuns(),
		apierr.NotIndexed(), apierr.NotSearchable(),
	},
}}

// LabelsRunWait is how long a caller waits for the file of the inputs of results, whose making reads thousands of them, until it was read.
const LabelsRunWait = 15 * time.Second

// CreateRunRequest is the request of CreateRun.
type CreateRunRequest struct {
	PrismRequest
	NewRun
	// Checks the rows and makes no run.
	DryRun bool `json:"dry_run,omitzero"`
}

// NewRun is a run of a file, with `file_id` and `fields`, of the labelled inputs of a version, with `from_labels_of`, or of the inputs of
// results, with `from_results`.
type NewRun struct {
	// The file, which is ready.
	File prism.FileID `json:"file_id" without:"from_labels_of,from_results"`
	// For each field of the version, by its key, the column whose cells are its values. Only with `file_id`.
	Fields ColumnsOfFields `json:"fields" max:"100000" without:"from_labels_of,from_results"`
	// For each question that has labels, by its key, the column whose cells are the labels of the results. Needs a key of an editor.
	Labels ColumnsOfLabels `json:"labels,omitzero" max:"100000" without:"from_labels_of,from_results"`
	// The column whose cells are the refs of the results.
	Ref string `json:"ref,omitzero" min:"1" max:"100000" without:"from_labels_of,from_results"`
	// The column whose cells are the contexts; if the file has no such column, the context of every row.
	Context string `json:"context,omitzero" max:"100000" without:"from_labels_of,from_results"`
	// In place of a file and its columns: a version whose inputs with labels that count are answered, and labelled alike. Needs a key
	// of an editor.
	FromLabelsOf int32 `json:"from_labels_of,omitzero" min:"1" max:"2147483647"`
	// In place of a file and its columns: which results of the prism are answered anew.
	FromResults *ResultsOfRun `json:"from_results,omitzero" without:"from_labels_of"`
	// The version to answer. Null or not sent: the latest.
	Version int32 `json:"version,omitzero" min:"1" max:"2147483647"`
	// What people call the run.
	Name string `json:"name,omitzero" max:"200"`
	RunLimits
	// The part of the last 200 rows that may fail before the run pauses. Null or not sent: 0.5.
	PauseAt *float64 `json:"pause_at_failures,omitzero" min:"0" max:"1"`
	// Makes creating the run safe to repeat.
	IdempotencyKey string `json:"idempotency_key,omitzero" orheader:"Idempotency-Key" min:"1" max:"200"`
}

// MakesFile tells whether the file of the run is made of results.
func (n NewRun) MakesFile() bool { return n.FromLabelsOf != 0 || n.FromResults != nil }

// ResultsOfRun are results whose inputs a run answers: those for which every member holds. Null is the same as not sent.
type ResultsOfRun struct {
	// Only results with these ids.
	IDs []prism.ResultID `json:"ids,omitzero" min:"1" max:"1000"`
	// Only results with this status.
	Status Status `json:"status,omitzero" enum:"ok,failed"`
	// Only results that this version answered.
	Version int32 `json:"version,omitzero" min:"1" max:"2147483647"`
	// Only results saved at this time or later.
	From *time.Time `json:"from,omitzero"`
	// Only results saved before this time.
	To *time.Time `json:"to,omitzero"`
	SearchMembers
}

// MaxResultsOfRun bounds the results that a run answers anew.
const MaxResultsOfRun = 10_000

// DefaultPauseAt is the part of the last rows above which failures pause a run (spec: run-pauses-itself).
const DefaultPauseAt = 0.5

// ColumnsOfFields are the columns of fields, in the order sent.
type ColumnsOfFields []FieldColumn

// ColumnsOfLabels are the columns of questions, in the order sent.
type ColumnsOfLabels []FieldColumn

// FieldColumn is the column whose cells are the values of a field, or the labels of a question.
type FieldColumn struct{ Field, Column string }

// ListRuns reads a page of the account's runs, newest first.
var ListRuns = Op[ListRunsRequest, Page[Run]]{Declaration{
	Name: "listRuns", Method: http.MethodGet, Path: "/v1/runs", Tag: "Runs", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// ListRunsRequest is the request of ListRuns.
type ListRunsRequest struct {
	// Only runs of the prism with this slug or id.
	Prism *prism.Ref `query:"prism" max:"200"`
	// Only runs in this state.
	Status RunStatus `query:"status"`
	PageRequest
	Cursor string `query:"cursor" list:"runs"`
}

// ReadRun reads a run.
var ReadRun = Op[RunRequest, Run]{Declaration{
	Name: "readRun", Method: http.MethodGet, Path: "/v1/runs/{run_id}", Tag: "Runs", Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.RunNotFound()},
}}

// RunRequest is the request of an operation that needs a run alone.
type RunRequest struct {
	Run prism.RunID `path:"run_id"`
}

// PauseRun, ResumeRun and CancelRun change the state of a run (spec: run-states). RetryRun sends the rows again whose newest result
// failed.
var (
	PauseRun  = runAction("pause", true, apierr.RunOver())
	ResumeRun = runAction("resume", true, apierr.RunOver())
	CancelRun = runAction("cancel", true, apierr.RunOver())
	RetryRun  = runAction("retry", false, apierr.NoFailedRows(), apierr.TooManyRuns())
)

func runAction(action string, repeatable bool, errors ...*apierr.Error) Op[RunRequest, Run] {
	return Op[RunRequest, Run]{Declaration{
		Name: action + "Run", Method: http.MethodPost, Path: "/v1/runs/{run_id}/" + action, Tag: "Runs", Role: prism.Caller, Class: Keyed,
		Wait: StoreWait, Repeatable: repeatable, Errors: append([]*apierr.Error{apierr.RunNotFound()}, errors...),
	}}
}

// SetRunLimits changes how fast a run goes.
var SetRunLimits = Op[SetRunLimitsRequest, Run]{Declaration{
	Name: "setRunLimits", Method: http.MethodPut, Path: "/v1/runs/{run_id}/limits", Tag: "Runs", Role: prism.Caller, Class: Keyed,
	Errors: []*apierr.Error{apierr.RunNotFound(), apierr.RunOver()},
}}

// SetRunLimitsRequest is the request of SetRunLimits.
type SetRunLimitsRequest struct {
	RunRequest
	RunLimits
}

// RunLimits is how fast a run goes at most. What is not sent stays; null removes the limit.
type RunLimits struct {
	// How many rows begin in a second at most.
	RowsPerSecond *float64 `json:"rows_per_second,omitzero" above:"0" max:"100000" null:"zero"`
	// How many rows are at the model at once.
	Concurrency *int `json:"concurrency,omitzero" min:"1" max:"10000" null:"zero"`
}

// FollowRun streams a run as events, until it is over (spec: run-events).
var FollowRun = Op[RunRequest, None]{Declaration{
	Name: "followRun", Method: http.MethodGet, Path: "/v1/runs/{run_id}/events", Tag: "Runs", Role: prism.Reader, Class: Keyed,
	ByGateway: true, Media: []Media{EventsMedia}, Errors: []*apierr.Error{apierr.RunNotFound()},
}}

// ListRunRows streams the rows of a run in the order of its file (spec: run-rows-streamed).
var ListRunRows = Op[ListRunRowsRequest, None]{Declaration{
	Name: "listRunRows", Method: http.MethodGet, Path: "/v1/runs/{run_id}/rows", Tag: "Runs", Role: prism.Reader, Class: Streamed,
	Media: exportMedia(), Errors: []*apierr.Error{apierr.RunNotFound()},
}}

// ListRunRowsRequest is the request of ListRunRows.
type ListRunRowsRequest struct {
	RunRequest
	// The format of the rows. Without one it is that of the file, and `csv` of a file of `parquet`.
	Format RowsFormat `query:"format" empty:"true"`
	// Only rows in this state. Sent empty it is `all`.
	Only RowStatus `query:"only" enum:"all,ok,failed,invalid,pending" default:"all" empty:"true"`
	// Only rows behind this one, so that a download that broke off continues.
	After int64 `query:"after" min:"0" max:"10000000" default:"0"`
	TextStyle
	RawAnswers
}

// Problems implements the rules of Parquet.
func (r ListRunRowsRequest) Problems(Sent) []apierr.Problem {
	return r.problems(r.Format == prism.RowsParquet, r.After != 0)
}

// AllRows selects rows in every state.
const AllRows RowStatus = "all"

// RowsFormat is a format of the rows of a run.
type RowsFormat = prism.RowsFormat

// RowStatus is the state of a row of a run.
type RowStatus = prism.RowStatus

// Run is a run of a file. `ok + failed + invalid + cancelled + pending = rows`, always.
type Run struct {
	// Names the run.
	ID string `json:"id" form:"uuid"`
	// What people call it, or null.
	Name *string `json:"name"`
	// The slug of the prism.
	Prism string `json:"prism"`
	// The version that answers.
	Version int `json:"version" min:"1"`
	// The file.
	FileID string `json:"file_id" form:"uuid"`
	// Its state.
	Status RunStatus `json:"status"`
	// Why it paused by itself, or null.
	Reason *string `json:"reason"`
	// The rows of the file.
	Rows int64 `json:"rows" min:"0"`
	// Rows with an answer.
	OK int64 `json:"ok" min:"0"`
	// Rows that the model gave no usable answer to.
	Failed int64 `json:"failed" min:"0"`
	// Rows that a create call would refuse.
	Invalid int64 `json:"invalid" min:"0"`
	// Rows that are not sent any more.
	Cancelled int64 `json:"cancelled" min:"0"`
	// Rows that wait.
	Pending int64 `json:"pending" min:"0"`
	// How many labels of its rows are stored; null without label columns.
	Labels *RunLabels `json:"labels"`
	// How fast it goes.
	RowsPerSecondNow float64 `json:"rows_per_second_now" min:"0"`
	// How long it still takes, or null if that is not known.
	ETASeconds *float64 `json:"eta_seconds"`
	// What its results used.
	Usage RunUsage `json:"usage"`
	// When it was created.
	CreatedAt Time `json:"created_at"`
	// When its first row began, or null.
	StartedAt *Time `json:"started_at"`
	// When it was over, or null.
	FinishedAt *Time `json:"finished_at"`
	// What the run would do, of a dry run by the Go client.
	Plan *DryRun `json:"-"`
}

// Done is the number of rows that have their outcome.
func (r Run) Done() int64 { return r.Rows - r.Pending }

// RunStatus is the state of a run.
type RunStatus = prism.RunStatus

// RunLabels is labels of the rows of a run that are `ok`.
type RunLabels struct {
	// Cells that are labels.
	Stored int64 `json:"stored" min:"0"`
	// Cells that are no value of their question.
	Invalid int64 `json:"invalid" min:"0"`
}

// RunUsage is what the results of a run used.
type RunUsage struct {
	// Tokens that models read.
	InputTokens int64 `json:"input_tokens" min:"0"`
	// Tokens that models wrote.
	OutputTokens int64 `json:"output_tokens" min:"0"`
	// What they cost, or null without a price.
	Cost *json.Number `json:"cost"`
	// The currency of the cost, or null.
	Currency *string `json:"currency"`
}

// DryRun is what a run would do. Sums are estimates; what is not known is null.
type DryRun struct {
	// The rows of the file.
	Rows int64 `json:"rows" min:"0"`
	// How many of the first rows were checked: all, unless that took longer than 20 seconds. The other numbers but `invalid` and
	// `invalid_total` are for all rows, in proportion.
	RowsChecked int64 `json:"rows_checked" min:"0"`
	// The first 100 rows that a create call would refuse.
	Invalid []InvalidRow `json:"invalid"`
	// How many of the checked rows a create call would refuse.
	InvalidTotal int64 `json:"invalid_total" min:"0"`
	// The first 100 cells that are no label. The rows are answered.
	InvalidLabels []InvalidRow `json:"invalid_labels"`
	// How many cells of the checked rows are no label.
	InvalidLabelsTotal int64 `json:"invalid_labels_total" min:"0"`
	// About how many tokens models would read. Those that they write are not known before.
	Tokens int64 `json:"tokens" min:"0"`
	// How many calls of the model there would be. Failed calls are repeated, and so more.
	ModelCalls int64 `json:"model_calls" min:"0"`
	// How long the run takes at least by `rows_per_second`; null without it.
	Seconds *float64 `json:"seconds"`
	// What `tokens` cost by the model's price; null without a price.
	Cost *json.Number `json:"cost"`
	// The currency of the cost, or null.
	Currency *string `json:"currency"`
}

// InvalidRow is a row that a create call would refuse.
type InvalidRow struct {
	// Its number; the first row is 1.
	Row int64 `json:"row" min:"1"`
	// The message of the refusal.
	Message string `json:"message"`
}
