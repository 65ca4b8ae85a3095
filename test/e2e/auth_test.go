package e2e

import (
	"encoding/json"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestAuthentication holds the Authorization header and the life of an API key.
// spec: key-scope, www-authenticate
func TestAuthentication(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		key := s.main.key
		mistyped := key[:len(key)-1] + map[bool]string{true: "1", false: "0"}[key[len(key)-1] == '0']
		const read = "/v1/results/{one_ok}"
		s.runFailing(t, []failing{
			// spec: authorization-header, error-authentication-required
			{"an absent header is told to authenticate", call{path: read, auth: none}, authRequired},
			// spec: error-invalid-api-key
			{"another scheme is an invalid key", call{path: read, auth: "Basic " + key}, invalidKey},
			// spec: api-key-form
			{"a mistyped key is invalid", call{path: read, auth: "Bearer " + mistyped}, invalidKey},
			{"a well-formed key that nobody was given is invalid", call{path: read, auth: "Bearer " + wellFormedKey()}, invalidKey},
			// spec: order-of-checks-create
			{"a malformed body without a key is a 400", call{path: createOne, body: "{", auth: none}, malformed},
			{"an invalid body without a key is a 400", call{path: createOne, body: "{}", auth: none}, fieldsOrText},
		})

		for _, path := range []string{"/v1/models", "/v1/prisms", "/v1/results", "/v1/keys", "/v1/prisms/x", "/v1/prisms/x/versions/1", "/v1/prisms/x/results?format=csv"} {
			t.Run("GET "+path+" needs a key", func(t *testing.T) {
				t.Parallel()
				s.main.do(t, call{path: path, auth: none}).wantFail(t, authRequired)
				s.main.do(t, call{path: path, auth: "Bearer x"}).wantFail(t, invalidKey)
			})
		}

		// The scan at the end of the suite holds that no process prints the key.
		t.Run("a key in the wrong place is not repeated", func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{
				"/v1/results/" + key, "/v1/prisms/" + key, "/v1/prisms/" + key + "/results?format=csv", "/v1/results?cursor=" + key,
				"/v1/prisms?api_key=" + key + "&limit=" + key, "/v1/results/{one_ok}?format=" + key, "/" + key, "/v1/keys/" + key + "/revoke",
			} {
				r := s.main.do(t, call{path: s.fill(t, path)})
				if r.status < 400 || r.status > 499 || strings.Contains(string(r.body), key) {
					t.Errorf("%s: status %d: %s", strings.ReplaceAll(path, key, "KEY"), r.status, strings.ReplaceAll(string(r.body), key, "KEY"))
				}
			}
		})
		// spec: error-invalid-api-key, key-revocation
		t.Run("a revoked key is invalid from the answer of the revoke on", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			second, id := own.newAPIKey(t)
			second.get(t, "/v1/prisms").wantStatus(t, 200)
			own.post(t, "/v1/keys/"+id+"/revoke", "").wantStatus(t, 200)
			second.get(t, "/v1/prisms").wantFail(t, invalidKey)
			own.get(t, "/v1/prisms").wantStatus(t, 200)
		})
		// spec: key-revoked-during-a-call
		t.Run("a key revoked while the model is answering still gets that call's result", func(t *testing.T) {
			t.Parallel()
			second, id := s.main.newAPIKey(t)
			release := make(chan struct{})
			script := s.model.Script(model.Hold(release, model.Likely()))
			prism := s.main.triage(t)
			pending := second.start(t, call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			s.main.post(t, "/v1/keys/"+id+"/revoke", "").wantStatus(t, 200)
			close(release)
			created := await(t, pending).ok(t)
			second.create(t, prism, text(script.Tag)).wantFail(t, invalidKey)
			s.main.read(t, created.ID, "").ok(t)
		})
	})
}

// newAPIKey creates a second key of the account and returns a client with this key, and the id of the key.
func (c *client) newAPIKey(t *testing.T) (second *client, id string) {
	t.Helper()
	r := c.post(t, "/v1/keys", object("name", "second"))
	r.wantStatus(t, 201)
	var created struct{ ID, Key string }
	if err := json.Unmarshal(r.body, &created); err != nil {
		t.Fatal(err)
	}
	second = &client{stack: c.stack, key: created.Key, account: c.account}
	return second, created.ID
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checksum is six base62 characters of CRC-32 over the rest of the key (spec: api-key-form).
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, 6)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}

func wellFormedKey() string {
	body := "prism_" + strings.Repeat("0aZ9", 8)
	return body + checksum(body)
}
