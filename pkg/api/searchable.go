package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// SetSearchable has searches find the results of a prism, or leave them out (spec: prism-searchable).
var SetSearchable = Op[SetSearchableRequest, Prism]{Declaration{
	Name: "setSearchable", Method: http.MethodPut, Path: "/v1/prisms/{prism}/searchable", Tag: "Prisms", Role: prism.Editor, Class: Keyed,
	ETag: true, Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// SetSearchableRequest is the request of SetSearchable.
type SetSearchableRequest struct {
	PrismRequest
	Searchable
}

// Searchable is whether searches find results.
type Searchable struct {
	// `false` leaves the results out of searches, and out of their index.
	Searchable bool `json:"searchable"`
}
