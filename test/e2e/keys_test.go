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
	Role       string
	CreatedAt  string  `json:"created_at"`
	ExpiresAt  *string `json:"expires_at"`
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

// countKeys reads the account, and returns how many keys it has.
func (c *client) countKeys(t *testing.T) int {
	t.Helper()
	r := c.get(t, "/v1/account")
	r.wantStatus(t, 200)
	wantMembers(t, r.body, nil, "id", "name", "created_at", "limits", "prisms", "keys", "members", "stored_bytes")
	var body struct{ Keys int }
	r.decode(t, &body)
	return body.Keys
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
			wantMembers(t, revoked.body, nil, "id", "name", "prefix", "role", "created_at", "expires_at", "last_used_at", "revoked_at")
		})
		// spec: account-read
		t.Run("an account counts its keys", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			before := own.countKeys(t)
			own.post(t, "/v1/keys", object("name", "another")).wantStatus(t, 201)
			wantEqual(t, "the keys", own.countKeys(t), before+1)
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
		// spec: roles, error-role-not-allowed, order-of-checks-role
		t.Run("a role is checked after the key and before everything else", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			reader, _ := own.withRole(t, "reader", "")
			denied := fail{403, "unauthorized", "Your role does not allow this."}
			reader.get(t, "/v1/prisms").wantStatus(t, 200)
			for _, c := range []call{
				{method: "POST", path: "/v1/prisms/none/results", body: `{"text":"x"}`},
				{method: "POST", path: "/v1/results/" + absentID + "/retry"},
				{method: "POST", path: "/v1/prisms/none/archive"},
				{path: "/v1/keys"},
				{method: "POST", path: "/v1/keys/" + absentID + "/revoke"},
			} {
				reader.do(t, c).wantFail(t, denied)
			}
			reader.do(t, call{path: "/v1/keys?limit=0"}).wantFail(t, invalid("limit: Number must be greater than or equal to 1"))
		})
		// spec: key-expiry
		t.Run("an expired key is an unknown one", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			expired, _ := own.withRole(t, "owner", "2001-01-01T00:00:00Z")
			expired.get(t, "/v1/prisms").wantFail(t, invalidKey)
			lasting, id := own.withRole(t, "owner", "9999-01-01T00:00:00.5Z")
			lasting.get(t, "/v1/prisms").wantStatus(t, 200)
			k := own.keys(t)[id]
			if k.Role != "owner" || k.ExpiresAt == nil || *k.ExpiresAt != "9999-01-01T00:00:00.500Z" {
				t.Errorf("got role %s, expiry %v", k.Role, k.ExpiresAt)
			}
		})
		s.runFailing(t, []failing{
			// spec: key-revoke
			{"a key that does not exist is not found", call{method: "POST", path: "/v1/keys/{absent}/revoke"}, fail{404, "not_found", "^.*[Nn]ot found"}},
		})
	}, spread)
}

// withRole creates a key with a role, which expires unless the time is empty, and returns a client with this key and its id.
func (c *client) withRole(t *testing.T, role, expires string) (with *client, id string) {
	t.Helper()
	r := c.post(t, "/v1/keys", strings.Replace(object("name", "with a role", "role", role, "expires_at", expires), `""`, "null", 1))
	r.wantStatus(t, 201)
	var created apiKey
	r.decode(t, &created)
	return &client{stack: c.stack, key: created.Key, account: c.account}, created.ID
}
