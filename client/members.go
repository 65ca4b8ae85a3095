package client

import (
	"context"
	"iter"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// Claim is a claim of OpenID Connect and its value, or one of its values.
	Claim = api.Claim
	// NewMember is a member to invite, or with a Claim a rule: whoever signs in by OpenID Connect with the claim becomes a member
	// with the role, if the operator has granted the claim to the account or the person agrees.
	NewMember = api.NewMember
	// MemberChange is what to replace of a member or rule; an empty member replaces nothing.
	MemberChange = api.MemberChange
	// SignedInBy is how a member signed in.
	SignedInBy = api.SignedInBy
	// Member is a person of an account who signs in to the console, or a rule that makes members.
	Member = api.Member
)

// The ways of signing in.
const (
	ByLink   = api.ByLink
	ByOpenID = api.ByOpenID
)

// InvitedMember is a member with its sign-in link. Both are zero for a rule.
type InvitedMember struct {
	Member
	// Link is the path of the sign-in link, behind the address of the console. It is shown only here, and used once.
	Link      Secret `json:"link,omitzero"`
	ExpiresAt Time   `json:"expires_at,omitzero"`
}

// AddMember invites a member, or makes a rule.
func (c *Client) AddMember(ctx context.Context, m NewMember, options ...CallOption) (InvitedMember, error) {
	return fetch[InvitedMember](ctx, c, declared(api.AddMember).sending(m), options)
}

// ListMembers returns one page of the account's members and rules, newest first.
func (c *Client) ListMembers(ctx context.Context, o PageOptions, options ...CallOption) (Page[Member], error) {
	return fetch[Page[Member]](ctx, c, declared(api.ListMembers).where(o.query()), options)
}

// Members iterates over the account's members and rules, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Members(ctx context.Context, options ...CallOption) iter.Seq2[Member, error] {
	return pages(func(cursor string) (Page[Member], error) {
		return c.ListMembers(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ChangeMember replaces the name or the role of a member or rule. Another role for the last owner is ErrConflict.
func (c *Client) ChangeMember(ctx context.Context, id string, m MemberChange, options ...CallOption) (Member, error) {
	return fetch[Member](ctx, c, declared(api.ChangeMember, id).sending(m), options)
}

// RemoveMember removes a member or rule. To remove the last owner is ErrConflict.
func (c *Client) RemoveMember(ctx context.Context, id string, options ...CallOption) error {
	return c.remove(ctx, declared(api.RemoveMember, id), options)
}

// LinkMember makes a new sign-in link of a member, in place of earlier ones.
func (c *Client) LinkMember(ctx context.Context, id string, options ...CallOption) (InvitedMember, error) {
	return fetch[InvitedMember](ctx, c, declared(api.LinkMember, id), options)
}
