package client

import (
	"context"
	"iter"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// AuditAction is what was done. A later release may have more actions.
	AuditAction = api.AuditAction
	// AuditEntry says who changed what, and when. The members of Detail depend on the action, such as "version".
	AuditEntry = api.AuditEntry
	// AuditActor is who made a change.
	AuditActor = api.AuditActor
	// AuditObject is what was changed.
	AuditObject = api.AuditObject
)

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
	VersionEmpty   AuditAction = "version.empty"
	LensReplace    AuditAction = "lens.replace"
	ResultDelete   AuditAction = "result.delete"
	ResultsDelete  AuditAction = "results.delete"
	ResultsRetry   AuditAction = "results.retry"
	ResultsAssign  AuditAction = "results.assign"
	PrismRetention AuditAction = "prism.retention"
	PrismSearch    AuditAction = "prism.searchable"
	PrismDrift     AuditAction = "prism.drift"
	FileDelete     AuditAction = "file.delete"
	RunCreate      AuditAction = "run.create"
	RunPause       AuditAction = "run.pause"
	RunResume      AuditAction = "run.resume"
	RunCancel      AuditAction = "run.cancel"
	RunRetry       AuditAction = "run.retry"
	RunLimitsSet   AuditAction = "run.limits"

	CommentDeleted AuditAction = "comment.delete"

	ViewCreated  AuditAction = "view.create"
	ViewReplaced AuditAction = "view.replace"
	ViewDeleted  AuditAction = "view.delete"

	WebhookCreated  AuditAction = "webhook.create"
	WebhookReplaced AuditAction = "webhook.replace"
	WebhookDeleted  AuditAction = "webhook.delete"
	WebhookRotated  AuditAction = "webhook.rotate"
	WebhookTested   AuditAction = "webhook.test"
	WebhookResent   AuditAction = "webhook.resend"
	WebhookDisabled AuditAction = "webhook.disable" // by a failing receiver: see DisabledReason

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
	return fetch[Page[AuditEntry]](ctx, c, declared(api.ListAudit).where(q), options)
}

// Audit iterates over the account's audit, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Audit(ctx context.Context, f AuditFilter, options ...CallOption) iter.Seq2[AuditEntry, error] {
	return pages(func(cursor string) (Page[AuditEntry], error) {
		return c.ListAudit(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}
