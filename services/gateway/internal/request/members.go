package request

import (
	"regexp"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// emailPattern is an address with one @ and without white space. Nothing checks that the mailbox exists.
var emailPattern = regexp.MustCompile(`^[^\s@]{1,64}@[^\s@]{1,189}$`)

var (
	claimShape     = &shape{members: members("name", "value")}
	newMemberShape = &shape{members: append(members("name", "email", "role"), member{"claim", claimShape})}
	changeShape    = &shape{members: members("name", "role")}
)

// ParseNewMember reads POST /v1/members {name, email?, role, claim?} (spec: member-requests). The role has no default, so that
// nobody makes an owner by mistake.
func ParseNewMember(body Body) (contract.NewMember, error) {
	sent, err := parseBody(body, newMemberShape)
	if err != nil {
		return contract.NewMember{}, err
	}
	var r reader
	var n contract.NewMember
	if r.is(sent, kindObject) {
		n.Name, _ = r.str(sent.at("name"), 1, maxName)
		email, claim := sent.at("email"), sent.at("claim")
		if email.given() {
			n.Email, _ = r.matching(email, emailPattern)
		}
		n.Role = oneOfStr(&r, sent.at("role"), prism.Roles())
		if claim.given() && r.is(claim, kindObject) {
			n.Claim = &contract.Claim{}
			n.Claim.Name, _ = r.str(claim.at("name"), 1, maxName)
			n.Claim.Value, _ = r.str(claim.at("value"), 1, maxName)
			if email.given() {
				r.add("claim", textEmailOrClaim)
			}
		}
	}
	return n, r.err()
}

// ParseMemberChange reads PUT /v1/members/{member_id} {name?, role?}. At least one of the two is required.
func ParseMemberChange(memberID string, body Body) (prism.MemberID, contract.MemberChange, error) {
	sent, err := parseBody(body, changeShape)
	if err != nil {
		return prism.MemberID{}, contract.MemberChange{}, err
	}
	var r reader
	id := prism.MemberID{UUID: r.uuidParam("member_id", memberID)}
	var c contract.MemberChange
	if r.is(sent, kindObject) {
		name, role := sent.at("name"), sent.at("role")
		if !name.given() && !role.given() {
			r.add("name", textNoChange)
		}
		c.Name = r.optionalStr(name, 1, maxName)
		if role.given() {
			c.Role = oneOfStr(&r, role, prism.Roles())
		}
	}
	return id, c, r.err()
}

// ParseMemberAction reads DELETE /v1/members/{member_id} and POST /v1/members/{member_id}/link. The body is ignored
// (spec: retry-body).
func ParseMemberAction(memberID string, body Body) (prism.MemberID, error) {
	if err := ignoreBody(body); err != nil {
		return prism.MemberID{}, err
	}
	var r reader
	id := prism.MemberID{UUID: r.uuidParam("member_id", memberID)}
	return id, r.err()
}

// ParseMemberList reads GET /v1/members?limit&cursor.
func ParseMemberList(q Query) (contract.Page, error) {
	var r reader
	page := r.page(q, contract.ListOfMembers)
	return page, r.err()
}
