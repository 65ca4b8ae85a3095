package store

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Errors that a store tells apart. Every other error is a fault of the database.
var (
	// ErrNotFound: the account has no such thing.
	ErrNotFound = errors.New("store: not found")
	// ErrSlugTaken: the account has a prism with this slug.
	ErrSlugTaken = errors.New("store: slug taken")
	// ErrArchived: the prism is archived, so its definition can't change.
	ErrArchived = errors.New("store: prism archived")
	// ErrStale: the prism has a newer version than the one the change was made against.
	ErrStale = errors.New("store: newer version")
	// ErrNameTaken: there is an account with this name.
	ErrNameTaken = errors.New("store: account name taken")
	// ErrUnavailable: the database was not reached, so nothing has happened.
	ErrUnavailable = errors.New("store: database unavailable")
	// ErrOutdated: the tables are older than this program.
	ErrOutdated = errors.New("store: the tables are not up to date; the command migrate does it")
)

// RetriedError is a retry that came second; By is the result of the first.
type RetriedError = contract.RetriedError

// Store keeps accounts, keys, prisms and results. A key digest that is unknown or revoked finds the zero account.
type Store interface {
	Answering
	Definitions
	Listing
	Keys

	// Ping tells whether the database answers.
	Ping(ctx context.Context) error
	// Close releases the connections. The store is not used afterwards.
	Close()
}

// Answering is the hot path: each method is one round trip to the database.
type Answering interface {
	// CreateFacts looks up key, prism, version and idempotency key on one snapshot.
	CreateFacts(ctx context.Context, q CreateQuery) (CreateFacts, error)
	// ResultFacts looks up key, result and its prism on one snapshot, for reads and retries.
	ResultFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (ResultFacts, error)
	// SaveResult stores a first call's result. Saving an id twice is one save and returns the first, whoever holds the
	// idempotency key by then. It returns contract.ErrKeyTaken when another result of the account holds the key, and
	// ErrNotFound when the account has no such prism version.
	SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (Saved, error)
	// SaveRetry stores the new result, marks the old one as retried by it, and moves the idempotency key, atomically; the
	// key in r is ignored. Saving the same id twice is a success. It returns *RetriedError when another result got there
	// first, and ErrNotFound when the account has no such failed result of r's prism version.
	SaveRetry(ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID) (Saved, error)
}

// CreateQuery is what CreateFacts looks up. Version 0 is the latest; an empty idempotency key is none.
type CreateQuery struct {
	Key            contract.KeyDigest
	Prism          prism.Ref
	Version        int32
	IdempotencyKey string
}

// CreateFacts is what it found. Prism is nil when the account has none such; Version is 0 when the prism has none such.
type CreateFacts struct {
	Key     KeyFacts
	Prism   *PrismRow
	Version int32
	// Stored is the result that holds the idempotency key, of whichever prism.
	Stored *prism.Result
	// StoredPrism is Stored's prism.
	StoredPrism *PrismRow
}

// ResultFacts is a result with its prism; both are nil when the account has no such result.
type ResultFacts struct {
	Key    KeyFacts
	Result *prism.Result
	Prism  *PrismRow
}

// Saved is a stored result with what formatting it needs, read in the transaction that stored it.
type Saved struct {
	Result prism.Result
	Prism  PrismRow
}

// KeyFacts is who calls. The zero value is a key that is unknown or revoked.
type KeyFacts struct {
	Account prism.AccountID
	Key     prism.KeyID
}

// PrismRow is the part of a prism that changes, and so is never cached.
type PrismRow struct {
	ID       prism.PrismID
	Slug     string
	Archived bool
	Latest   int32
	Lens     prism.Lens
}

// Definitions keeps prisms and their versions.
type Definitions interface {
	// CreatePrism stores a prism with its version 1: ErrSlugTaken.
	CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism) error
	// Prism finds a prism with its latest version, archived or not: ErrNotFound.
	Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
	// ListPrisms is a page of prisms with their latest versions, newest first.
	ListPrisms(ctx context.Context, account prism.AccountID, archived bool, page Page) ([]prism.Prism, error)
	// Version finds one version: ErrNotFound.
	Version(ctx context.Context, account prism.AccountID, id prism.PrismID, number int32) (prism.Version, error)
	// AddVersion stores v, whose number must be one above the latest, and replaces the Lens, atomically:
	// ErrNotFound, ErrArchived, ErrStale when another version came first.
	AddVersion(ctx context.Context, account prism.AccountID, id prism.PrismID, v prism.Version, l prism.Lens) error
	// PutLens replaces the Lens while the latest version is the given one: ErrNotFound, ErrArchived, ErrStale.
	PutLens(ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens) error
	// SetArchived sets or clears the time of archiving; a second archiving keeps the first time: ErrNotFound.
	SetArchived(ctx context.Context, account prism.AccountID, id prism.PrismID, at *time.Time) error
}

// Page is a keyset page: rows strictly after the position in the listing's order, from its start when After is nil.
type Page struct {
	After *Position
	Limit int
}

// Position is a row's place in a listing by time and id.
type Position = contract.Position

// Listing reads many results.
type Listing interface {
	// ListResults is a page of the account's results, newest first, without their context and fields: nobody lists those,
	// and they are most of what a result takes.
	ListResults(ctx context.Context, account prism.AccountID, f Filter, page Page) ([]Saved, error)
	// ExportResults is a page of one prism's results, oldest first. It ends early with the row that fills PageBytes; only
	// an empty page is past the last row.
	ExportResults(ctx context.Context, account prism.AccountID, id prism.PrismID, f Filter, page Page) ([]prism.Result, error)
}

// PageBytes is how much input and answers a page of an export holds, but for its last row.
const PageBytes = 4 << 20

// Filter narrows a listing; zero values narrow nothing. From is inclusive, To exclusive. Export ignores Prism and Ref.
type Filter struct {
	Prism    prism.PrismID
	Status   prism.Status
	Ref      *string
	From, To time.Time
}

// APIKey is a key as it is kept: without itself.
type APIKey struct {
	ID         prism.KeyID
	Name       string
	Prefix     string // the first characters, so that people can tell keys apart
	CreatedAt  time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Account is a stored account.
type Account struct {
	ID        prism.AccountID
	Name      string
	CreatedAt time.Time
}

// Keys keeps accounts and their API keys.
type Keys interface {
	// CreateAccount stores an account: ErrNameTaken.
	CreateAccount(ctx context.Context, id prism.AccountID, name string, at time.Time) error
	// ListAccounts returns all accounts by name.
	ListAccounts(ctx context.Context) ([]Account, error)
	// AccountByName finds an account: ErrNotFound.
	AccountByName(ctx context.Context, name string) (prism.AccountID, error)
	// Authenticate finds the account of a key: the zero value when it is unknown or revoked.
	Authenticate(ctx context.Context, key contract.KeyDigest) (KeyFacts, error)
	// CreateKey stores a key by its digest.
	CreateKey(ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest) error
	// ListKeys are the account's keys, newest first.
	ListKeys(ctx context.Context, account prism.AccountID) ([]APIKey, error)
	// RevokeKey revokes; a second revoking keeps the first time. It returns the key: ErrNotFound.
	RevokeKey(ctx context.Context, account prism.AccountID, id prism.KeyID, at time.Time) (APIKey, error)
	// RevokeAnyKey is RevokeKey for the operator, who names a key by its id alone.
	RevokeAnyKey(ctx context.Context, id prism.KeyID, at time.Time) (APIKey, error)
	// TouchKeys records when keys were last used, in one statement; an earlier time than the stored one changes nothing.
	TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error
}
