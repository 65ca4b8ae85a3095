// Package members keeps the people of accounts, how they sign in, and their sessions.
package members

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// How long what somebody signs in with is valid (spec: sign-in-link, session, session-key).
const (
	OperatorLinkTime = 10 * time.Minute
	InvitationTime   = 7 * 24 * time.Hour
	SessionIdleTime  = 12 * time.Hour
	SessionTime      = 7 * 24 * time.Hour
	SessionKeyTime   = 15 * time.Minute
)

// A session has at most MaxSessionKeys keys: one more takes the place of the oldest, unless that is younger than SessionKeyRest
// (spec: session-key-limit).
const (
	MaxSessionKeys = 100
	SessionKeyRest = time.Minute
)

// NewID makes a new UUIDv7: of an entry of the audit, or of a member.
type NewID = func() (prism.UUID, error)

// Store keeps the members of accounts and the rules that make members. Changes of one account's members are made one after the
// other.
type Store interface {
	// AddMember stores a member with a sign-in link, or a rule without one: ErrNotFound if there is no such account.
	AddMember(ctx context.Context, account prism.AccountID, m Member, l *Link, by store.By) error
	// ListMembers is a page of the account's members and rules, newest first.
	ListMembers(ctx context.Context, account prism.AccountID, page store.Page) (members []Member, more bool, err error)
	// ChangeMember replaces the name or role of a member or rule, and returns it. A new role revokes the member's session keys.
	// The same name and role change nothing. ErrNotFound, ErrLastOwner.
	ChangeMember(ctx context.Context, account prism.AccountID, id prism.MemberID, c api.MemberChange, by store.By) (Member, error)
	// RemoveMember removes a member or rule, with its links, its part of sessions and its session keys: ErrNotFound, ErrLastOwner.
	RemoveMember(ctx context.Context, account prism.AccountID, id prism.MemberID, by store.By) error
	// LinkMember replaces the sign-in links of a member, which is no rule, and returns it: ErrNotFound.
	LinkMember(ctx context.Context, account prism.AccountID, id prism.MemberID, l Link, by store.By) (Member, error)
	// LinkOperator adds a sign-in link of the account's operator. If there is none, m is stored as the operator; if its role is
	// another than that of m, the role is replaced. newID makes the entries beyond by's. ErrNotFound if there is no such account.
	LinkOperator(ctx context.Context, account prism.AccountID, m Member, l Link, newID NewID, by store.By) error
	// GrantClaim lets the account's rules for a claim make members without a consent, or no longer. What is so already is not
	// recorded again. ErrNotFound if there is no such account.
	GrantClaim(ctx context.Context, account prism.AccountID, c prism.Claim, granted bool, by store.By) error
	// DeclareRules replaces the rules of an account, which all have claims, by others, and the claims that are granted to it by theirs.
	// What is so already stays and is not recorded again. newID makes the rules and the entries beyond by's. ErrNotFound if there is no such account.
	DeclareRules(ctx context.Context, account prism.AccountID, rules []Member, newID NewID, by store.By) error
	// ListClaims returns the claims that are granted to the account, by name and value.
	ListClaims(ctx context.Context, account prism.AccountID) ([]prism.Claim, error)
}

// SessionStore keeps who is signed in.
type SessionStore interface {
	// Link tells whose a link is at a time: ErrLinkInvalid.
	Link(ctx context.Context, digest contract.LinkDigest, at time.Time) (contract.LinkOwner, error)
	// SignIn begins a session: ErrLinkInvalid, and ErrNotFound if an identity is a member of no account, or not of the one that it
	// names. Of two uses of a link at once one succeeds.
	SignIn(ctx context.Context, in SignIn) (contract.Session, error)
	// Session finds a session and extends it, to the minute: ErrNotFound.
	Session(ctx context.Context, digest contract.SessionDigest, now time.Time) (contract.Session, error)
	// CreateSessionKey stores an API key of a session and returns it, its expiry and its account: ErrNotFound, also if the session
	// is not of the account, and WaitError. If at the same time the session ends, or the member is removed or gets another
	// role, no key remains that is still valid or has the former role.
	CreateSessionKey(ctx context.Context, digest contract.SessionDigest, k NewSessionKey) (contract.SessionKey, error)
	// EndSession ends a session and revokes its keys. One that is not there is no error.
	EndSession(ctx context.Context, digest contract.SessionDigest, newID NewID, at time.Time) error
	// SweepSessions deletes expired links and sessions, and keys of sessions that expired more than an hour ago, up to a number of
	// each. It returns how many rows it deleted.
	SweepSessions(ctx context.Context, now time.Time) (int, error)
}

// Member is a stored member of an account, or a rule.
type Member struct {
	ID         prism.MemberID
	Name       string
	Email      string
	Role       prism.Role
	Claim      *prism.Claim   // of a rule
	SignedInBy api.SignedInBy // at the last time; "": never
	CreatedAt  time.Time
	LastSeenAt *time.Time
}

// Link is a sign-in link to store.
type Link struct {
	Digest    contract.LinkDigest
	ExpiresAt time.Time
}

// SignIn is a sign-in by a link, or by an identity with or without one.
type SignIn struct {
	Session  contract.SessionDigest
	ID       prism.UUID // of the session
	Earlier  *contract.SessionDigest
	Link     *contract.LinkDigest
	Identity *contract.Identity // nil: by the link alone
	Account  string             // the name of the account to sign in to, whose rules the identity consents to; "": none
	NewID    NewID
	At       time.Time
}

// NewSessionKey is an API key to make for an account of a session, or for its first one if the account is zero.
type NewSessionKey struct {
	Account prism.AccountID
	ID      prism.KeyID
	Digest  contract.KeyDigest
	Prefix  string
	Entry   prism.UUID
	At      time.Time
}
