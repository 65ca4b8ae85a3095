package contract

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
)

// Members is the people of an account. Every method takes the digest of an owner's key, as those of Results do.
type Members interface {
	// AddMember invites a member: its body has, once, the member's sign-in link and when that expires. With a Claim it makes a
	// rule instead, which has no link: whoever signs in by OpenID Connect with the claim becomes a member.
	AddMember(ctx context.Context, key KeyDigest, n NewMember) (Response, error)
	// ListMembers is a page of the account's members and rules, newest first: {data, next_cursor}.
	ListMembers(ctx context.Context, key KeyDigest, p Page) (Response, error)
	// ChangeMember replaces the name or the role of a member or rule, and returns it: apierr.MemberNotFound, apierr.LastOwner. A new
	// role ends the member's session keys.
	ChangeMember(ctx context.Context, key KeyDigest, id prism.MemberID, c MemberChange) (Response, error)
	// RemoveMember removes a member or rule, with the member's links, sessions and session keys: apierr.MemberNotFound,
	// apierr.LastOwner. The response has no body.
	RemoveMember(ctx context.Context, key KeyDigest, id prism.MemberID) (Response, error)
	// LinkMember makes a new sign-in link of a member, which takes the place of earlier ones, and returns the member with it:
	// apierr.MemberNotFound, for a rule too.
	LinkMember(ctx context.Context, key KeyDigest, id prism.MemberID) (Response, error)
}

// NewMember is a member to invite, or a rule.
type NewMember struct {
	Name  string
	Email string `json:",omitzero"` // "": none
	Role  prism.Role
	Claim *Claim `json:",omitzero"` // of a rule, which has no Email
}

// Claim is a claim of a provider of OpenID Connect, and a value that it has or that is one of its values.
type Claim struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MemberChange is what to replace of a member. Zero values replace nothing.
type MemberChange struct {
	Name string     `json:",omitzero"`
	Role prism.Role `json:",omitzero"`
}
