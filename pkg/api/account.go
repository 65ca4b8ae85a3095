package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/prism"
)

// ReadAccount reads the account of the key, its limits, and what it has (spec: account-read).
var ReadAccount = Op[ReadAccountRequest, Account]{Declaration{
	Name: "readAccount", Method: http.MethodGet, Path: "/v1/account", Tag: "Usage", Role: prism.Reader, Class: Listing,
}}

// ReadAccountRequest is the request of ReadAccount.
type ReadAccountRequest struct{}

// Account is the account of the key, its limits, and what it has.
type Account struct {
	// The id.
	ID string `json:"id" form:"uuid"`
	// What the operator calls it.
	Name string `json:"name"`
	// When the account was made.
	CreatedAt Time `json:"created_at"`
	// What the operator limits.
	Limits AccountLimits `json:"limits"`
	// The prisms that are not archived.
	Prisms int64 `json:"prisms" min:"0"`
	// The API keys that are not revoked.
	Keys int64 `json:"keys" min:"0"`
	// The members, without rules.
	Members int64 `json:"members" min:"0"`
	// What results and files have.
	StoredBytes int64 `json:"stored_bytes" min:"0"`
}

// AccountLimits are the limits of an account. Null is no limit.
type AccountLimits struct {
	// Requests a second.
	RequestsPerSecond *int64 `json:"requests_per_second" min:"1"`
	// Requests in flight.
	Concurrency *int64 `json:"concurrency" min:"1"`
	// Results that a day of UTC may save.
	ResultsPerDay *int64 `json:"results_per_day" min:"1"`
	// What results and files may have.
	StoredBytes *int64 `json:"stored_bytes" min:"1"`
}
