package client

import (
	"context"
	"iter"
	"net/http"
)

// Claim is a claim of OpenID Connect and its value, or one of its values.
type Claim struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NewMember is a member to invite, or with a Claim a rule: whoever signs in by OpenID Connect with the claim becomes a member
// with the role, if the operator has granted the claim to the account or the person agrees.
type NewMember struct {
	Name  string `json:"name"`
	Email string `json:"email,omitempty"` // not with a Claim
	Role  Role   `json:"role"`
	Claim *Claim `json:"claim,omitempty"`
}

// MemberChange is what to replace of a member or rule; an empty member replaces nothing.
type MemberChange struct {
	Name string `json:"name,omitempty"`
	Role Role   `json:"role,omitempty"`
}

// SignedInBy is how a member signed in.
type SignedInBy string

// The ways of signing in.
const (
	ByLink   SignedInBy = "link"
	ByOpenID SignedInBy = "openid"
)

// Member is a person of an account who signs in to the console, or a rule that makes members.
type Member struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Email      *string     `json:"email"`
	Role       Role        `json:"role"`
	Claim      *Claim      `json:"claim"`        // of a rule
	SignedInBy *SignedInBy `json:"signed_in_by"` // the last time; nil: never
	CreatedAt  Time        `json:"created_at"`
	LastSeenAt *Time       `json:"last_seen_at"`
}

// InvitedMember is a member with its sign-in link. Both are zero for a rule.
type InvitedMember struct {
	Member
	// Link is the path of the sign-in link, behind the address of the console. It is shown only here, and used once.
	Link      Secret `json:"link,omitzero"`
	ExpiresAt Time   `json:"expires_at,omitzero"`
}

// AddMember invites a member, or makes a rule.
func (c *Client) AddMember(ctx context.Context, m NewMember, options ...CallOption) (InvitedMember, error) {
	return fetch[InvitedMember](ctx, c, request("addMember", http.MethodPost, "members").creating(m), options)
}

// ListMembers returns one page of the account's members and rules, newest first.
func (c *Client) ListMembers(ctx context.Context, o PageOptions, options ...CallOption) (Page[Member], error) {
	return fetch[Page[Member]](ctx, c, request("listMembers", http.MethodGet, "members").where(o.query()), options)
}

// Members iterates over the account's members and rules, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Members(ctx context.Context, options ...CallOption) iter.Seq2[Member, error] {
	return pages(func(cursor string) (Page[Member], error) {
		return c.ListMembers(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ChangeMember replaces the name or the role of a member or rule. Another role for the last owner is ErrConflict.
func (c *Client) ChangeMember(ctx context.Context, id string, m MemberChange, options ...CallOption) (Member, error) {
	k := request("changeMember", http.MethodPut, "members", id)
	k.body = m
	return fetch[Member](ctx, c, k, options)
}

// RemoveMember removes a member or rule. To remove the last owner is ErrConflict.
func (c *Client) RemoveMember(ctx context.Context, id string, options ...CallOption) error {
	return c.remove(ctx, request("removeMember", http.MethodDelete, "members", id), options)
}

// LinkMember makes a new sign-in link of a member, in place of earlier ones.
func (c *Client) LinkMember(ctx context.Context, id string, options ...CallOption) (InvitedMember, error) {
	return fetch[InvitedMember](ctx, c, request("linkMember", http.MethodPost, "members", id, "link"), options)
}
