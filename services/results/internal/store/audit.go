package store

import (
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// By says who makes a change, and when. A method that takes one writes an entry of the audit in the transaction of the
// change, so that both are stored or neither (spec: audit-in-the-transaction). A call that changes nothing writes none.
type By struct {
	Entry prism.UUID // a new UUIDv7: the id of the entry; zero for the deletion of a file that no caller knows of, which has none
	At    time.Time
	Actor Actor
}

// Actor is an API key, a member, an operator, the retention of a prism, or what sends events to webhooks.
type Actor struct {
	Kind ActorKind
	Key  prism.KeyID // of a key, or the id of a member; else zero
	// Name is the name of the operator, the key or the member, "retention" or "webhooks". The store finds the name of a key or member when it
	// writes an entry.
	Name string
}

// ActorKind says what an actor is.
type ActorKind string

// The kinds of actors.
const (
	KeyActor       ActorKind = "key"
	MemberActor    ActorKind = "member"
	OperatorActor  ActorKind = "operator"
	RetentionActor ActorKind = "retention"
	WebhookActor   ActorKind = "webhooks" // what sends events, and disables a webhook whose receiver fails
)

// Action is what was done (spec: audit-actions).
type Action string

// The actions.
const (
	AccountCreate  Action = "account.create"
	AccountLimits  Action = "account.limits"
	AccountClaims  Action = "account.claims"
	KeyCreate      Action = "key.create"
	KeyRevoke      Action = "key.revoke"
	PrismCreate    Action = "prism.create"
	PrismRename    Action = "prism.rename"
	PrismArchive   Action = "prism.archive"
	PrismUnarchive Action = "prism.unarchive"
	VersionCreate  Action = "version.create"
	VersionEmpty   Action = "version.empty"
	LensReplace    Action = "lens.replace"
	ResultDelete   Action = "result.delete"
	ResultsDelete  Action = "results.delete"
	ResultsRetry   Action = "results.retry"
	ResultsAssign  Action = "results.assign"
	PrismRetention Action = "prism.retention"
	PrismDrift     Action = "prism.drift"
	PrismSearch    Action = "prism.searchable"
	FileDelete     Action = "file.delete"
	RunCreate      Action = "run.create"
	RunPause       Action = "run.pause"
	RunResume      Action = "run.resume"
	RunCancel      Action = "run.cancel"
	RunRetry       Action = "run.retry"
	RunLimits      Action = "run.limits"
	CommentDelete  Action = "comment.delete"
	ViewCreate     Action = "view.create"
	ViewReplace    Action = "view.replace"
	ViewDelete     Action = "view.delete"
	WebhookCreate  Action = "webhook.create"
	WebhookReplace Action = "webhook.replace"
	WebhookDelete  Action = "webhook.delete"
	WebhookRotate  Action = "webhook.rotate"
	WebhookTest    Action = "webhook.test"
	WebhookResend  Action = "webhook.resend"
	WebhookDisable Action = "webhook.disable"
	MemberAdd      Action = "member.add"
	MemberChange   Action = "member.change"
	MemberRemove   Action = "member.remove"
	MemberLink     Action = "member.link"
	MemberSignIn   Action = "member.sign_in"
	MemberKey      Action = "member.key"
	MemberSignOut  Action = "member.sign_out"

	CalibrationCreate Action = "calibration.create"
	CalibrationPin    Action = "calibration.pin"
)

// Object is what an action was done to. Name is the name of an account, a key, a member, a file, a run or a view, the slug of a prism, or the origin of the URL of a webhook;
// a result has none.
type Object struct {
	Kind ObjectKind
	ID   prism.UUID
	Name string
}

// ObjectKind says what an object is.
type ObjectKind string

// The kinds of objects.
const (
	AccountObject ObjectKind = "account"
	KeyObject     ObjectKind = "key"
	MemberObject  ObjectKind = "member"
	PrismObject   ObjectKind = "prism"
	ResultObject  ObjectKind = "result"
	FileObject    ObjectKind = "file"
	RunObject     ObjectKind = "run"
	ViewObject    ObjectKind = "view"
	WebhookObject ObjectKind = "webhook"
)
