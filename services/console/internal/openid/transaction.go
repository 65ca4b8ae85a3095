package openid

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/strictjson"
)

// TransactionTime is how long a sign-in at the provider may take.
const TransactionTime = 10 * time.Minute

// Transaction is a sign-in that the browser has begun, with the values that the answer of the provider must match. The browser
// keeps it, sealed, in a cookie: so every replica can finish the sign-in, and no other browser can (spec: openid-transaction).
type Transaction struct {
	State    string               `json:"s"`
	Nonce    string               `json:"n"`
	Verifier string               `json:"v"`           // of PKCE
	Return   string               `json:"r"`           // the page to go to
	Link     *contract.LinkDigest `json:"l,omitempty"` // of an invitation
	Account  string               `json:"a,omitempty"` // that the person signs in to by name
	Ends     time.Time            `json:"e"`
}

var (
	errSealed  = errors.New("openid: the transaction is not one of this service")
	errExpired = errors.New("openid: the transaction has expired")
)

// seal encrypts transactions. All replicas have the same key, because they have the same client secret.
type seal struct{ aead cipher.AEAD }

func newSeal(secret string) (seal, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "prism console: transactions of OpenID Connect, 1", 32)
	if err != nil {
		return seal{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return seal{aead}, err
}

// seals are the seal of the current client secret, and that of the one before: a sign-in that began before the secret was replaced
// goes on.
type seals struct {
	mu     sync.Mutex
	secret string
	list   []seal
}

// forSecret returns the seals, of which the first one is that of the secret.
func (s *seals) forSecret(secret string) ([]seal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret != s.secret {
		current, err := newSeal(secret)
		if err != nil {
			return nil, err
		}
		s.secret, s.list = secret, append([]seal{current}, s.list[:min(len(s.list), 1)]...)
	}
	return s.list, nil
}

// Seal returns the value of the cookie.
func (c *Client) Seal(t Transaction) (string, error) {
	current, err := c.seals.forSecret(c.cfg.ClientSecret.Secret())
	if err != nil {
		return "", err
	}
	text, err := strictjson.Marshal(t)
	if err != nil {
		return "", err
	}
	sealed := current[0].aead.Seal(nil, nil, text, nil) //nolint:gosec // the cipher makes the nonce itself
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open reads the value of the cookie. It fails for a value that this service has not sealed, and after TransactionTime.
func (c *Client) Open(value string) (t Transaction, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return t, errSealed
	}
	all, err := c.seals.forSecret(c.cfg.ClientSecret.Secret())
	if err != nil {
		return t, err
	}
	var text []byte
	for _, s := range all {
		if text, err = s.aead.Open(nil, nil, sealed, nil); err == nil {
			break
		}
	}
	if err != nil {
		return t, errSealed
	}
	if err := strictjson.Unmarshal(text, &t); err != nil {
		return t, errSealed
	}
	if !c.cfg.Now().Before(t.Ends) {
		return t, errExpired
	}
	return t, nil
}
