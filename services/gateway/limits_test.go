package gateway

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

const (
	aResult  = "/v1/results/00000000-0000-4000-8000-000000000001"
	ofAPrism = "/v1/prisms/p/results"
)

// A key that is not well-formed is refused in the order of the checks, and nothing is asked of results.
//
// spec: api-key-form, order-of-checks-create, order-of-checks-read
func TestAMalformedKeyIsRefusedWithoutALookUp(t *testing.T) {
	t.Parallel()
	lookUps := new(atomic.Int64)
	call := serve(t, httpkit.Config{}, stored{lookUps: lookUps}, models{})
	good := newKey(t).Reveal()
	flipped := "0"
	if strings.HasSuffix(good, flipped) {
		flipped = "1"
	}
	for name, token := range map[string]string{
		"a wrong checksum":      good[:len(good)-1] + flipped,
		"a character too few":   good[:len(good)-1],
		"a character too many":  good + "0",
		"another prefix":        "p" + good[:5] + good[6:],
		"a character of base64": good[:10] + "-" + good[11:],
		"another text":          "secret",
	} {
		for _, c := range []struct {
			method, path, body string
			want               *apierr.Error
		}{
			{"GET", aResult, "", apierr.InvalidAPIKey()},
			{"POST", ofAPrism, `{"text":"x"}`, apierr.InvalidAPIKey()},
			{"POST", ofAPrism, `{"text":`, apierr.Malformed()},
			{"GET", "/v1/results/1", "", apierr.Invalid(apierr.Problem{Path: "result_id", Text: "Invalid uuid"})},
			{"GET", "/v1/nowhere", "", apierr.RouteNotFound()},
		} {
			if got := call(token, c.method, c.path, c.body); got.status != c.want.Status || got.body != string(httpkit.ErrorBody(c.want)) {
				t.Errorf("%s: %s %s: got %+v, want %v", name, c.method, c.path, got, c.want)
			}
		}
	}
	if n := lookUps.Load(); n != 0 {
		t.Errorf("%d look-ups", n)
	}
}

// spec: unknown-keys, error-service-unavailable
func TestUnknownKeysOfOneAddressAreLookedUpAFewTimes(t *testing.T) {
	t.Parallel()
	key, lookUps := newKey(t), new(atomic.Int64)
	results := stored{
		accounts: map[contract.KeyDigest]prism.AccountID{key.Digest(): {UUID: prism.UUID{1}}}, lookUps: lookUps,
	}
	call := serve(t, httpkit.Config{}, results, models{})
	if got := call(key.Reveal(), "GET", aResult, ""); got.status != 200 {
		t.Fatalf("got %+v", got)
	}
	for n := range 25 {
		want, after := 401, ""
		if n >= 20 {
			want, after = 503, "1"
		}
		if got := call(newKey(t).Reveal(), "GET", aResult, ""); got.status != want || got.retryAfter != after {
			t.Fatalf("unknown key %d: got %+v", n, got)
		}
	}
	if got := call(newKey(t).Reveal(), "GET", aResult, ""); got.body != string(httpkit.ErrorBody(apierr.Unavailable())) {
		t.Errorf("got %+v", got)
	}
	if got := call(key.Reveal(), "GET", aResult, ""); got.status != 200 {
		t.Errorf("a known key: got %+v", got)
	}
	if got := call(newKey(t).Reveal(), "GET", "/v1/results/1", ""); got.status != 400 {
		t.Errorf("a request that is invalid: got %+v", got)
	}
	if n := lookUps.Load(); n != 21 {
		t.Errorf("%d look-ups", n)
	}
}
