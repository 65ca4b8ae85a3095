package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// ListChanges reads what happened to results, oldest first (spec: changes-list).
var ListChanges = Op[ListChangesRequest, Changes]{Declaration{
	Name: "listChanges", Method: http.MethodGet, Path: "/v1/changes", Tag: "Results", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.ChangesGone()},
}}

// ListChangesRequest is the request of ListChanges.
type ListChangesRequest struct {
	// The `seq` behind which the page begins: `next` of the page before. 0 is before the first change that is kept.
	After int64 `query:"after" min:"0" max:"9007199254740991" default:"0"`
	// Only changes of results of this prism, by its slug or id.
	Prism *prism.Ref `query:"prism" max:"200"`
	// How many changes a page has at most.
	Limit int `query:"limit" min:"1" max:"1000" default:"100"`
	// How many seconds to wait for a change, if there is none.
	Wait int `query:"wait" min:"0" max:"30" default:"0"`
}

// Changes is a page of changes.
type Changes struct {
	// The changes, in the order of their numbers.
	Data []Change `json:"data"`
	// Send it as `after` to read what follows. It may be above the last `seq` of the page.
	Next int64 `json:"next" min:"0"`
}

// Change is a change of a result.
type Change struct {
	// Its number, above those of all changes of the account before it.
	Seq int64 `json:"seq" min:"1"`
	// When it was made.
	At Time `json:"at"`
	// What happened.
	Type ChangeType `json:"type"`
	// The result.
	ResultID string `json:"result_id" form:"uuid"`
	// The slug of its prism.
	Prism string `json:"prism"`
}

// ChangeType is what happened to a result. A later release may have more types.
type ChangeType string

// The types of changes.
const (
	ChangeCreated  ChangeType = "created"
	ChangeRetried  ChangeType = "retried" // another result is its retry
	ChangeLabelled ChangeType = "labelled"
	ChangeDeleted  ChangeType = "deleted"
)

// Values are all of them.
func (ChangeType) Values() []string {
	return []string{string(ChangeCreated), string(ChangeRetried), string(ChangeLabelled), string(ChangeDeleted)}
}
