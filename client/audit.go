package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// AuditAction is what was done. A later release may have more actions.
type AuditAction string

// The actions.
const (
	AccountCreate  AuditAction = "account.create"
	AccountLimits  AuditAction = "account.limits"
	AccountClaims  AuditAction = "account.claims"
	KeyCreate      AuditAction = "key.create"
	KeyRevoke      AuditAction = "key.revoke"
	PrismCreate    AuditAction = "prism.create"
	PrismRename    AuditAction = "prism.rename"
	PrismArchive   AuditAction = "prism.archive"
	PrismUnarchive AuditAction = "prism.unarchive"
	VersionCreate  AuditAction = "version.create"
	LensReplace    AuditAction = "lens.replace"
	ResultDelete   AuditAction = "result.delete"
	ResultsDelete  AuditAction = "results.delete"
	ResultsRetry   AuditAction = "results.retry"
	PrismRetention AuditAction = "prism.retention"
	PrismDrift     AuditAction = "prism.drift"
	FileDelete     AuditAction = "file.delete"
	RunCreate      AuditAction = "run.create"
	RunPause       AuditAction = "run.pause"
	RunResume      AuditAction = "run.resume"
	RunCancel      AuditAction = "run.cancel"
	RunRetry       AuditAction = "run.retry"
	RunLimitsSet   AuditAction = "run.limits"

	MemberAdded   AuditAction = "member.add"
	MemberChanged AuditAction = "member.change"
	MemberRemoved AuditAction = "member.remove"
	MemberLinked  AuditAction = "member.link"
	MemberSignIn  AuditAction = "member.sign_in"
	MemberKey     AuditAction = "member.key" // a key of a session of the console was made
	MemberSignOut AuditAction = "member.sign_out"

	CalibrationCreated AuditAction = "calibration.create"
	CalibrationPinned  AuditAction = "calibration.pin"
)

// AuditEntry says who changed what, and when.
type AuditEntry struct {
	ID     string         `json:"id"`
	At     Time           `json:"at"`
	Actor  AuditActor     `json:"actor"`
	Action AuditAction    `json:"action"`
	Object AuditObject    `json:"object"`
	Detail map[string]any `json:"detail"` // the members depend on the action, such as "version"
}

// AuditActor is who made a change.
type AuditActor struct {
	Kind string  `json:"kind"` // "key", "member", "operator" or "retention"
	ID   *string `json:"id"`   // of the key or member, else nil
	Name string  `json:"name"`
}

// AuditObject is what was changed.
type AuditObject struct {
	Kind string `json:"kind"` // "account", "key", "member", "prism", "result", "file" or "run"
	ID   string `json:"id"`
	Name string `json:"name"` // of an account, a key, a member, a file or a run; the slug of a prism; empty for a result
}

// AuditFilter selects entries; an empty member selects all.
type AuditFilter struct {
	From  time.Time // only changes made then or later
	To    time.Time // only changes made before then
	Actor string    // the id of a key or member, "operator" or "retention"
}

// ListAudit returns one page of the account's audit, newest first. It needs a key with the role Owner.
func (c *Client) ListAudit(ctx context.Context, f AuditFilter, o PageOptions, options ...CallOption) (Page[AuditEntry], error) {
	q := o.query()
	setTime(q, "from", f.From)
	setTime(q, "to", f.To)
	set(q, "actor", f.Actor)
	return fetch[Page[AuditEntry]](ctx, c, request("listAudit", http.MethodGet, "audit").where(q), options)
}

// Audit iterates over the account's audit, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Audit(ctx context.Context, f AuditFilter, options ...CallOption) iter.Seq2[AuditEntry, error] {
	return pages(func(cursor string) (Page[AuditEntry], error) {
		return c.ListAudit(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}
