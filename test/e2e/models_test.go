package e2e

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/launch"
)

// TestModels holds the list of models, and the model of a version, with the one model of the settings.
func TestModels(t *testing.T) {
	noSuchModel := invalid("model: No such model")
	roleNotAllowed := fail{403, "unauthorized", "Your role does not allow this."}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: models-list, roles
		t.Run("every role lists the configured models, and nobody sees an address or a key", func(t *testing.T) {
			t.Parallel()
			want := `{"data":[{"name":"default","provider":"systemone","model":` + quote(launch.ModelName) + `,"default":true,` +
				`"probabilities":"native","price":null,"price_reported":false,"fallback":[],"order":null,"samples":null}]}`
			for _, role := range []string{"owner", "editor", "caller", "reader"} {
				with, _ := s.main.withRole(t, role, "")
				with.get(t, "/v1/models").wantBody(t, want)
			}
		})
		// spec: model-states, roles
		t.Run("an owner sees how the models do", func(t *testing.T) {
			t.Parallel()
			r := s.main.get(t, "/v1/models/states")
			r.wantStatus(t, 200)
			if got := string(r.body); !strings.HasPrefix(got, `{"data":[{"name":"default","state":"`) || !strings.Contains(got, `"failures":[`) {
				t.Errorf("got %s", got)
			}
			editor, _ := s.main.withRole(t, "editor", "")
			editor.get(t, "/v1/models/states").wantFail(t, roleNotAllowed)
		})
		// spec: model-check, try-counts, roles, error-model-not-found
		t.Run("an owner has a model checked, which counts", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			r := own.post(t, "/v1/models/default/check", "")
			r.wantStatus(t, 200)
			if got := string(r.body); !strings.HasPrefix(got, `{"name":"default","ok":true,"took_ms":`) ||
				!strings.Contains(got, `"checks":[{"part":"reached","status":"ok","text":"the host answers","write":null},`) {
				t.Errorf("got %s", got)
			}
			own.post(t, "/v1/models/other/check", "").wantFail(t, fail{404, "not_found", "Model not found"})
			editor, _ := own.withRole(t, "editor", "")
			editor.post(t, "/v1/models/default/check", "").wantFail(t, roleNotAllowed)
			usage := string(own.get(t, "/v1/usage?by=model").body)
			if !strings.HasPrefix(usage, `{"data":[{"model":"default","results":1,"failed":0,`) {
				t.Errorf("got %s", usage)
			}
			wantEqual(t, "the results", string(own.get(t, "/v1/results").body), `{"data":[],"next_cursor":null}`)
		})
		// spec: key-revocation, models-list
		t.Run("a revoked key lists no models", func(t *testing.T) {
			t.Parallel()
			second, id := s.main.newAPIKey(t)
			second.get(t, "/v1/models").wantStatus(t, 200)
			s.main.post(t, "/v1/keys/"+id+"/revoke", "").wantStatus(t, 200)
			second.get(t, "/v1/models").wantFail(t, invalidKey)
		})
		// spec: model-of-a-version, version-members, version-is-immutable
		t.Run("a version names a configured model, and the next one may name none", func(t *testing.T) {
			t.Parallel()
			slug := newSlug()
			r := s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "model", "default"))
			r.prism(t, 201)
			if !strings.Contains(string(r.body), `"version":{"version":1,"instructions":null,"model":"default","escalate":null,"fields":`) {
				t.Errorf("got %s", r.body)
			}
			s.main.create(t, slug, text("x")).ok(t)
			path := "/v1/prisms/" + slug + "/versions"
			s.main.post(t, path, object("fields", raw(oneField), "questions", raw(yesNo), "model", raw("null"))).wantStatus(t, 201)
			s.main.create(t, slug, text("x")).ok(t)
			for version, model := range map[string]string{"1": `"default"`, "2": "null"} {
				want := `{"version":` + version + `,"instructions":null,"model":` + model + `,`
				if r := s.main.get(t, path+"/"+version); !strings.HasPrefix(string(r.body), want) {
					t.Errorf("got %s", r.body)
				}
			}
			for _, path := range []string{"/v1/prisms/" + slug, "/v1/prisms?limit=100"} {
				if r := s.main.get(t, path); !strings.Contains(string(r.body), `{"version":2,"instructions":null,"model":null,`) {
					t.Errorf("%s: got %s", path, r.body)
				}
			}
		})
		// spec: model-of-a-version, order-of-checks-model, dry-run, errors-save-nothing
		t.Run("a model that is not configured is refused, and nothing is stored", func(t *testing.T) {
			t.Parallel()
			slug, taken := newSlug(), s.main.triage(t)
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "model", "other")).wantFail(t, noSuchModel)
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "model", "other", "dry_run", true)).wantFail(t, noSuchModel)
			s.main.get(t, "/v1/prisms/"+slug).wantFail(t, noPrism)
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "model", "default", "dry_run", true)).prism(t, 200)
			s.main.get(t, "/v1/prisms/"+slug).wantFail(t, noPrism)
			version := object("fields", raw(oneField), "questions", raw(yesNo), "model", "other")
			s.main.post(t, "/v1/prisms/"+taken+"/versions", version).wantFail(t, noSuchModel)
			s.main.get(t, "/v1/prisms/"+taken+"/versions/2").wantFail(t, noVersion)
		})
		// spec: order-of-checks-model, order-of-checks-role
		t.Run("a model is looked up after the request, the key and the role, and before what is stored", func(t *testing.T) {
			t.Parallel()
			taken := s.main.triage(t)
			caller, _ := s.main.withRole(t, "caller", "")
			nobody := &client{stack: s, key: wellFormedKey()}
			version := object("fields", raw(oneField), "questions", raw(yesNo), "model", "other")
			s.main.post(t, "/v1/prisms", definition(taken, oneField, yesNo, "model", "other", "name", 5)).
				wantFail(t, invalid("name: Expected string, received number"))
			nobody.post(t, "/v1/prisms", definition(taken, oneField, yesNo, "model", "other")).wantFail(t, invalidKey)
			nobody.post(t, "/v1/prisms/"+taken+"/versions", version).wantFail(t, invalidKey)
			caller.post(t, "/v1/prisms", definition(taken, oneField, yesNo, "model", "other")).wantFail(t, roleNotAllowed)
			caller.post(t, "/v1/prisms/"+taken+"/versions", version).wantFail(t, roleNotAllowed)
			s.main.post(t, "/v1/prisms", definition(taken, oneField, yesNo, "model", "other")).wantFail(t, noSuchModel)
			s.main.post(t, "/v1/prisms", definition(taken, oneField, yesNo, "model", "default")).wantFail(t, slugTaken)
			s.main.post(t, "/v1/prisms/"+newSlug()+"/versions", version).wantFail(t, noSuchModel)
			s.main.post(t, "/v1/prisms/"+newSlug()+"/versions", strings.Replace(version, "other", "default", 1)).wantFail(t, noPrism)
		})
	})
}
