package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// AssignResults assigns the results of a prism that match to a member, or to nobody, if they are as many as expected (spec: assignees-put).
var AssignResults = Op[AssignResultsRequest, Assigned]{Declaration{
	Name: "assignResults", Method: http.MethodPost, Path: "/v1/prisms/{prism}/results/assign", Tag: "Comments", Role: prism.Labeller,
	Class: Scanning, Errors: []*apierr.Error{
		apierr.PrismNotFound(), apierr.MemberNotFound(), apierr.MatchNow(13), apierr.TooManyMatch(MaxAssigned), apierr.NotIndexed(),
		apierr.NotSearchable(),
	},
}}

// MaxAssigned bounds the results of one AssignResults (spec: assignees-put).
const MaxAssigned = 1000

// AssignResultsRequest is the request of AssignResults.
type AssignResultsRequest struct {
	PrismRequest
	ResultAssignment
}

// ResultAssignment is which results of a prism to assign: those for which every member holds. Null is the same as not sent, but for
// `member_id`.
type ResultAssignment struct {
	// The id of the member who is to look at the results, or null for nobody.
	Member *prism.MemberID `json:"member_id"`
	// Only results with this ref. The empty text finds results with an empty ref, not those without one.
	Ref *string `json:"ref,omitzero" max:"200"`
	// Only results saved at this time or later.
	From *time.Time `json:"from,omitzero"`
	// Only results saved before this time.
	To *time.Time `json:"to,omitzero"`
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
	// How many results match. With another number none is assigned. Needed unless `dry_run` is true.
	Expect *int `json:"expect,omitzero" min:"0" max:"1000" unless:"dry_run"`
	// Count the results, and assign none.
	DryRun bool `json:"dry_run,omitzero"`
}

// Assigned is how many results match, and whom they were assigned to before.
type Assigned struct {
	// How many results match, at most 1,000. All of them have the assignee now, unless the call was a dry run.
	Assigned int `json:"assigned" min:"0" max:"1000"`
	// The results that had another assignee, by the one that they had. Assigning each group to it again undoes the call. Empty of a dry run.
	Before []AssignedBefore `json:"before"`
}

// AssignedBefore are results that had the same assignee.
type AssignedBefore struct {
	// The id of the member, or null for nobody.
	Member *string `json:"member_id" form:"uuid"`
	// The ids of the results, oldest first.
	IDs []string `json:"ids" form:"uuid"`
}
