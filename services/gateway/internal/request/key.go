package request

import (
	"strings"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// ParseAuthorization reads the Authorization header. It returns apierr.AuthenticationRequired if the header is absent or
// empty, and apierr.InvalidAPIKey unless it is Bearer, in any letter case, and a well-formed key. So a mistyped key needs
// no look-up; a later check tells whether a well-formed key is known (spec: authorization-header, api-key-form).
func ParseAuthorization(header string, present bool) (contract.KeyDigest, error) {
	header = strings.Trim(header, " \t") // RFC 9110 5.5: not part of the value
	if !present || header == "" {
		return contract.KeyDigest{}, apierr.AuthenticationRequired()
	}
	scheme, credentials, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return contract.KeyDigest{}, apierr.InvalidAPIKey()
	}
	key, ok := apikey.Parse(strings.TrimLeft(credentials, " ")) // RFC 9110 11.4: one space or more
	if !ok {
		return contract.KeyDigest{}, apierr.InvalidAPIKey()
	}
	return key.Digest(), nil
}

var newKeyShape = &shape{members: members("name")}

// ParseNewKey reads POST /v1/keys {name}: the new key's name.
func ParseNewKey(body Body) (string, error) {
	sent, err := parseBody(body, newKeyShape)
	if err != nil {
		return "", err
	}
	var r reader
	var name string
	if r.is(sent, kindObject) {
		name, _ = r.str(sent.at("name"), 1, maxName)
	}
	return name, r.err()
}

// ParseKeyAction reads POST /v1/keys/{key_id}/revoke. The body is ignored (spec: retry-body).
func ParseKeyAction(keyID string, body Body) (prism.KeyID, error) {
	if err := ignoreBody(body); err != nil {
		return prism.KeyID{}, err
	}
	var r reader
	id := prism.KeyID{UUID: r.uuidParam("key_id", keyID)}
	return id, r.err()
}
