package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// SetRetention has the results of a prism deleted when they are older (spec: retention-set).
var SetRetention = Op[SetRetentionRequest, Prism]{Declaration{
	Name: "setRetention", Method: http.MethodPut, Path: "/v1/prisms/{prism}/retention", Tag: "Prisms", Role: prism.Editor, Class: Keyed,
	ETag: true, Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// SetRetentionRequest is the request of SetRetention.
type SetRetentionRequest struct {
	Prism prism.Ref `path:"prism"`
	Retention
}

// Retention is how long results are kept.
type Retention struct {
	// The days, or null to keep results.
	Days *int `json:"days" min:"1" max:"3650"`
}
