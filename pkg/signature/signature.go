// Package signature signs events as Standard Webhooks says
// (https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md; spec: event-signature).
package signature

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret makes a secret and its text.
func NewSecret() (secret []byte, text string) {
	secret = make([]byte, secretBytes)
	_, _ = rand.Read(secret) // which never fails
	return secret, secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

var errSecret = errors.New("is no secret: whsec_ and base64")

// ParseSecret reads the text of a secret. The error does not repeat it.
func ParseSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) == 0 {
		return nil, errSecret
	}
	return secret, nil
}

// Header is the header of a try to send an event: webhook-id is that of each try of it, webhook-timestamp when this one began, in seconds,
// and webhook-signature the signature by each secret, separated by spaces.
func Header(id string, at time.Time, body []byte, secrets ...[]byte) http.Header {
	timestamp, signatures := strconv.FormatInt(at.Unix(), 10), make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = mac.Write([]byte(id + "." + timestamp + "."))
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", timestamp)
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
	return h
}
