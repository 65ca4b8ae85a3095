package e2e

import (
	"strings"
	"testing"
)

// TestComments holds the calls that comment on results and assign them.
func TestComments(t *testing.T) {
	notAllowed := fail{403, "unauthorized", "Your role does not allow this."}
	noComment, noResult := fail{404, "not_found", "Comment not found"}, fail{404, "not_found", "Result not found"}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: comment-create, comment-list, comment-delete, comment-members, comment-roles
		t.Run("a result has comments", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			id := own.create(t, own.triage(t), text("hello")).ok(t).ID
			path := "/v1/results/" + id + "/comments"
			labeller, labellerID := own.withRole(t, "labeller", "")
			reader, _ := own.withRole(t, "reader", "")
			r := labeller.post(t, path, object("text", "“é” <b>"))
			r.wantStatus(t, 201)
			wantMembers(t, r.body, nil, "id", "author", "text", "created_at")
			wantMembers(t, r.body, []string{"author"}, "kind", "id", "name")
			var first, second struct{ ID string }
			r.decode(t, &first)
			r = own.post(t, path, object("text", "second"))
			r.wantStatus(t, 201)
			r.decode(t, &second)
			list := reader.get(t, path)
			list.wantStatus(t, 200)
			if got := string(list.body); !strings.HasPrefix(got, `{"data":[{"id":"`+second.ID) ||
				!strings.Contains(got, `{"id":"`+first.ID+`","author":{"kind":"key","id":"`+labellerID+`",`) {
				t.Errorf("got %s", got)
			}
			reader.post(t, path, object("text", "x")).wantFail(t, notAllowed)
			reader.delete(t, path+"/"+first.ID).wantFail(t, notAllowed)
			labeller.delete(t, path+"/"+second.ID).wantFail(t, notAllowed)
			s.other.get(t, path).wantFail(t, noResult)
			s.other.post(t, path, object("text", "x")).wantFail(t, noResult)
			s.other.delete(t, path+"/"+first.ID).wantFail(t, noComment)
			own.delete(t, path+"/"+first.ID).wantStatus(t, 204)
			own.delete(t, path+"/"+first.ID).wantFail(t, noComment)
			own.post(t, path, `{}`).wantFail(t, invalid("text: Required"))
			own.delete(t, "/v1/results/"+id).wantStatus(t, 204)
			own.get(t, path).wantFail(t, noResult)
		})
		// spec: comments-limit, error-too-many-comments
		t.Run("a result has 100 comments", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			path := "/v1/results/" + own.create(t, own.triage(t), text("hello")).ok(t).ID + "/comments"
			for range 100 {
				own.post(t, path, object("text", "x")).wantStatus(t, 201)
			}
			own.post(t, path, object("text", "x")).wantFail(t, fail{409, "conflict", "This result has 100 comments."})
		})
		// spec: assignee-put, assignee-read, assignee-list, comment-roles, assignee-filter, member-leaves-unassigned
		t.Run("a result is assigned, and found by its assignee", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			id, free := own.create(t, slug, text("hello")).ok(t).ID, own.create(t, slug, text("hello")).ok(t).ID
			var ada struct{ ID string }
			r := own.post(t, "/v1/members", object("name", "Ada", "role", "labeller"))
			r.wantStatus(t, 201)
			r.decode(t, &ada)
			labeller, _ := own.withRole(t, "labeller", "")
			labeller.get(t, "/v1/assignees").wantBody(t, `{"data":[{"id":"`+ada.ID+`","name":"Ada"}],"next_cursor":null}`)
			labeller.get(t, "/v1/members").wantFail(t, notAllowed)
			for _, role := range []string{"caller", "reader"} {
				other, _ := own.withRole(t, role, "")
				other.get(t, "/v1/assignees").wantFail(t, notAllowed)
			}
			path := "/v1/results/" + id + "/assignee"
			own.get(t, path).wantBody(t, `{"result_id":"`+id+`","member":null}`)
			own.put(t, path, object("member_id", ada.ID)).wantBody(t, `{"result_id":"`+id+`","member":{"id":"`+ada.ID+`","name":"Ada"}}`)
			own.get(t, path).wantBody(t, `{"result_id":"`+id+`","member":{"id":"`+ada.ID+`","name":"Ada"}}`)
			found := func(assignee string) {
				t.Helper()
				want := map[string]string{ada.ID: id, "none": free, "me": ""}[assignee]
				for _, query := range []string{"", "&q=" + "hello"} {
					list := own.get(t, "/v1/results?prism="+slug+"&assignee="+assignee+query)
					list.wantStatus(t, 200)
					if got := string(list.body); strings.Contains(got, id) != (want == id) || strings.Contains(got, free) != (want == free) {
						t.Errorf("%s%s: got %s", assignee, query, got)
					}
				}
				rows := string(own.get(t, "/v1/prisms/"+slug+"/results?format=jsonl&assignee="+assignee).body)
				if strings.Contains(rows, id) != (want == id) || strings.Contains(rows, free) != (want == free) {
					t.Errorf("%s: got %s", assignee, rows)
				}
				count := string(own.get(t, "/v1/results/counts?assignee="+assignee).body)
				if strings.HasPrefix(count, `{"total":1,`) != (want != "") {
					t.Errorf("%s: got %s", assignee, count)
				}
			}
			for _, assignee := range []string{ada.ID, "none", "me"} {
				found(assignee)
			}
			const absent = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
			own.put(t, path, object("member_id", absent)).wantFail(t, fail{404, "not_found", "Member not found"})
			own.put(t, path, `{}`).wantFail(t, invalid("member_id: Required"))
			own.get(t, "/v1/results?assignee=you").wantFail(t, invalid("assignee: Expected 'me', 'none' or the id of a member"))
			s.other.put(t, path, `{"member_id":null}`).wantFail(t, noResult)
			s.other.get(t, path).wantFail(t, noResult)
			caller, _ := own.withRole(t, "caller", "")
			caller.put(t, path, `{"member_id":null}`).wantFail(t, notAllowed)
			own.delete(t, "/v1/members/"+ada.ID).wantStatus(t, 204)
			own.get(t, path).wantBody(t, `{"result_id":"`+id+`","member":null}`)
		})
	})
}
