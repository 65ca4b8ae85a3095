package request_test

import (
	"reflect"
	"strings"
	"testing"

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
		want contract.NewMember
	}{
		{`{"name":"Ada","role":"owner"}`, contract.NewMember{Name: "Ada", Role: prism.Owner}},
		{`{"name":"Ada","email":null,"role":"labeller","claim":null,"id":7}`, contract.NewMember{Name: "Ada", Role: prism.Labeller}},
		{`{"name":"Ada","email":"ada@example.com","role":"reader"}`, contract.NewMember{Name: "Ada", Email: "ada@example.com", Role: prism.Reader}},
		{
			`{"name":"Support","role":"caller","claim":{"name":"groups","value":"support"}}`,
			contract.NewMember{Name: "Support", Role: prism.Caller, Claim: &contract.Claim{Name: "groups", Value: "support"}},
		},
	} {
		got, err := request.ParseNewMember(jsonBody(c.body))
		if err != nil || !reflect.DeepEqual(got, c.want) {
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
		_, err := request.ParseNewMember(jsonBody(c.body))
		wantProblems(t, err, c.want)
	}
}

// spec: member-requests
func TestAChangeOfAMemberChangesSomething(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]contract.MemberChange{
		`{"name":"Ada"}`:                 {Name: "Ada"},
		`{"name":null,"role":"editor"}`:  {Role: prism.Editor},
		`{"name":"Ada","role":"reader"}`: {Name: "Ada", Role: prism.Reader},
	} {
		id, c, err := request.ParseMemberChange(anID, jsonBody(body))
		if err != nil || id.String() != anID || c != want {
			t.Errorf("%s: %+v of %s, %v", body, c, id, err)
		}
	}
	for _, c := range []struct{ id, body, want string }{
		{anID, `{}`, "name: send at least one of name and role"},
		{"1", `{"name":null,"role":null}`, "member_id: Invalid uuid; name: send at least one of name and role"},
		{anID, `{"name":"","role":7}`, "name: String must contain at least 1 character(s); role: Expected string, received number"},
		{anID, `7`, "body: Expected object, received number"},
		{anID, `{`, malformed},
	} {
		_, _, err := request.ParseMemberChange(c.id, jsonBody(c.body))
		wantProblems(t, err, c.want)
	}
}

func TestAnActionOnAMemberIgnoresItsBody(t *testing.T) {
	t.Parallel()
	for _, body := range []request.Body{{}, jsonBody(`7`), textBody("x")} {
		if id, err := request.ParseMemberAction(anID, body); err != nil || id.String() != anID {
			t.Errorf("%s, %v", id, err)
		}
	}
	_, err := request.ParseMemberAction("1", request.Body{})
	wantProblems(t, err, "member_id: Invalid uuid")
	_, err = request.ParseMemberAction("1", jsonBody(`{`))
	wantProblems(t, err, malformed)
	cursor := contract.ListOfMembers.Cursor(prism.UUID{7})
	if page, err := request.ParseMemberList(query("limit", "7", "cursor", cursor)); err != nil || page != (contract.Page{Limit: 7, Cursor: cursor}) {
		t.Errorf("%+v, %v", page, err)
	}
	_, err = request.ParseMemberList(query("limit", "0", "cursor", contract.ListOfKeys.Cursor(prism.UUID{7})))
	wantProblems(t, err, "limit: Number must be greater than or equal to 1; cursor: Invalid cursor")
}
