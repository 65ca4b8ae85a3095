package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// DeleteResult deletes a result for good, and frees its idempotency key (spec: result-delete).
var DeleteResult = Op[ResultRequest, None]{Declaration{
	Name: "deleteResult", Method: http.MethodDelete, Path: "/v1/results/{result_id}", Tag: "Results", Role: prism.Editor, Class: Keyed,
	Status: http.StatusNoContent, Errors: []*apierr.Error{apierr.ResultNotFound()},
}}

// ResultRequest is the request of an operation that needs a result alone.
type ResultRequest struct {
	Result prism.ResultID `path:"result_id"`
}

// DeleteResults deletes the results of a prism that match, from now on (spec: results-delete).
var DeleteResults = Op[DeleteResultsRequest, Deleting]{Declaration{
	Name: "deleteResults", Method: http.MethodPost, Path: "/v1/prisms/{prism}/results/delete", Tag: "Results", Role: prism.Editor,
	Class: Scanning, Status: http.StatusAccepted, Errors: []*apierr.Error{
		apierr.PrismNotFound(), apierr.TooManyDeletions(), apierr.MatchNow(13), apierr.NotSearchable(),
	},
}}

// DeleteResultsRequest is the request of DeleteResults.
type DeleteResultsRequest struct {
	PrismRequest
	ResultDeletion
	// Count the results, and delete none.
	DryRun bool `json:"dry_run,omitzero"`
}

// ResultDeletion is which results of a prism to delete. At least one of its members is sent; a result must match all that are. Null is
// the same as not sent.
type ResultDeletion struct {
	// Only results with this ref. The empty text finds results with an empty ref, not those without one.
	Ref *string `json:"ref,omitzero" max:"200"`
	// Only results saved at this time or later.
	From *time.Time `json:"from,omitzero"`
	// Only results saved before this time.
	Before *time.Time `json:"before,omitzero"`
	// Only results with this status.
	Status Status `json:"status,omitzero" enum:"ok,failed"`
	// Only results that this version answered.
	Version int32 `json:"version,omitzero" min:"1" max:"2147483647"`
	// Only results of this model.
	Model string `json:"model,omitzero" min:"1" max:"200"`
	// Only results of calls with the API key with this id.
	Key prism.KeyID `json:"key_id,omitzero"`
	// Only results of the run with this id.
	Run prism.RunID `json:"run,omitzero"`
	// Only results that are assigned to the member with this id, to you (`me`), or to nobody (`none`).
	Assignee string `json:"assignee,omitzero" form:"assignee"`
	// Only results with these ids.
	IDs []prism.ResultID `json:"ids,omitzero" min:"1" max:"1000"`
	SearchMembers
	// How many results match. With another number nothing is deleted. Null or not sent: any number.
	Expect *int `json:"expect,omitzero" min:"0" max:"1000000"`
}

// deletedBy are the members that select results.
var deletedBy = []string{"ref", "from", "before", "status", "version", "model", "key_id", "run", "assignee", "ids", "q", "where"}

// Missing implements the rule that something is selected (spec: results-delete-filter).
func (ResultDeletion) Missing(sent func(name string) bool) []apierr.Problem {
	if slices.ContainsFunc(deletedBy, sent) {
		return nil
	}
	return []apierr.Problem{{Path: "ref", Text: "send at least one of " + strings.Join(deletedBy, ", ")}}
}

// Status is whether a result has answers.
type Status = prism.Status

// Deleting is how many results match.
type Deleting struct {
	// Counted up to 1,000,000 and for about a second. What was not counted is deleted too.
	Deleting int `json:"deleting" min:"0" max:"1000000"`
}

// RetryResults has the failed results of a prism that match retried, if they are as many as expected (spec: retry-many).
var RetryResults = Op[RetryResultsRequest, Retrying]{Declaration{
	Name: "retryResults", Method: http.MethodPost, Path: "/v1/results/retry", Tag: "Results", Role: prism.Caller, Class: Measuring,
	Status: http.StatusAccepted, Wait: RetryWait, Errors: []*apierr.Error{
		apierr.PrismNotFound(), apierr.PrismArchived(), apierr.MatchNow(13), apierr.TooManyMatch(MaxRetried), apierr.AreRetried(), apierr.NotIndexed(),
		apierr.NotSearchable(),
	},
}}

// MaxRetried bounds the results of one RetryResults (spec: retry-many-limit).
const MaxRetried = 1_000_000

// RetryWait is how long a caller waits for RetryResults, which finds and stores up to MaxRetried ids.
const RetryWait = 10 * time.Second

// RetryResultsRequest is the request of RetryResults.
type RetryResultsRequest struct{ ResultRetry }

// ResultRetry is which failed results to retry, and how many they are. Null is the same as not sent.
type ResultRetry struct {
	// Slug or id of the prism.
	Prism string `json:"prism" min:"1" max:"200"`
	// Only failed results can be retried.
	Status Status `json:"status" enum:"failed"`
	// Only results saved at this time or later.
	From *time.Time `json:"from,omitzero"`
	// Only results saved before this time.
	To *time.Time `json:"to,omitzero"`
	SearchMembers
	// How many results match. Needed unless `dry_run` is true.
	Expect *int `json:"expect,omitzero" min:"0" max:"1000000" unless:"dry_run"`
	// Count the results, and retry none.
	DryRun bool `json:"dry_run,omitzero"`
}

// Retrying is how many results match.
type Retrying struct {
	// The failed results that were not retried yet.
	Retrying int `json:"retrying" min:"0" max:"1000000"`
}
