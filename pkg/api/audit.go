package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// ListAudit reads a page of who changed what, newest first (spec: audit-list).
var ListAudit = Op[ListAuditRequest, Page[AuditEntry]]{Declaration{
	Name: "listAudit", Method: http.MethodGet, Path: "/v1/audit", Tag: "Audit", Role: prism.Owner, Class: Listing,
}}

// ListAuditRequest is the request of ListAudit.
type ListAuditRequest struct {
	// Only changes made at this time or later.
	From time.Time `query:"from"`
	// Only changes made before this time.
	To time.Time `query:"to"`
	// Only changes made with the key or by the member with this id, in any letter case, by operators: `operator`, by the retention of prisms: `retention`, or by what sends events: `webhooks`.
	Actor string `query:"actor" form:"actor"`
	PageRequest
	Cursor string `query:"cursor" list:"audit"`
}

// AuditEntry is who changed what, and when.
type AuditEntry struct {
	// Orders the entries.
	ID string `json:"id" form:"uuid"`
	// When the call was made.
	At Time `json:"at"`
	// Who made the change.
	Actor AuditActor `json:"actor"`
	// What was done.
	Action AuditAction `json:"action"`
	// What it was done to.
	Object AuditObject `json:"object"`
	// More about the change. Its members depend on the action.
	Detail map[string]any `json:"detail"`
}

// AuditAction is what was done. A later release may have more actions.
type AuditAction string

// AuditActor is a key, a member, the operator of the server, the retention of a prism, or what sends events to webhooks.
type AuditActor struct {
	// What the actor is.
	Kind string `json:"kind" enum:"key,member,operator,retention,webhooks"`
	// The id of the key or the member, else null.
	ID *string `json:"id" form:"uuid"`
	// The name of the key, the member or the operator, or `retention` or `webhooks`.
	Name string `json:"name"`
}

// AuditObject is an account, a key, a member, a prism, a result, a file, a run, a view or a webhook.
type AuditObject struct {
	// What the object is.
	Kind string `json:"kind" enum:"account,key,member,prism,result,file,run,view,webhook"`
	// The id of the object.
	ID string `json:"id" form:"uuid"`
	// The name of an account, a key, a member, a file, a run or a view, the slug of a prism, or the origin of the URL of a webhook. Empty for a result.
	Name string `json:"name"`
}
