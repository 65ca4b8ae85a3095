package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// prismRecord is a prism (spec: prism-members).
type prismRecord struct {
	ID            string
	Slug          string
	Name          *string
	ArchivedAt    *string         `json:"archived_at"`
	CreatedAt     string          `json:"created_at"`
	LatestVersion int             `json:"latest_version"`
	Lens          json.RawMessage `json:"lens"`
	Version       struct {
		Version      int
		Instructions *string
		Fields       json.RawMessage
		Questions    json.RawMessage
		CreatedAt    string `json:"created_at"`
	}
}

func (r reply) prism(t *testing.T, status int) prismRecord {
	t.Helper()
	r.wantStatus(t, status)
	r.wantType(t, "application/json; charset=utf-8")
	var p prismRecord
	r.decode(t, &p)
	return p
}

// TestManagement holds the calls that manage prisms, versions and the Lens.
// spec: prism-identity
func TestManagement(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: versions, prism-create, prism-members
		t.Run("a new prism has version 1 and every member of a prism", func(t *testing.T) {
			t.Parallel()
			slug := newSlug()
			r := s.main.post(t, "/v1/prisms", definition(slug, oneField, triageQuestions, "name", "Triage <1>", "instructions", "Be brief & kind."))
			p := r.prism(t, 201)
			wantMembers(t, r.body, nil, "id", "slug", "name", "archived_at", "created_at", "latest_version", "lens", "version", "retention_days")
			wantMembers(t, r.body, []string{"lens"}, "columns")
			wantMembers(t, r.body, []string{"version"}, "version", "instructions", "model", "escalate", "fields", "questions", "created_at")
			if !uuidPattern.MatchString(p.ID) || !dateTime.MatchString(p.CreatedAt) || !dateTime.MatchString(p.Version.CreatedAt) {
				t.Errorf("%s", r.body)
			}
			wantEqual(t, "the slug", p.Slug, slug)
			wantEqual(t, "the name", *p.Name, "Triage <1>")
			wantEqual(t, "the latest version", p.LatestVersion, 1)
			wantEqual(t, "the version", p.Version.Version, 1)
			wantEqual(t, "the instructions", *p.Version.Instructions, "Be brief & kind.")
			if p.ArchivedAt != nil {
				t.Error("a new prism is archived")
			}
			if !strings.Contains(string(r.body), "Triage <1>") || !strings.Contains(string(r.body), "Be brief & kind.") {
				t.Errorf("characters are escaped that JSON need not escape: %s", r.body)
			}
			s.main.get(t, "/v1/prisms/"+slug).wantBody(t, string(r.body))
			s.main.get(t, "/v1/prisms/"+p.ID).wantBody(t, string(r.body))
		})
		// spec: versions, version-is-immutable, version-members, version-create, version-read
		t.Run("a new version is the latest one and leaves the first as it was", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			first := s.main.get(t, "/v1/prisms/"+slug+"/versions/1")
			first.wantStatus(t, 200)
			r := s.main.post(t, "/v1/prisms/"+slug+"/versions", object("fields", raw(twoFields), "questions", raw(yesNo), "instructions", "Two."))
			r.wantStatus(t, 201)
			wantMembers(t, r.body, nil, "version", "instructions", "model", "escalate", "fields", "questions", "created_at")
			s.main.get(t, "/v1/prisms/"+slug+"/versions/2").wantBody(t, string(r.body))
			s.main.get(t, "/v1/prisms/"+slug+"/versions/1").wantBody(t, string(first.body))
			p := s.main.get(t, "/v1/prisms/"+slug).prism(t, 200)
			wantEqual(t, "the latest version", p.LatestVersion, 2)
			wantEqual(t, "the version shown", p.Version.Version, 2)
			s.main.get(t, "/v1/prisms/"+slug+"/versions/3").wantFail(t, noVersion)
		})
		// spec: lens-edit
		t.Run("a Lens edit answers the prism with the new columns in order", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			r := s.main.put(t, "/v1/prisms/"+slug+"/lens", `{"columns":[{"name":"z","question":"mood","show":"answer"},{"name":"a","question":"urgent","show":"answer","yes_at":0.9}]}`)
			p := r.prism(t, 200)
			var lens struct {
				Columns []struct {
					Name  string
					YesAt *float64 `json:"yes_at"`
				}
			}
			if err := json.Unmarshal(p.Lens, &lens); err != nil || len(lens.Columns) != 2 || lens.Columns[0].Name != "z" || *lens.Columns[1].YesAt != 0.9 {
				t.Errorf("the Lens is %s (%v)", p.Lens, err)
			}
			s.main.get(t, "/v1/prisms/"+slug).wantBody(t, string(r.body))
		})
		// spec: archive-and-unarchive
		t.Run("archiving and unarchiving twice are 200, and the time of archiving stays", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			first := s.main.post(t, "/v1/prisms/"+slug+"/archive", "").prism(t, 200)
			second := s.main.post(t, "/v1/prisms/"+slug+"/archive", "").prism(t, 200)
			if first.ArchivedAt == nil || second.ArchivedAt == nil || *first.ArchivedAt != *second.ArchivedAt || !dateTime.MatchString(*first.ArchivedAt) {
				t.Errorf("archived at %v, then %v", first.ArchivedAt, second.ArchivedAt)
			}
			for range 2 {
				if p := s.main.post(t, "/v1/prisms/"+slug+"/unarchive", "").prism(t, 200); p.ArchivedAt != nil {
					t.Error("still archived")
				}
			}
			s.main.create(t, slug, text("x")).ok(t)
		})
		// spec: prism-read, archived-prism-takes-no-change
		t.Run("an archived prism is read, and takes no version and no Lens edit", func(t *testing.T) {
			t.Parallel()
			path := "/v1/prisms/" + s.fill(t, "{archived}")
			s.main.get(t, path).prism(t, 200)
			s.main.get(t, path+"/versions/1").wantStatus(t, 200)
			s.main.post(t, path+"/versions", object("fields", raw(oneField), "questions", raw(yesNo))).wantFail(t, unchangeable)
			s.main.put(t, path+"/lens", `{"columns":[{"name":"u","question":"urgent","show":"answer"}]}`).wantFail(t, unchangeable)
			s.main.get(t, path+"/results?format=csv").wantStatus(t, 200)
		})

		s.runFailing(t, []failing{
			{"a prism that is not JSON is malformed", call{path: "/v1/prisms", body: "{"}, malformed},
			// spec: management-is-under-the-same-rules
			{"a prism of another type is not parsed", call{path: "/v1/prisms", body: "{}", contentType: "application/yaml"}, unparsedType},
			// spec: management-is-under-the-same-rules
			{"a valid prism without a key is a 401", call{path: "/v1/prisms", body: definition("x", oneField, yesNo), auth: none}, authRequired},
		})
	})
}
