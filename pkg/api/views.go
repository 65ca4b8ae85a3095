package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateView saves a view of results, which the account shares (spec: view-create).
var CreateView = Op[CreateViewRequest, View]{Declaration{
	Name: "createView", Method: http.MethodPost, Path: "/v1/views", Tag: "Views", Role: prism.Labeller, Class: Keyed,
	Status: http.StatusCreated, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.TooManyViews(), apierr.NotSearchable()},
}}

// MaxViews bounds the views of an account (spec: views-limit).
const MaxViews = 200

// CreateViewRequest is the request of CreateView.
type CreateViewRequest struct{ NewView }

// NewView is a view to save.
type NewView struct {
	// What people call it.
	Name string `json:"name" min:"1" max:"200"`
	// Which results it shows, and in which order. An empty object shows all.
	Filters ViewFilters `json:"filters"`
	// The columns of the table, in their order. Null or not sent: those that a table has by itself.
	Columns []string `json:"columns,omitzero" max:"100" each:"200"`
	// Whether the console begins with this view: of the prism of its filters, else of all results. It takes the place of the view before.
	Default bool `json:"default,omitzero"`
}

// ViewFilters are which results a view shows, as the list of results has them.
type ViewFilters struct {
	// Only results of the prism with this slug or id. In a response it is the slug.
	Prism string `json:"prism,omitzero" min:"1" max:"200"`
	// Only results with this status.
	Status Status `json:"status,omitzero" enum:"ok,failed"`
	// Only results with this ref. The empty text finds the empty ref.
	Ref *string `json:"ref,omitzero" max:"200"`
	// Only results that this version answered.
	Version int32 `json:"version,omitzero" min:"1" max:"2147483647"`
	// Only results saved at this time or later.
	From *Time `json:"from,omitzero"`
	// Only results saved before this time.
	To *Time `json:"to,omitzero"`
	// Only results of this model.
	Model string `json:"model,omitzero" min:"1" max:"200"`
	// Only results of calls with the API key with this id, or of the member.
	Key prism.KeyID `json:"key_id,omitzero"`
	// Only results of the run with this id.
	Run prism.RunID `json:"run,omitzero"`
	// Only results that are assigned to the member with this id, to whoever looks (`me`), or to nobody (`none`).
	Assignee string `json:"assignee,omitzero" form:"assignee"`
	// Only results with these words.
	Q string `json:"q,omitzero" min:"1" max:"1000"`
	// Only results for which all these conditions hold. Needs a prism.
	Where []string `json:"where,omitzero" min:"1" max:"20" each:"1000"`
	// The order.
	Sort string `json:"sort,omitzero" min:"1" max:"200"`
}

// Problems implements the rule that conditions need a prism.
func (f ViewFilters) Problems(m Sent) []apierr.Problem {
	if m.HasValue("where") && !m.HasValue("prism") {
		return []apierr.Problem{{Path: "prism", Text: "must be sent with where"}}
	}
	return nil
}

// ListViews reads a page of the views of the account, newest first (spec: view-list).
var ListViews = Op[ListViewsRequest, Page[View]]{Declaration{
	Name: "listViews", Method: http.MethodGet, Path: "/v1/views", Tag: "Views", Role: prism.Reader, Class: Listing,
}}

// ListViewsRequest is the request of ListViews.
type ListViewsRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"views"`
}

// ReplaceView replaces all of a view but its id (spec: view-replace).
var ReplaceView = Op[ReplaceViewRequest, View]{Declaration{
	Name: "replaceView", Method: http.MethodPut, Path: "/v1/views/{view_id}", Tag: "Views", Role: prism.Labeller, Class: Keyed,
	Errors: []*apierr.Error{apierr.ViewNotFound(), apierr.PrismNotFound(), apierr.NotSearchable()},
}}

// ReplaceViewRequest is the request of ReplaceView.
type ReplaceViewRequest struct {
	ViewRequest
	NewView
}

// ViewRequest is the request of an operation that needs a view alone.
type ViewRequest struct {
	// The id of the view.
	View prism.ViewID `path:"view_id" example:"0199f3c4-2b7d-7a10-9e55-6c1f8d3b2a47"`
}

// DeleteView deletes a view (spec: view-delete).
var DeleteView = Op[ViewRequest, None]{Declaration{
	Name: "deleteView", Method: http.MethodDelete, Path: "/v1/views/{view_id}", Tag: "Views", Role: prism.Labeller, Class: Keyed,
	Status: http.StatusNoContent, Errors: []*apierr.Error{apierr.ViewNotFound()},
}}

// View is a saved view of results.
type View struct {
	// Replaces and deletes the view.
	ID string `json:"id" form:"uuid"`
	// What people call it.
	Name    string      `json:"name"`
	Filters ViewFilters `json:"filters"`
	// The columns of the table, or null for those that a table has by itself.
	Columns Nullable[string] `json:"columns" null:"true"`
	// Whether the console begins with this view.
	Default bool `json:"default"`
	// When the view was saved first.
	CreatedAt Time `json:"created_at"`
}
