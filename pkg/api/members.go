package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// AddMember invites a member: its response has, once, the member's sign-in link. With a claim it makes a rule instead, which has no
// link: whoever signs in by OpenID Connect with the claim becomes a member (spec: member-requests, claim-grant).
var AddMember = Op[AddMemberRequest, InvitedMember]{Declaration{
	Name: "addMember", Method: http.MethodPost, Path: "/v1/members", Tag: "Members", Role: prism.Owner, Class: Keyed,
	Status: http.StatusCreated,
}}

// AddMemberRequest is the request of AddMember.
type AddMemberRequest struct{ NewMember }

// NewMember is a member to invite, or with `claim` a rule.
type NewMember struct {
	// What people call the member or rule.
	Name string `json:"name" min:"1" max:"200"`
	// Where an invitation goes. Prism sends no mail. Not with `claim`.
	Email string `json:"email,omitzero" form:"email"`
	// What the member may do. It has no default, so that nobody makes an owner by mistake.
	Role Role `json:"role"`
	// Makes a rule: whoever signs in by OpenID Connect with this claim becomes a member with the role, if the operator has granted the claim, or if the person agrees.
	Claim *Claim `json:"claim,omitzero"`
}

// Problems implements the rule that a rule has no address.
func (n NewMember) Problems(m Sent) []apierr.Problem {
	if n.Claim != nil && m.HasValue("email") {
		return []apierr.Problem{{Path: "claim", Text: "send either email or claim"}}
	}
	return nil
}

// Claim is a claim of a provider of OpenID Connect, and a value that it has or that is one of its values.
type Claim = prism.Claim

// ListMembers reads a page of the account's members and rules, newest first.
var ListMembers = Op[ListMembersRequest, Page[Member]]{Declaration{
	Name: "listMembers", Method: http.MethodGet, Path: "/v1/members", Tag: "Members", Role: prism.Owner, Class: Listing,
}}

// ListMembersRequest is the request of ListMembers.
type ListMembersRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"members"`
}

// ChangeMember replaces the name or the role of a member or rule. A new role ends the member's session keys.
var ChangeMember = Op[ChangeMemberRequest, Member]{Declaration{
	Name: "changeMember", Method: http.MethodPut, Path: "/v1/members/{member_id}", Tag: "Members", Role: prism.Owner, Class: Keyed,
	Errors: []*apierr.Error{apierr.MemberNotFound(), apierr.LastOwner()},
}}

// ChangeMemberRequest is the request of ChangeMember.
type ChangeMemberRequest struct {
	MemberRequest
	MemberChange
}

// MemberRequest is the request of an operation that needs a member or rule alone.
type MemberRequest struct {
	// The id of the member or rule.
	Member prism.MemberID `path:"member_id" example:"0199f0c2-11d8-7c02-a6b3-5e9f7d2c8b41"`
}

// MemberChange is what to replace of a member or rule: at least one of both.
type MemberChange struct {
	// What people call the member or rule.
	Name string `json:"name,omitzero" min:"1" max:"200"`
	// What the member may do from now on.
	Role Role `json:"role,omitzero"`
}

// Missing implements the rule that something is replaced.
func (MemberChange) Missing(sent func(name string) bool) []apierr.Problem {
	if sent("name") || sent("role") {
		return nil
	}
	return []apierr.Problem{{Path: "name", Text: "send at least one of name and role"}}
}

// RemoveMember removes a member or rule, with the member's links, sessions and session keys.
var RemoveMember = Op[MemberRequest, None]{Declaration{
	Name: "removeMember", Method: http.MethodDelete, Path: "/v1/members/{member_id}", Tag: "Members", Role: prism.Owner, Class: Keyed,
	Status: http.StatusNoContent, Errors: []*apierr.Error{apierr.MemberNotFound(), apierr.LastOwner()},
}}

// LinkMember makes a new sign-in link of a member, which takes the place of earlier ones. A rule has none.
var LinkMember = Op[MemberRequest, InvitedMember]{Declaration{
	Name: "linkMember", Method: http.MethodPost, Path: "/v1/members/{member_id}/link", Tag: "Members", Role: prism.Owner, Class: Keyed,
	Errors: []*apierr.Error{apierr.MemberNotFound()},
}}

// Member is a person of an account who signs in to the console, or a rule that makes members.
type Member struct {
	// The id.
	ID string `json:"id" form:"uuid"`
	// What people call the member or rule.
	Name string `json:"name"`
	// The address of the invitation, for people.
	Email *string `json:"email"`
	// What the member may do.
	Role Role `json:"role"`
	// The claim of a rule. Null for a member.
	Claim *Claim `json:"claim"`
	// How the member signed in the last time. Null if it never did.
	SignedInBy *SignedInBy `json:"signed_in_by"`
	// When the member or rule was made.
	CreatedAt Time `json:"created_at"`
	// The last use of one of the member's sessions, right to the minute.
	LastSeenAt *Time `json:"last_seen_at"`
}

// SignedInBy is how a member signed in.
type SignedInBy string

// The ways of signing in.
const (
	ByLink   SignedInBy = "link"
	ByOpenID SignedInBy = "openid"
)

// Values are all ways of signing in.
func (SignedInBy) Values() []string { return []string{string(ByLink), string(ByOpenID)} }

// InvitedMember is a member with its sign-in link. A rule has none.
type InvitedMember struct {
	Member
	// The path of the sign-in link, behind the address of the console. It is shown only here, and used once.
	Link string `json:"link,omitzero"`
	// When the link expires.
	ExpiresAt Time `json:"expires_at,omitzero"`
}
