package console

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// provider is a provider of OpenID Connect whose tokens a test can spoil. test/openid has a certified one.
type provider struct {
	t      *testing.T
	url    string
	key    *ecdsa.PrivateKey // signs
	listed *ecdsa.PrivateKey // is in the keys that it shows

	mu       sync.Mutex
	away     bool
	codes    map[string]authorization
	claims   map[string]any // of ID tokens, over the usual ones
	sign     func(claims []byte) string
	userinfo map[string]any
	lookUps  int // of the metadata
}

// authorization is what the browser was sent with.
type authorization struct{ nonce, challenge string }

const (
	clientID     = "prism"
	clientSecret = "secretsecretsecretsecretsecretse"
	subject      = "subject-1"
)

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, listed: key, codes: map[string]authorization{}, claims: map[string]any{}}
	p.sign = func(claims []byte) string { return oidctest.SignIDToken(p.key, "k", "ES256", string(claims)) }
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if p.away {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.lookUps++
		p.send(w, map[string]any{
			"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token",
			"jwks_uri": p.url + "/keys", "userinfo_endpoint": p.url + "/userinfo", "id_token_signing_alg_values_supported": []string{"none", "HS256", "ES256"},
		})
	case "/keys":
		point, err := p.listed.PublicKey.ECDH()
		if err != nil {
			p.t.Error(err)
			return
		}
		xy := point.Bytes()[1:]
		part := base64.RawURLEncoding.EncodeToString
		p.send(w, map[string]any{"keys": []any{map[string]any{
			"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k", "x": part(xy[:32]), "y": part(xy[32:]),
		}}})
	case "/userinfo":
		p.send(w, p.userinfo)
	case "/token":
		p.token(w, r)
	}
}

func (p *provider) send(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// unsigned is an ID token of an algorithm that needs no key of the provider.
func unsigned(algorithm string, claims, secret []byte) string {
	part := base64.RawURLEncoding.EncodeToString
	text := part([]byte(`{"alg":"`+algorithm+`","kid":"k"}`)) + "." + part(claims)
	if secret == nil {
		return text + "."
	}
	sum := hmac.New(sha256.New, secret)
	_, _ = sum.Write([]byte(text))
	return text + "." + part(sum.Sum(nil))
}

// token answers a code once, and only whoever can show the verifier.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	code := r.PostFormValue("code")
	begun, known := p.codes[code]
	delete(p.codes, code)
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !known || begun.challenge != base64.RawURLEncoding.EncodeToString(challenge[:]) || id != clientID || secret != clientSecret {
		w.WriteHeader(http.StatusBadRequest)
		p.send(w, map[string]any{"error": "invalid_grant", "error_description": "the code " + code + " is used"})
		return
	}
	claims := map[string]any{
		"iss": p.url, "aud": clientID, "sub": subject, "nonce": begun.nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		"name": "Ada", "email": "ada@example.com", "email_verified": true,
	}
	for name, value := range p.claims {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	text, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	p.send(w, map[string]any{
		"access_token": "access", "token_type": "Bearer", "id_token": p.sign(text),
	})
}

// authorize is the person who signs in at the provider: it returns the path to which the provider sends the browser.
func (p *provider) authorize(location string) (callback string) {
	p.t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": clientID, "redirect_uri": publicURL + "/console/openid/callback", "code_challenge_method": "S256",
		"scope": "openid profile email",
	} {
		if q.Get(name) != want {
			p.t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = authorization{q.Get("nonce"), q.Get("code_challenge")}
	return "/console/openid/callback?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
}
