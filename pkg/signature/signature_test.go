package signature_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/signature"
)

// The example of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
//
// spec: event-signature
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	secret, err := signature.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Repeat([]byte{1}, 32)
	const id, one = "msg_p5jXN8AQM9LWM0D4loKWxJek", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	h := signature.Header(id, time.UnixMilli(1_614_265_330_999), []byte(`{"test": 2432232314}`), secret, secret)
	if h.Get("webhook-signature") != one+" "+one || h.Get("webhook-id") != id || h.Get("webhook-timestamp") != "1614265330" ||
		h.Get("Content-Type") != "application/json" || len(h) != 4 {
		t.Errorf("got %v", h)
	}
	two := signature.Header(id, time.Unix(1_614_265_330, 0), []byte(`{"test": 2432232314}`), other, secret).Get("webhook-signature")
	first, second, _ := strings.Cut(two, " ")
	alone := signature.Header(id, time.Unix(1_614_265_330, 0), []byte(`{"test": 2432232314}`), other).Get("webhook-signature")
	if first != alone || second != one { // spec: webhook-rotate
		t.Errorf("by two secrets: %s", two)
	}
}

// spec: event-signature
func TestASecretIsReadFromItsText(t *testing.T) {
	t.Parallel()
	secret, text := signature.NewSecret()
	got, err := signature.ParseSecret(text)
	if err != nil || len(secret) != 32 || !bytes.Equal(got, secret) {
		t.Errorf("got %x, %v of %s", got, err, text)
	}
	for _, wrong := range []string{"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_?", "WHSEC_MfKQ"} {
		if _, err := signature.ParseSecret(wrong); err == nil {
			t.Errorf("%q is a secret", wrong)
		}
	}
}
