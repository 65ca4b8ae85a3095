package webhooks

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The example of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
//
// spec: event-signature
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	secret, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`), [][]byte{secret, secret})
	const one = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got != one+" "+one {
		t.Errorf("got %q", got)
	}
	d := contract.Delivery{ID: prism.DeliveryID{UUID: prism.UUID{1}}, Body: []byte(`{}`)}
	h := header(d, time.UnixMilli(1_614_265_330_999), [][]byte{secret})
	if h.Get("webhook-id") != d.ID.String() || h.Get("webhook-timestamp") != "1614265330" || h.Get("Content-Type") != "application/json" ||
		h.Get("webhook-signature") != sign(d.ID.String(), "1614265330", d.Body, [][]byte{secret}) || len(h) != 4 {
		t.Errorf("got %v", h)
	}
}
