package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMembers holds the calls with which owners invite, change and remove the people of an account.
func TestMembers(t *testing.T) {
	roleNotAllowed := fail{403, "unauthorized", "Your role does not allow this."}
	noMember := fail{404, "not_found", "Member not found"}
	type member struct{ ID, Link string }
	read := func(t *testing.T, r reply, status int) (m member) {
		t.Helper()
		r.wantStatus(t, status)
		if err := json.Unmarshal(r.body, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: member-invite, member-list, member-change, member-remove, member-link, member-rule, member-not-found
		t.Run("members are invited, listed, changed and removed", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			r := own.post(t, "/v1/members", object("name", "Ada", "email", "ada@example.com", "role", "editor"))
			ada := read(t, r, 201)
			wantMembers(t, r.body, nil, "id", "name", "email", "role", "claim", "signed_in_by", "created_at", "last_seen_at", "link", "expires_at")
			if token, ok := strings.CutPrefix(ada.Link, "/console/sign-in#"); !ok || len(token) != 32 {
				t.Errorf("the link is %s", ada.Link)
			}
			rule := read(t, own.post(t, "/v1/members", object("name", "Desk", "role", "caller", "claim", raw(`{"name":"groups","value":"desk"}`))), 201)
			path := "/v1/members/" + ada.ID
			if again := read(t, own.post(t, path+"/link", ""), 200); again.ID != ada.ID || again.Link == "" || again.Link == ada.Link {
				t.Errorf("another link is %+v", again)
			}
			own.put(t, path, object("name", "Ada L.", "role", "reader")).wantStatus(t, 200)
			list := own.get(t, "/v1/members")
			list.wantStatus(t, 200)
			if got := string(list.body); !strings.HasPrefix(got, `{"data":[{"id":"`+rule.ID+`","name":"Desk",`) ||
				!strings.Contains(got, `"name":"Ada L.","email":"ada@example.com","role":"reader","claim":null,`) || strings.Contains(got, "sign-in") {
				t.Errorf("got %s", got)
			}
			own.post(t, "/v1/members/"+rule.ID+"/link", "").wantFail(t, noMember)
			s.other.put(t, path, object("name", "x")).wantFail(t, noMember)
			s.other.delete(t, path).wantFail(t, noMember)
			own.delete(t, path).wantStatus(t, 204)
			own.delete(t, path).wantFail(t, noMember)
		})
		// spec: member-requests, roles
		t.Run("only an owner may, with a valid request", func(t *testing.T) {
			t.Parallel()
			editor, _ := s.main.withRole(t, "editor", "")
			const id = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
			editor.get(t, "/v1/members").wantFail(t, roleNotAllowed)
			editor.post(t, "/v1/members", object("name", "x", "role", "reader")).wantFail(t, roleNotAllowed)
			editor.put(t, "/v1/members/"+id, object("name", "x")).wantFail(t, roleNotAllowed)
			editor.delete(t, "/v1/members/"+id).wantFail(t, roleNotAllowed)
			editor.post(t, "/v1/members/"+id+"/link", "").wantFail(t, roleNotAllowed)
			s.main.post(t, "/v1/members", `{}`).wantFail(t, invalid("name: Required; role: Required"))
			s.main.put(t, "/v1/members/1", `{}`).wantFail(t, invalid("member_id: Invalid uuid; name: send at least one of name and role"))
		})
	}, spread)
}
