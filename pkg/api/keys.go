package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateKey makes an API key, whose text only this response has (spec: key-create).
var CreateKey = Op[CreateKeyRequest, CreatedAPIKey]{Declaration{
	Name: "createKey", Method: http.MethodPost, Path: "/v1/keys", Tag: "API keys", Role: prism.Owner, Class: Keyed,
	Status: http.StatusCreated, Errors: []*apierr.Error{apierr.TooManyKeys()},
}}

// CreateKeyRequest is the request of CreateKey.
type CreateKeyRequest struct{ NewKey }

// NewKey is a key to be.
type NewKey struct {
	// What people call it.
	Name string `json:"name" min:"1" max:"200"`
	// What the key may do. Null or not sent: `owner`.
	Role Role `json:"role,omitzero"`
	// From this time on the key is refused. Null or not sent: never.
	ExpiresAt *time.Time `json:"expires_at,omitzero"`
}

// Role is what a key or a member may do.
type Role = prism.Role

// APIKey is an API key without its text.
type APIKey struct {
	// Revokes the key.
	ID string `json:"id" form:"uuid"`
	// What people call it.
	Name string `json:"name"`
	// The first characters of the key, to tell keys apart.
	Prefix string `json:"prefix"`
	// What the key may do.
	Role Role `json:"role"`
	// When the key was created.
	CreatedAt Time `json:"created_at"`
	// When the key ends, or null.
	ExpiresAt *Time `json:"expires_at"`
	// When the key was last used, right to the minute, or null.
	LastUsedAt *Time `json:"last_used_at"`
	// When the key was revoked, or null.
	RevokedAt *Time `json:"revoked_at"`
}

// CreatedAPIKey is a new API key with its text, which is shown this once and not stored.
type CreatedAPIKey struct {
	APIKey
	// `prism_`, 32 random characters and 6 that check them.
	Key string `json:"key" form:"api-key"`
}

// ListKeys reads a page of the keys of the account, newest first (spec: key-list).
var ListKeys = Op[ListKeysRequest, Page[APIKey]]{Declaration{
	Name: "listKeys", Method: http.MethodGet, Path: "/v1/keys", Tag: "API keys", Role: prism.Owner, Class: Listing,
}}

// ListKeysRequest is the request of ListKeys.
type ListKeysRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"keys"`
}

// RevokeKey revokes a key for every request that arrives after the response (spec: key-revocation).
var RevokeKey = Op[RevokeKeyRequest, APIKey]{Declaration{
	Name: "revokeKey", Method: http.MethodPost, Path: "/v1/keys/{key_id}/revoke", Tag: "API keys", Role: prism.Owner, Class: Keyed,
	Repeatable: true, Errors: []*apierr.Error{apierr.KeyNotFound()},
}}

// RevokeKeyRequest is the request of RevokeKey.
type RevokeKeyRequest struct {
	// The id of the key.
	Key prism.KeyID `path:"key_id" example:"0199f0b6-8e31-7a1d-9c57-d40b6f8e2a93"`
}
