package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// auditEntry is an entry of the audit (spec: audit-entry-members).
type auditEntry struct {
	ID    string
	At    string
	Actor struct {
		Kind, Name string
		ID         *string
	}
	Action string
	Object struct{ Kind, ID, Name string }
}

func (c *client) audit(t *testing.T, query string) (entries []auditEntry, body string) {
	t.Helper()
	r := c.get(t, "/v1/audit?"+query)
	r.wantStatus(t, 200)
	var page struct{ Data []auditEntry }
	r.decode(t, &page)
	return page.Data, string(r.body)
}

// TestAudit holds the audit of what an account's keys and the operator change.
func TestAudit(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: audit-list, audit-actions, audit-changes-only, audit-holds-no-values
		t.Run("the audit has every change once, newest first, without keys and values", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			own.create(t, slug, text(model.Mark, "ref", model.Mark)).ok(t)
			own.refused(t, slug, "context", model.Mark)
			fields := object("fields", raw(oneField), "questions", raw(yesNo), "instructions", model.Mark)
			own.post(t, "/v1/prisms/"+slug+"/versions", strings.Replace(fields, "{", `{"dry_run":true,`, 1)).wantStatus(t, 200)
			own.post(t, "/v1/prisms/"+slug+"/versions", fields).wantStatus(t, 201)
			own.put(t, "/v1/prisms/"+slug+"/lens", `{"columns":[{"name":"u","question":"urgent","show":"answer"}]}`).wantStatus(t, 200)
			for _, action := range []string{"archive", "archive", "unarchive", "unarchive"} {
				own.post(t, "/v1/prisms/"+slug+"/"+action, "").wantStatus(t, 200)
			}
			_, id := own.newAPIKey(t)
			for range 2 {
				if _, err := s.store.Operate(t.Context(), "key", "revoke", id); err != nil {
					t.Fatal(err)
				}
			}
			entries, body := own.audit(t, "")
			var got []string
			for _, e := range entries {
				got = append(got, e.Actor.Kind+" "+e.Action+" "+e.Object.Kind)
				if (e.Actor.ID == nil) != (e.Actor.Kind == "operator") || e.Actor.Name == "" ||
					!uuidPattern.MatchString(e.Object.ID) || e.Object.Kind == "prism" && e.Object.Name != slug || !dateTime.MatchString(e.At) {
					t.Errorf("got %+v", e)
				}
			}
			want := []string{
				"operator key.revoke key", "key key.create key", "key prism.unarchive prism", "key prism.archive prism",
				"key lens.replace prism", "key version.create prism", "key prism.create prism", "operator key.create key",
				"operator account.create account",
			}
			newestFirst := func(a, b auditEntry) int { return strings.Compare(b.ID, a.ID) }
			if !slices.Equal(got, want) || !slices.IsSortedFunc(entries, newestFirst) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if strings.Contains(body, model.Mark) || apiKeyPattern.MatchString(body) || strings.Contains(body, "urgent") {
				t.Errorf("the audit shows a value, a key or a definition: %s", body)
			}
			last := slices.IndexFunc(entries, func(e auditEntry) bool { return e.At != entries[0].At }) // entries of the last millisecond
			for query, want := range map[string]int{
				"actor=operator": 3, "actor=" + *entries[1].Actor.ID: 6, "actor=" + absentID: 0, "unknown=1": 9,
				"from=" + url.QueryEscape(entries[0].At): last, "to=" + url.QueryEscape(entries[0].At) + "&actor=operator": 2,
				"to=2001-01-01T00:00:00Z": 0,
			} {
				if found, _ := own.audit(t, query); len(found) != want {
					t.Errorf("%s finds %d entries, want %d", query, len(found), want)
				}
			}
			// spec: page-cursor, page-limit
			for _, limit := range []int{1, 2, 100} {
				ids := own.walk(t, "/v1/audit?unknown=1", limit)
				for i, e := range entries {
					if len(ids) != len(entries) || ids[i] != e.ID {
						t.Fatalf("in pages of %d: %v", limit, ids)
					}
				}
			}
		})
		// spec: audit-list, roles
		t.Run("the audit is an owner's to read, and each account's own", func(t *testing.T) {
			t.Parallel()
			own, other := s.ownAccount(t), s.ownAccount(t)
			for _, role := range []string{"editor", "caller", "reader"} {
				with, _ := own.withRole(t, role, "")
				with.get(t, "/v1/audit").wantFail(t, fail{403, "unauthorized", "Your role does not allow this."})
			}
			theirs, _ := own.audit(t, "")
			mine, body := other.audit(t, "")
			wantEqual(t, "the number of entries", len(mine), 2)
			for _, e := range theirs {
				if strings.Contains(body, e.ID) || strings.Contains(body, e.Object.ID) {
					t.Errorf("another account sees %+v", e)
				}
			}
		})
	})
}
