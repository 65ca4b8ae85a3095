package e2e

import (
	"strings"
	"testing"
)

// TestViews holds the calls that save views of results.
func TestViews(t *testing.T) {
	noView := fail{404, "not_found", "View not found"}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: view-create, view-list, view-replace, view-delete, view-members, view-default, view-filters, view-not-found
		t.Run("a view is saved, listed, replaced and deleted", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			labeller, _ := own.withRole(t, "labeller", "")
			reader, _ := own.withRole(t, "reader", "")
			filters := `{"prism":"` + slug + `","status":"ok","ref":"","version":1,"from":"2026-11-01T00:00:00.000Z","q":"refund"}`
			r := labeller.post(t, "/v1/views", object("name", "Refunds", "filters", raw(filters), "columns", []string{"text"}, "default", true))
			r.wantStatus(t, 201)
			wantMembers(t, r.body, nil, "id", "name", "filters", "columns", "default", "created_at")
			var first, second struct{ ID string }
			r.decode(t, &first)
			if !strings.Contains(string(r.body), `"filters":`+filters+`,"columns":["text"],"default":true,`) {
				t.Errorf("got %s", r.body)
			}
			r = own.post(t, "/v1/views", object("name", "Others", "filters", raw(`{"prism":"`+slug+`"}`), "default", true))
			r.wantStatus(t, 201)
			r.decode(t, &second)
			list := reader.get(t, "/v1/views?limit=1")
			if got := string(list.body); !strings.HasPrefix(got, `{"data":[{"id":"`+second.ID+`"`) || strings.Contains(got, `"next_cursor":null`) {
				t.Errorf("got %s", got)
			}
			if got := string(reader.get(t, "/v1/views").body); !strings.Contains(got, `"columns":["text"],"default":false`) {
				t.Errorf("the former default: %s", got)
			}
			path := "/v1/views/" + first.ID
			labeller.put(t, path, object("name", "All", "filters", raw(`{}`))).wantStatus(t, 200)
			if got := string(reader.get(t, "/v1/views").body); !strings.Contains(got, `"name":"All","filters":{},"columns":null,"default":false`) {
				t.Errorf("got %s", got)
			}
			s.other.put(t, path, object("name", "x", "filters", raw(`{}`))).wantFail(t, noView)
			s.other.delete(t, path).wantFail(t, noView)
			labeller.delete(t, path).wantStatus(t, 204)
			labeller.delete(t, path).wantFail(t, noView)
		})
		// spec: view-roles, view-filters
		t.Run("readers and callers change no view, and wrong filters are refused", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			const id = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
			view := func(filters string) string { return object("name", "x", "filters", raw(filters)) }
			for _, role := range []string{"reader", "caller"} {
				with, _ := own.withRole(t, role, "")
				notAllowed := fail{403, "unauthorized", "Your role does not allow this."}
				with.get(t, "/v1/views").wantStatus(t, 200)
				with.post(t, "/v1/views", view(`{}`)).wantFail(t, notAllowed)
				with.put(t, "/v1/views/"+id, view(`{}`)).wantFail(t, notAllowed)
				with.delete(t, "/v1/views/"+id).wantFail(t, notAllowed)
			}
			own.post(t, "/v1/views", `{}`).wantFail(t, invalid("name: Required; filters: Required"))
			own.post(t, "/v1/views", view(`{"where":["a:is:b"]}`)).wantFail(t, invalid("filters.prism: must be sent with where"))
			own.post(t, "/v1/views", view(`{"prism":"`+slug+`","q":"\"a","where":["none:is:b"],"sort":"@none"}`)).wantFail(t, invalid(
				"filters.q: Expected a closing quotation mark; filters.where.0: Unknown question; filters.sort: Unknown name behind @"))
			own.post(t, "/v1/views", view(`{"prism":"none"}`)).wantFail(t, fail{404, "not_found", "Prism not found"})
			own.put(t, "/v1/views/"+id, view(`{"prism":"none"}`)).wantFail(t, fail{404, "not_found", "Prism not found"})
			own.put(t, "/v1/views/1", view(`{}`)).wantFail(t, invalid("view_id: Invalid uuid"))
		})
		// spec: views-limit, error-too-many-views
		t.Run("an account has 200 views", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			for range 200 {
				own.post(t, "/v1/views", object("name", "x", "filters", raw(`{}`))).wantStatus(t, 201)
			}
			own.post(t, "/v1/views", object("name", "x", "filters", raw(`{}`))).wantFail(t, fail{409, "conflict", "This account has 200 views."})
		})
	})
}
