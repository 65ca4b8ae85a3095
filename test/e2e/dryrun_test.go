package e2e

import (
	"strings"
	"testing"
)

// TestDryRun holds that a dry run makes every check of the real call, returns the same response, and stores nothing.
// spec: dry-run
func TestDryRun(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		const column, other = `{"columns":[{"name":"x","question":"urgent","show":"answer"}]}`, `{"columns":[{"name":"x","question":"none","show":"answer"}]}`
		lens := func(columns string) string { return strings.TrimSuffix(columns, "}") + `,"dry_run":true}` }

		t.Run("a new prism is shown and not stored", func(t *testing.T) {
			t.Parallel()
			slug := newSlug()
			p := s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "name", "N", "dry_run", true)).prism(t, 200)
			wantEqual(t, "the slug", p.Slug, slug)
			wantEqual(t, "the version", p.Version.Version, 1)
			s.main.get(t, "/v1/prisms/"+slug).wantFail(t, noPrism)
			s.main.get(t, "/v1/prisms/"+p.ID).wantFail(t, noPrism)
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "dry_run", false)).prism(t, 201)
		})
		t.Run("a taken slug, a wrong definition and a wrong key are refused", func(t *testing.T) {
			t.Parallel()
			slug := s.main.prism(t, oneField, yesNo)
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "dry_run", true)).wantFail(t, slugTaken)
			s.main.archive(t, slug)
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "dry_run", true)).wantFail(t, slugTaken)
			s.main.post(t, "/v1/prisms", definition(newSlug(), `[]`, yesNo, "dry_run", true)).wantFail(t, invalidAt("fields"))
			s.main.post(t, "/v1/prisms", definition(newSlug(), oneField, yesNo, "dry_run", "yes")).
				wantFail(t, invalid("dry_run: Expected boolean, received string"))
			(&client{stack: s, key: "prism_x"}).post(t, "/v1/prisms", definition(newSlug(), oneField, yesNo, "dry_run", true)).wantFail(t, invalidKey)
		})
		t.Run("a version is shown with its number and not stored", func(t *testing.T) {
			t.Parallel()
			slug := s.main.prism(t, oneField, yesNo)
			before := s.main.get(t, "/v1/prisms/"+slug).body
			v := s.main.post(t, "/v1/prisms/"+slug+"/versions", object("fields", raw(oneField), "questions", raw(yesNo), "dry_run", true))
			v.wantStatus(t, 200)
			wantMembers(t, v.body, nil, "version", "instructions", "model", "escalate", "fields", "questions", "created_at")
			if !strings.HasPrefix(string(v.body), `{"version":2,`) {
				t.Errorf("got %s", v.body)
			}
			s.main.get(t, "/v1/prisms/"+slug).wantBody(t, string(before))
			s.main.get(t, "/v1/prisms/"+slug+"/versions/2").wantFail(t, noVersion)
		})
		t.Run("a Lens is shown and not stored", func(t *testing.T) {
			t.Parallel()
			slug := s.main.prism(t, oneField, yesNo)
			before := s.main.get(t, "/v1/prisms/"+slug).body
			p := s.main.put(t, "/v1/prisms/"+slug+"/lens", lens(column)).prism(t, 200)
			wantEqual(t, "the Lens", string(p.Lens), column)
			s.main.get(t, "/v1/prisms/"+slug).wantBody(t, string(before))
			s.main.put(t, "/v1/prisms/"+slug+"/lens", lens(other)).wantFail(t, invalidAt("columns.0.question"))
		})
		t.Run("of a prism that is not there or archived nothing is shown", func(t *testing.T) {
			t.Parallel()
			version := object("fields", raw(oneField), "questions", raw(yesNo), "dry_run", true)
			s.main.post(t, "/v1/prisms/none/versions", version).wantFail(t, noPrism)
			s.main.put(t, "/v1/prisms/none/lens", lens(column)).wantFail(t, noPrism)
			slug := s.main.prism(t, oneField, yesNo)
			s.main.archive(t, slug)
			s.main.post(t, "/v1/prisms/"+slug+"/versions", version).wantFail(t, unchangeable)
			s.main.put(t, "/v1/prisms/"+slug+"/lens", lens(column)).wantFail(t, unchangeable)
		})
	})
}
