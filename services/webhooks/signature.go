package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/contract"
)

// header is the header of a try, as Standard Webhooks has it (https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md):
// webhook-id is that of each try of an event, webhook-timestamp when this try began, in seconds.
func header(d contract.Delivery, at time.Time, secrets [][]byte) http.Header {
	id, timestamp := d.ID.String(), strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", timestamp)
	h.Set("Webhook-Signature", sign(id, timestamp, d.Body, secrets))
	return h
}

// sign is the signature by each secret, separated by spaces.
func sign(id, timestamp string, body []byte, secrets [][]byte) string {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = mac.Write([]byte(id + "." + timestamp + "."))
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
