package gateway

import (
	"context"
	"fmt"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// membership hears calls on members and of previews, and says what it is told to.
type membership struct {
	stored
	heard string
	err   error
}

func (m *membership) hear(method string, args ...any) (contract.Response, error) {
	m.heard = fmt.Sprintf("%s%v", method, args)
	return contract.Response{ContentType: httpkit.JSONType, Body: []byte(`{"id":"x"}`)}, m.err
}

func (m *membership) Do(_ context.Context, _ contract.KeyDigest, op api.Operation, sent any) (contract.Response, error) {
	switch in := sent.(type) {
	case *api.AddMemberRequest:
		return m.hear("add", in.Name, in.Email, in.Role, in.Claim != nil)
	case *api.ListMembersRequest:
		return m.hear("list", in.Limit)
	case *api.ChangeMemberRequest:
		return m.hear("change", in.Member, in.Name, in.Role)
	case *api.MemberRequest:
		if op.Declared().Name == api.RemoveMember.Name {
			_, err := m.hear("remove", in.Member)
			return contract.Response{}, err
		}
		return m.hear("link", in.Member)
	case *api.PreviewLensRequest:
		return m.hear("preview", in.Prism.Slug, in.Columns[0].Name, in.Results)
	}
	return contract.Response{}, fmt.Errorf("%s is not heard", op.Declared().Name)
}

// spec: member-requests, lens-preview
func TestCallsOnMembersAndPreviewsReachResults(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	m := &membership{stored: stored{accounts: map[contract.KeyDigest]prism.AccountID{key.Digest(): {UUID: prism.UUID{15: 1}}}}}
	call := serve(t, httpkit.Config{}, m, nil)
	const id, ada = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", `{"id":"x"}`
	failed := func(status int, code, message string) reply {
		return reply{status, "", `{"error":{"code":"` + code + `","message":"` + message + `"}}`}
	}
	for _, row := range []struct {
		method, path, body string
		err                error
		want               reply
		heard              string
	}{
		{"POST", "/v1/members", `{"name":"Ada","email":"a@b","role":"reader"}`, nil, reply{201, "", ada}, "add[Ada a@b reader false]"},
		{"POST", "/v1/members", `{"name":"A","role":"reader","claim":{"name":"n","value":"v"}}`, nil, reply{201, "", ada}, "add[A  reader true]"},
		{"POST", "/v1/members", `{"name":"Ada"}`, nil, failed(400, "validation_failed", "Invalid request: role: Required"), ""},
		{"GET", "/v1/members?limit=7", "", nil, reply{200, "", ada}, "list[7]"},
		{"GET", "/v1/members", "", apierr.RoleNotAllowed(), failed(403, "unauthorized", "Your role does not allow this."), "list[50]"},
		{"PUT", "/v1/members/" + id, `{"role":"owner"}`, nil, reply{200, "", ada}, "change[" + id + "  owner]"},
		{
			"PUT", "/v1/members/" + id, `{"role":"reader"}`, apierr.LastOwner(),
			failed(409, "conflict", "The last owner cannot be removed."), "change[" + id + "  reader]",
		},
		{"DELETE", "/v1/members/" + id, "", nil, reply{204, "", ""}, "remove[" + id + "]"},
		{"DELETE", "/v1/members/" + id, "", apierr.MemberNotFound(), failed(404, "not_found", "Member not found"), "remove[" + id + "]"},
		{"POST", "/v1/members/" + id + "/link", "", nil, reply{200, "", ada}, "link[" + id + "]"},
		{
			"POST", "/v1/prisms/p/lens/preview", `{"columns":[{"name":"c","question":"q","show":"answer"}],"result_ids":["` + id + `"]}`, nil,
			reply{200, "", ada},
			"preview[p c [" + id + "]]",
		},
		// A look-up that takes too long took nothing.
		{
			"POST", "/v1/prisms/p/lens/preview", `{"columns":[{"name":"c","question":"q","show":"answer"}],"result_ids":[]}`, context.DeadlineExceeded,
			reply{503, "1", `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`},
			"preview[p c []]",
		},
	} {
		m.heard, m.err = "", row.err
		if got := call(key.Reveal(), row.method, row.path, row.body); got != row.want || m.heard != row.heard {
			t.Errorf("%s %s %s: got %+v, heard %s", row.method, row.path, row.body, got, m.heard)
		}
	}
}
