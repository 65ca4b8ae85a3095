package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateResult sends the values of a version's fields to the model and saves the answer (spec: create-members).
var CreateResult = Op[CreateResultRequest, AnyResult]{Declaration{
	Name: "createResult", Method: http.MethodPost, Path: "/v1/prisms/{prism}/results", Tag: "Results", Role: prism.Caller, Class: Keyed,
	ByGateway: true, Failing: true, Media: rowMedia(),
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.PrismArchived(), apierr.KeyOfAnotherPrism()},
}}

// AnyResult is a result in the format json or raw.
type AnyResult = Either[Result, RawResult]

// CreateResultRequest is the request of CreateResult.
type CreateResultRequest struct {
	PrismRequest
	Format Format `query:"format" default:"json" parameter:"Format"`
	NewResult
}

// NewResult is a call. Send either `fields` or `text`, never both. Members that are not named here are ignored.
type NewResult struct {
	// Field key to value. Every field key of the version is required, others are refused. A value has at most 100,000 characters.
	Fields FieldValues `json:"fields,omitzero" max:"100000" notnull:"true"`
	// The value of the version's only field.
	Text *string `json:"text,omitzero" max:"100000" notnull:"true"`
	// Pins a version of the prism. Without it the latest one answers.
	Version int32 `json:"version,omitzero" min:"1" max:"2147483647" notnull:"true"`
	// Makes repeating the call safe. Scoped to the account. A repeat returns the stored result, or retries it when it failed.
	IdempotencyKey string `json:"idempotency_key,omitzero" orheader:"Idempotency-Key" min:"1" max:"200" notnull:"true"`
	// Your own name for the call, kept with the result. Null is the same as not sent.
	Ref *string `json:"ref,omitzero" max:"200"`
	// Something the model should know that belongs to no field.
	Context string `json:"context,omitzero" max:"100000" notnull:"true"`
}

// OneOf are the two ways to send values.
func (NewResult) OneOf() []string { return []string{"fields", "text"} }

// FieldValues are values of fields by their keys, in the order sent.
type FieldValues []prism.FieldValue

// ExportResults streams every result of a prism, oldest first (spec: export).
var ExportResults = Op[ExportResultsRequest, None]{Declaration{
	Name: "exportResults", Method: http.MethodGet, Path: "/v1/prisms/{prism}/results", Tag: "Results", Role: prism.Reader, Class: Streamed,
	Media: exportMedia(), Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.NotIndexed(), apierr.NotSearchable()},
}}

// ExportSelected streams the results of a prism that have some ids, oldest first (spec: export-selected).
var ExportSelected = Op[ExportSelectedRequest, None]{Declaration{
	Name: "exportSelected", Method: http.MethodPost, Path: "/v1/prisms/{prism}/results/export", Tag: "Results", Role: prism.Reader, Class: Streamed,
	Repeatable: true, ReadOnly: true, Media: exportMedia(), Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// ExportSelectedRequest is the request of ExportSelected.
type ExportSelectedRequest struct {
	PrismRequest
	Selection
}

// Selection is results to export.
type Selection struct {
	// The ids of the results. Those that the prism does not have are left out.
	IDs []prism.ResultID `json:"ids" min:"1" max:"1000"`
	// The format of the rows. Null or not sent: `csv`.
	Format Format `json:"format,omitzero" enum:"csv,tsv,jsonl,xlsx,parquet"`
}

// ExportResultsRequest is the request of ExportResults.
type ExportResultsRequest struct {
	PrismRequest
	// The format of the rows. Sent empty it is `csv`.
	Format Format `query:"format" enum:"csv,tsv,jsonl,xlsx,parquet" default:"csv" empty:"true" example:"jsonl"`
	Status Status `query:"status" enum:"ok,failed" parameter:"Status"`
	ResultFilter
	ResultSearch
	// Only results behind this id, which is a position: no result need have it. So an export that broke off continues.
	After *prism.ResultID `query:"after" example:"0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"`
	TextStyle
	RawAnswers
}

// Problems implements the rules of Parquet.
func (r ExportResultsRequest) Problems(Sent) []apierr.Problem {
	return r.problems(r.Format == Parquet, r.After != nil)
}

// ListResults reads a page of results: newest first, or those of a run in the order of its rows (spec: result-list, run-results).
var ListResults = Op[ListResultsRequest, Either[ResultPage, RawResultPage]]{Declaration{
	Name: "listResults", Method: http.MethodGet, Path: "/v1/results", Tag: "Results", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.NotSearchable()},
}}

// ListResultsRequest is the request of ListResults.
type ListResultsRequest struct {
	// Only results of the prism with this slug or id.
	Prism  *prism.Ref `query:"prism" max:"200"`
	Status Status     `query:"status" enum:"ok,failed" parameter:"Status"`
	ResultFilter
	ResultSearch
	// The order: `-@created` (newest first), `@created`, `@took`, a question such as `refund`, an option such as `topic.billing`, `urgency@average` or `topic@confidence`; with `-` the greatest first. Results without the number come last.
	Sort string `query:"sort" max:"200" example:"-refund"`
	// The format of each result. Sent empty it is `json`.
	Format Format `query:"format" enum:"json,raw" default:"json" empty:"true" example:"raw"`
	// Whether each result has `fields` and `context`, what was sent with its call.
	Fields bool `query:"fields"`
	PageRequest
	Cursor string `query:"cursor" list:"results"`
}

// ResultFilter is what lists, counts and exports of results have in common. From is inclusive, To exclusive, by the time of the save.
type ResultFilter struct {
	// Only results with this ref. Sent empty it finds the empty ref.
	Ref *string `query:"ref" max:"200" empty:"true"`
	// Only results that this version answered.
	Version int32        `query:"version" min:"1" max:"2147483647"`
	From    time.Time    `query:"from" parameter:"From"`
	To      time.Time    `query:"to" parameter:"To"`
	Model   string       `query:"model" max:"200" parameter:"Model"`
	Key     *prism.KeyID `query:"key_id" parameter:"KeyOfCall"`
	// Only results that are assigned to the member with this id, to you (`me`), or to nobody (`none`).
	Assignee string `query:"assignee" form:"assignee"`
	// Only results of the run with this id. A list has them in the order of its rows.
	Run *prism.RunID `query:"run"`
}

// ReadResult reads a result in a format (spec: same-format-for-create-read-retry).
var ReadResult = Op[ResultInFormat, AnyResult]{Declaration{
	Name: "readResult", Method: http.MethodGet, Path: "/v1/results/{result_id}", Tag: "Results", Role: prism.Reader, Class: Keyed,
	Media: rowMedia(), Errors: []*apierr.Error{apierr.ResultNotFound()},
}}

// ResultInFormat is the request of an operation that needs a result and a format alone.
type ResultInFormat struct {
	ResultRequest
	Format Format `query:"format" default:"json" parameter:"Format"`
}

// ReadRecord reads everything that is kept of the call that made a result (spec: record-read).
var ReadRecord = Op[ResultRequest, Record]{Declaration{
	Name: "readRecord", Method: http.MethodGet, Path: "/v1/results/{result_id}/record", Tag: "Results", Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.ResultNotFound()},
}}

// RetryResult sends the stored fields of a failed result to the model again (spec: order-of-checks-retry).
var RetryResult = Op[ResultInFormat, AnyResult]{Declaration{
	Name: "retryResult", Method: http.MethodPost, Path: "/v1/results/{result_id}/retry", Tag: "Results", Role: prism.Caller, Class: Keyed,
	ByGateway: true, Failing: true, Media: rowMedia(), Errors: []*apierr.Error{
		apierr.ResultNotFound(), apierr.PrismArchived(), apierr.OnlyFailedRetried(), apierr.AlreadyRetried(prism.ResultID{}),
	},
}}

// ResultMembers are the members of a result beside its answers.
type ResultMembers struct {
	// Reads or retries the result.
	ID string `json:"id" form:"uuid"`
	// The ref sent with the call, or null.
	Ref *string `json:"ref"`
	// The prism's slug.
	Prism string `json:"prism"`
	// The prism version that answered.
	Version int    `json:"version" min:"1"`
	Status  Status `json:"status"`
	// Why the result failed, in words. Null when the status is `ok`.
	Error *string `json:"error"`
	// How long the call to the model took, in milliseconds.
	TookMS int64 `json:"took_ms" min:"0"`
	// When the result was saved.
	CreatedAt Time `json:"created_at"`
}

// SentMembers are what was sent with the call of a result, in a list that was asked for it (spec: result-list-fields).
type SentMembers struct {
	// The value of each field, in the order of the version. Only in lists with `fields=true`.
	Fields map[string]string `json:"fields,omitzero"`
	// The context sent with the call, or null. Only in lists with `fields=true`.
	Context *string `json:"context,omitzero" null:"true"`
}

// Result is a result with its answers shaped by the prism's current Lens: editing the Lens changes what an old result shows.
type Result struct {
	ResultMembers
	// One member for each Lens column, in Lens order: a text, a number, or `yes`, `no` or `unsure`. Null for a column whose question the answer does not have. Null as a whole when the result failed.
	Answers Row `json:"answers" null:"true"`
	SentMembers
}

// RawResult is a result with the stored answer to every question.
type RawResult struct {
	ResultMembers
	// Question key to stored answer, in the version's order. Null when the result failed. Editing the Lens never changes it.
	Answers Answers `json:"answers" null:"true"`
	SentMembers
}
