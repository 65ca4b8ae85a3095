package request_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: member-requests
func TestAMemberIsInvitedOrMadeByARule(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 201)
	for _, c := range []struct {
		body string
		want api.NewMember
	}{
		{`{"name":"Ada","role":"owner"}`, api.NewMember{Name: "Ada", Role: prism.Owner}},
		{`{"name":"Ada","email":null,"role":"labeller","claim":null,"id":7}`, api.NewMember{Name: "Ada", Role: prism.Labeller}},
		{`{"name":"Ada","email":"ada@example.com","role":"reader"}`, api.NewMember{Name: "Ada", Email: "ada@example.com", Role: prism.Reader}},
		{
			`{"name":"Support","role":"caller","claim":{"name":"groups","value":"support"}}`,
			api.NewMember{Name: "Support", Role: prism.Caller, Claim: &prism.Claim{Name: "groups", Value: "support"}},
		},
	} {
		got, err := parsedBody(api.AddMember, c.body)
		if err != nil || !reflect.DeepEqual(got.NewMember, c.want) {
			t.Errorf("%s: %+v, %v", c.body, got, err)
		}
	}
	const roles = "Expected 'owner' | 'editor' | 'caller' | 'labeller' | 'reader'"
	for _, c := range []struct{ body, want string }{
		{`{}`, "name: Required; role: Required"},
		{`[]`, "body: Expected object, received array"},
		{`{"name":"","email":"ada","role":"admin"}`, "name: String must contain at least 1 character(s); " +
			`email: must match ^[^\s@]{1,64}@[^\s@]{1,189}$; role: ` + roles},
		{`{"name":"` + long + `","role":null,"claim":7}`, "name: String must contain at most 200 character(s); " +
			"role: Expected string, received null; claim: Expected object, received number"},
		{`{"name":"n","role":"reader","claim":{"value":""}}`, "claim.name: Required; claim.value: String must contain at least 1 character(s)"},
		{`{"name":"n","role":"reader","email":"a@b","claim":{"name":"a","value":"b"}}`, "claim: send either email or claim"},
		{`{`, malformed},
	} {
		_, err := parsedBody(api.AddMember, c.body)
		wantProblems(t, err, c.want)
	}
}

// spec: member-requests
func TestAChangeOfAMemberChangesSomething(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]api.MemberChange{
		`{"name":"Ada"}`:                 {Name: "Ada"},
		`{"name":null,"role":"editor"}`:  {Role: prism.Editor},
		`{"name":"Ada","role":"reader"}`: {Name: "Ada", Role: prism.Reader},
	} {
		got, err := parsedBody(api.ChangeMember, body, "member_id", anID)
		if err != nil || got.Member.String() != anID || got.MemberChange != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	for _, c := range []struct{ id, body, want string }{
		{anID, `{}`, "name: send at least one of name and role"},
		{"1", `{"name":null,"role":null}`, "member_id: Invalid uuid; name: send at least one of name and role"},
		{anID, `{"name":"","role":7}`, "name: String must contain at least 1 character(s); role: Expected string, received number"},
		{anID, `7`, "body: Expected object, received number"},
		{anID, `{`, malformed},
	} {
		_, err := parsedBody(api.ChangeMember, c.body, "member_id", c.id)
		wantProblems(t, err, c.want)
	}
}

func TestAnActionOnAMemberIgnoresItsBody(t *testing.T) {
	t.Parallel()
	for _, body := range []request.Body{{}, jsonBody(`7`), textBody("x")} {
		if got, err := parsed(api.LinkMember, request.Source{Body: body}, "member_id", anID); err != nil || got.Member.String() != anID {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, err := parsed(api.RemoveMember, request.Source{}, "member_id", "1")
	wantProblems(t, err, "member_id: Invalid uuid")
	_, err = parsed(api.RemoveMember, request.Source{Body: jsonBody(`{`)}, "member_id", "1")
	wantProblems(t, err, malformed)
	cursor := contract.ListOfMembers.Cursor(prism.UUID{7})
	list, err := parsed(api.ListMembers, request.Source{Query: query("limit", "7", "cursor", cursor)})
	if err != nil || list.Limit != 7 || list.Cursor != cursor {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = parsed(api.ListMembers, request.Source{Query: query("limit", "0", "cursor", contract.ListOfKeys.Cursor(prism.UUID{7}))})
	wantProblems(t, err, "limit: Number must be greater than or equal to 1; cursor: Invalid cursor")
}
