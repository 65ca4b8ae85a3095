package e2e

import (
	"strings"
	"testing"
)

// apiKey is an API key (spec: key-members).
type apiKey struct {
	ID         string
	Name       string
	Prefix     string
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
	RevokedAt  *string `json:"revoked_at"`
	Key        string
}

func (c *client) keys(t *testing.T) map[string]apiKey {
	t.Helper()
	r := c.get(t, "/v1/keys")
	r.wantStatus(t, 200)
	var list struct{ Data []apiKey }
	r.decode(t, &list)
	keys := map[string]apiKey{}
	for _, k := range list.Data {
		keys[k.ID] = k
	}
	return keys
}

// TestKeys holds the calls that manage API keys. TestAuthentication has the calls with a revoked key.
func TestKeys(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: key-digest, key-create, key-list, key-members
		t.Run("a key is shown once, when it is made", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			r := own.post(t, "/v1/keys", object("name", "for the app <1>"))
			r.wantStatus(t, 201)
			var created apiKey
			r.decode(t, &created)
			if !apiKeyPattern.MatchString(created.Key) || !strings.HasPrefix(created.Key, created.Prefix) || len(created.Prefix) >= len(created.Key)/2 {
				t.Errorf("a key of %d characters with the prefix %q", len(created.Key), created.Prefix)
			}
			if !uuidPattern.MatchString(created.ID) || !dateTime.MatchString(created.CreatedAt) || created.LastUsedAt != nil || created.RevokedAt != nil {
				t.Errorf("got %+v", apiKey{ID: created.ID, CreatedAt: created.CreatedAt, LastUsedAt: created.LastUsedAt, RevokedAt: created.RevokedAt})
			}
			list := own.get(t, "/v1/keys")
			if strings.Contains(string(list.body), created.Key) || strings.Contains(string(list.body), `"key"`) {
				t.Error("the list shows the key again")
			}
			wantEqual(t, "the name", own.keys(t)[created.ID].Name, "for the app <1>")
			revoked := own.post(t, "/v1/keys/"+created.ID+"/revoke", "")
			revoked.wantStatus(t, 200)
			wantMembers(t, revoked.body, nil, "id", "name", "prefix", "created_at", "last_used_at", "revoked_at")
		})
		// spec: key-revoke
		t.Run("revoking twice is 200 and keeps the first time", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			_, id := own.newAPIKey(t)
			first := own.post(t, "/v1/keys/"+id+"/revoke", "")
			first.wantStatus(t, 200)
			own.post(t, "/v1/keys/"+id+"/revoke", "").wantBody(t, string(first.body))
			if at := own.keys(t)[id].RevokedAt; at == nil || !dateTime.MatchString(*at) {
				t.Error("the list does not show the revocation")
			}
		})
		s.runFailing(t, []failing{
			{"a key id that is not a UUID is refused", call{method: "POST", path: "/v1/keys/1/revoke"}, invalid("key_id: Invalid uuid")},
			// spec: key-revoke
			{"a key that does not exist is not found", call{method: "POST", path: "/v1/keys/{absent}/revoke"}, fail{404, "not_found", "^.*[Nn]ot found"}},
		})
	})
}
