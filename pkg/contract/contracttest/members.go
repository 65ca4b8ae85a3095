package contracttest

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (r *results) AddMember(_ context.Context, key contract.KeyDigest, n contract.NewMember) (contract.Response, error) {
	return r.hear("AddMember", key, n)
}

func (r *results) ListMembers(_ context.Context, key contract.KeyDigest, p contract.Page) (contract.Response, error) {
	return r.hear("ListMembers", key, p)
}

func (r *results) ChangeMember(
	_ context.Context, key contract.KeyDigest, id prism.MemberID, c contract.MemberChange,
) (contract.Response, error) {
	return r.hear("ChangeMember", key, id, c)
}

func (r *results) RemoveMember(_ context.Context, key contract.KeyDigest, id prism.MemberID) (contract.Response, error) {
	return r.hear("RemoveMember", key, id)
}

func (r *results) LinkMember(_ context.Context, key contract.KeyDigest, id prism.MemberID) (contract.Response, error) {
	return r.hear("LinkMember", key, id)
}

var memberID = prism.MemberID{UUID: prism.UUID{0xab, 15: 6}}

// members is a call of each method of contract.Members.
func members() []called {
	return []called{
		{"AddMember", []any{digest, contract.NewMember{Name: odd, Email: odd, Role: prism.Labeller}}},
		{"AddMember", []any{digest, contract.NewMember{Name: odd, Role: prism.Reader, Claim: &contract.Claim{Name: odd, Value: odd}}}},
		{"ListMembers", []any{digest, contract.Page{Limit: 7, Cursor: "c"}}},
		{"ChangeMember", []any{digest, memberID, contract.MemberChange{Name: odd}}},
		{"ChangeMember", []any{digest, memberID, contract.MemberChange{Role: prism.Owner}}},
		{"RemoveMember", []any{digest, memberID}},
		{"LinkMember", []any{digest, memberID}},
	}
}
