// Package store has what the slices of results and their databases share: the errors that callers distinguish, actors, pages and filters, and
// results as they are stored. Each slice says in its own interface Store what it needs of a database; Postgres and SQLite implement all, and
// both pass one suite, package storetest.
package store

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Errors that callers of a store distinguish. Every other error is a fault of the database.
var (
	// ErrNotFound: the account has no such row.
	ErrNotFound = errors.New("store: not found")
	// ErrSlugTaken: another prism of the account has this slug.
	ErrSlugTaken = errors.New("store: slug taken")
	// ErrArchived: the prism is archived, so its definition can't change.
	ErrArchived = errors.New("store: prism archived")
	// ErrStale: the prism has a newer version than the one that the change is based on.
	ErrStale = errors.New("store: newer version")
	// ErrNameTaken: another account has this name.
	ErrNameTaken = errors.New("store: account name taken")
	// ErrTooManyKeys: the account has as many keys that are not revoked as it may have.
	ErrTooManyKeys = errors.New("store: too many active keys")
	// ErrTooManyAdHoc: the account has as many ad-hoc prisms as it may have.
	ErrTooManyAdHoc = errors.New("store: too many ad-hoc prisms")
	// ErrTooManyDeletions: the account has as many deletions of calls under way as it may have.
	ErrTooManyDeletions = errors.New("store: too many deletions")
	// ErrTooManyViews: the account has as many views as it may have.
	ErrTooManyViews = errors.New("store: too many views")
	// ErrTooManyWebhooks: the account has as many webhooks as it may have.
	ErrTooManyWebhooks = errors.New("store: too many webhooks")
	// ErrWebhookDisabled: events of the webhook are not sent.
	ErrWebhookDisabled = errors.New("store: the webhook is disabled")
	// ErrNoDelivery: the webhook has no such delivery.
	ErrNoDelivery = errors.New("store: no such delivery")
	// ErrDeliveryWaits: the delivery is still to be sent.
	ErrDeliveryWaits = errors.New("store: the delivery waits")
	// ErrTooManyComments: the result has as many comments as it may have.
	ErrTooManyComments = errors.New("store: too many comments")
	// ErrNotAuthor: the comment is somebody else's.
	ErrNotAuthor = errors.New("store: not the author")
	// ErrNoMember: the account has no such member.
	ErrNoMember = errors.New("store: no such member")
	// ErrUnavailable: the database was not reached, so nothing has changed.
	ErrUnavailable = errors.New("store: database unavailable")
	// ErrUnwritable is an ErrUnavailable: the database was reached and cannot write, so nothing has changed.
	ErrUnwritable = fmt.Errorf("%w for writing", ErrUnavailable)
	// ErrFull is an ErrUnwritable: the disk is full.
	ErrFull = fmt.Errorf("%w: the disk is full", ErrUnwritable)
	// ErrOutdated: the tables are older than this program.
	ErrOutdated = errors.New("store: the tables are out of date; run the command migrate")
	// ErrChangesRemoved: changes behind the given one were removed.
	ErrChangesRemoved = errors.New("store: changes were removed")
	// ErrNoSuchChange: the account has no such change yet. It was read before the database was restored.
	ErrNoSuchChange = errors.New("store: no such change")
	// ErrPredates: the database was made before the first release, and no migration leads from it.
	ErrPredates = errors.New("store: the database was made by a Prism before 1.0.0, and no migration leads from it: " +
		"start with an empty one, and keep this one with the program that made it")
)

// Baseline is the number of the migration that makes the schema of Prism 1.0.0. Databases from before have migrations of lower numbers.
const Baseline = 100

// CheckBaseline refuses a database by the number of its last migration, which is 0 if it has none: ErrPredates
// (spec: baseline).
func CheckBaseline(last int64) error {
	if 0 < last && last < Baseline {
		return ErrPredates
	}
	return nil
}

// RetriedError reports that another result retried the same result first; By is that other result.
type RetriedError = contract.RetriedError

// Input says whether to load what a result sent to the model, its context and field values, which are most of its size, and
// what only retries and repeats need. Without them, Context, Fields, IdempotencyKey and RetriedBy of a Result are empty.
type Input bool

// The values of Input.
const (
	WithInput    Input = true
	WithoutInput Input = false
)

// CreateFacts is what a contract.CreateQuery finds. Prism is nil if the account has no such prism; Version is 0 if the
// prism has no such version.
type CreateFacts struct {
	Caller  Caller
	Prism   *PrismState
	Version int32
	// Stored is the result that holds the idempotency key, whichever prism it is of, and StoredPrism is its prism.
	Stored      *prism.Result
	StoredPrism *PrismState
}

// ResultFacts is a result and its prism; both are nil if the account has no such result.
type ResultFacts struct {
	Caller Caller
	Result *prism.Result
	Prism  *PrismState
}

// Saved is a stored result and its prism.
type Saved struct {
	Result prism.Result
	Prism  PrismState
	RunRow int64 // only in a Record and in a list of a run's results; the first row of a file is 1
}

// Record is everything that the row of a result has. Key and Call of its Result are set only here.
type Record struct {
	Saved
	RetryOf *prism.ResultID // the result that this one retried
	Run     *prism.RunID    // whose row RunRow the result is of; nil for the result of a call
}

// Caller is the API key of a request and its account. The zero value stands for a key that is unknown or revoked. A key
// that has expired is found: the caller of the store compares ExpiresAt with its clock.
type Caller struct {
	Account   prism.AccountID
	Key       prism.KeyID // of a session's key: the id of its member (spec: session-key-id)
	Role      prism.Role
	ExpiresAt *time.Time
	Member    bool // the key is a session's; only Authenticate tells
}

// Actor is the caller as the audit names it.
func (c Caller) Actor() Actor {
	if c.Member {
		return Actor{Kind: MemberActor, Key: c.Key}
	}
	return Actor{Kind: KeyActor, Key: c.Key}
}

// PrismState is the part of a prism that can change, and so is never cached. Callers may cache what they read from its Lens.
type PrismState struct {
	ID       prism.PrismID
	Slug     string
	Archived bool
	Latest   int32  // number of the latest version
	Lens     string // prism.Lens in JSON, as it is stored
	Pins     prism.PinsID
	// VersionsHash is that of prism.Prism.
	VersionsHash int64
}

// ListBytes bounds the texts and JSON of a page of a list with more than one row, as they are stored (spec: page-bytes).
const ListBytes = 4 << 20

// Page is a page of a list ordered by id: the rows strictly after the row with the id After, or from the start of the
// list if After is the zero id.
//
// A method whose name begins with List returns a page, and whether there are more rows behind it. The page ends early before the
// row that would exceed ListBytes, unless it is the first. The other methods that take a Page say when theirs ends.
type Page struct {
	After prism.UUID
	// Until is the id of the last row that ListResults looks at; zero for no end.
	Until prism.UUID
	Limit int
}

// Before is the upper bound of the ids of a page whose first row is the newest: After, or for the first page an id that
// is greater than every UUIDv7.
func (p Page) Before() prism.UUID {
	if p.After.IsZero() {
		return prism.UUID(bytes.Repeat([]byte{0xff}, len(p.After)))
	}
	return p.After
}

// PageBytes bounds the size of a page of an export with more than one row (spec: export-is-streamed).
const PageBytes = 256 << 10

// Size is the approximate size of a result's input and answers.
func Size(r prism.Result) int {
	n := len(r.Context) + len(r.Answers)
	for _, f := range r.Fields {
		n += len(f.Key) + len(f.Value)
	}
	return n
}

// ResultOf is the result that a save stores at a time.
func ResultOf(in contract.Save, at time.Time) prism.Result {
	r := prism.Result{
		ID: in.ID, Prism: in.Prism, Version: in.Version, Ref: in.Ref, Context: in.Context, Fields: in.Fields,
		Status: prism.OK, Error: in.Outcome.Error, TookMS: in.Outcome.TookMS, CreatedAt: at,
		Answers: in.Outcome.Answers, IdempotencyKey: in.IdempotencyKey,
		Key: in.Key, Call: in.Outcome.Call,
	}
	if in.Outcome.Failed() {
		r.Status, r.Answers = prism.Failed, nil
	}
	return r
}

// Filter narrows a list; zero values narrow nothing. From (inclusive) and To (exclusive) bound the time of saving.
// ExportResults ignores Prism, Ref and Version.
type Filter struct {
	Prism    prism.PrismID
	Status   prism.Status
	Ref      *string
	Version  int32
	Model    string       // the configured model that was asked last
	Key      *prism.KeyID // that made the call
	Run      *prism.RunID
	Assignee *prism.MemberID // zero: nobody
	From, To time.Time
	IDs      []prism.UUID // up to sqldb.PartSize; nil: any
}

// MaxIDAge bounds how far the time in a result's id and the time of its saving are apart. The id is created before the
// model is called, so the id is up to a minute older; a day leaves room for clocks that disagree. So a filter by the time
// of saving is also a range of ids, which an index finds.
const MaxIDAge = 24 * time.Hour

// MaxIDLead bounds how much later the time in a result's id can be than the time of its saving. Ids have the time of the database,
// but in early releases they had that of a gateway, whose clock may have been ahead. So a list of the results up to a time reads,
// and skips, some that were saved later.
const MaxIDLead = time.Hour

// LabelOrigin is where a label comes from.
type LabelOrigin string

// The origins.
const (
	LabelOfCall LabelOrigin = "call"
	LabelOfFile LabelOrigin = "file" // of a run, whose whole column was stored
)

// Storage is the bytes that the results and files of an account have, and those that they may have (spec: stored-bytes). An account
// with as many is full.
type Storage struct{ Bytes, Limit int64 }

// NoRoomError tells that a file would have an account store more than Limit bytes.
type NoRoomError struct{ Limit int64 }

func (e *NoRoomError) Error() string { return fmt.Sprintf("store: no room in %d bytes", e.Limit) }
