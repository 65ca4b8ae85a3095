package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// LinkDigest is the SHA-256 of the 32 base62 characters of a sign-in link, whose text stays in the console (spec: sign-in-link).
type LinkDigest [32]byte

// SessionDigest is the SHA-256 of the 32 base62 characters of a session, whose text stays in the console (spec: session).
type SessionDigest [32]byte

// Console is what the service console asks results for: who is signed in, with no API key.
type Console interface {
	// Link tells whose a link is, and does not use it up: apierr.LinkInvalid.
	Link(ctx context.Context, link LinkDigest) (LinkOwner, error)
	// SignIn uses a link up and begins a session of its member: apierr.LinkInvalid.
	SignIn(ctx context.Context, s SignIn) (Session, error)
	// SignInAs begins a session of the person whom an OpenID Connect provider has identified. The session is of every account in
	// which the identity is a member, or in which a rule makes it a member, and of the account of the link, if there is a link:
	// apierr.LinkInvalid, apierr.NotAMember. A rule needs the operator's grant, except of the account that the sign-in names.
	SignInAs(ctx context.Context, s SignInAs) (Session, error)
	// Session finds a session, and counts as its use: apierr.NotSignedIn.
	Session(ctx context.Context, session SessionDigest) (Session, error)
	// SessionKey makes an API key for one of the session's accounts, or for the first one if the account is zero:
	// apierr.NotSignedIn, if the session is not of the account too, and apierr.UnavailableFor if the session has 100 keys that are
	// younger than a minute. It counts as a use of the session.
	SessionKey(ctx context.Context, session SessionDigest, account prism.AccountID) (SessionKey, error)
	// Leave removes the session's member from an account: apierr.NotSignedIn, if the session is not of the account too, and
	// apierr.LastOwner.
	Leave(ctx context.Context, session SessionDigest, account prism.AccountID) error
	// EndSession ends a session and its keys. Ending one that is not there is no error.
	EndSession(ctx context.Context, session SessionDigest) error
}

// LinkOwner is whom a link signs in, and until when.
type LinkOwner struct {
	Account   SessionAccount
	ExpiresAt time.Time
}

// SignIn is the use of a link.
type SignIn struct {
	Link    LinkDigest
	Session SessionDigest // the session to begin
	// Earlier is the session of the same browser: it ends, and the new one is of its accounts too.
	Earlier *SessionDigest `json:",omitzero"`
}

// SignInAs is a sign-in by OpenID Connect.
type SignInAs struct {
	Identity Identity
	Session  SessionDigest // the session to begin
	// Link is an invitation: its member gets the identity, unless the identity is a member of the account already.
	Link *LinkDigest `json:",omitzero"`
	// Account is the name of the account to sign in to, of which the person agrees to become a member by a rule. It comes first.
	// apierr.NotAMember if the person is no member of it then.
	Account string `json:",omitzero"`
	// Earlier is as in SignIn.
	Earlier *SessionDigest `json:",omitzero"`
}

// Identity is what a verified ID token says of who signs in. Issuer and Subject together name the person.
type Identity struct {
	Issuer, Subject string
	Name, Email     string `json:",omitzero"` // "": not known
	EmailVerified   bool   `json:",omitzero"`
	// Claims are the texts of each claim: one, or those of a list. The claim email counts only if EmailVerified.
	Claims map[string][]string `json:",omitzero"`
}

// Session is somebody who is signed in.
type Session struct {
	// Accounts are those of the session, at least one, in the order of the rule session-accounts.
	Accounts []SessionAccount
	// Now is when the session was read, ExpiresAt when it ends unless it is used, and EndsAt when it ends at the latest: all by the
	// clock of results.
	Now, ExpiresAt, EndsAt time.Time
}

// SessionAccount is an account of a session, and who the session's member is there.
type SessionAccount struct {
	ID     prism.AccountID
	Name   string
	Member SessionMember
}

// SessionMember is a member as the console shows it.
type SessionMember struct {
	ID   prism.MemberID
	Name string
	Role prism.Role
}

// SessionKey is a new API key of a session. Key is its text, which is nowhere else.
type SessionKey struct {
	Key       string
	ExpiresAt time.Time
	Account   SessionAccount
}
