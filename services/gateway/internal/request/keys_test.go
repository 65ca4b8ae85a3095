package request_test

import (
	"crypto/rand"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

func TestKeysHaveAName(t *testing.T) {
	t.Parallel()
	expires := time.Date(2027, time.January, 2, 3, 4, 5, 678_900_000, time.UTC)
	for body, want := range map[string]api.NewKey{
		`{"name":"CI é","other":1}`:                                  {Name: "CI é"},
		`{"name":"x","role":null,"expires_at":null}`:                 {Name: "x"},
		`{"name":"x","role":"reader"}`:                               {Name: "x", Role: prism.Reader},
		`{"name":"x","expires_at":"2027-01-02T04:04:05.6789+01:00"}`: {Name: "x", ExpiresAt: &expires},
	} {
		if got, err := parsedBody(api.CreateKey, body); err != nil || !reflect.DeepEqual(got.NewKey, want) {
			t.Errorf("%s: got %+v %v", body, got, err)
		}
	}
	for _, c := range []struct{ body, want string }{
		{`{}`, "name: Required"},
		{`{"name":null}`, "name: Expected string, received null"},
		{`{"name":""}`, "name: String must contain at least 1 character(s)"},
		{`{"name":"` + repeat("x", 201) + `"}`, "name: String must contain at most 200 character(s)"},
		{`{"name":"\u0000"}`, "name: " + unclean},
		{`{"name":"x","role":"root"}`, "role: Expected 'owner' | 'editor' | 'caller' | 'labeller' | 'reader'"},
		{`{"name":"x","role":""}`, "role: Expected 'owner' | 'editor' | 'caller' | 'labeller' | 'reader'"},
		{`{"name":"x","role":1}`, "role: Expected string, received number"},
		{`{"name":"x","expires_at":"tomorrow"}`, "expires_at: Invalid datetime"},
		{`{"name":"x","expires_at":""}`, "expires_at: Invalid datetime"},
		{`{"name":"x","expires_at":7}`, "expires_at: Expected string, received number"},
		{`{"role":"x","expires_at":"x"}`, "name: Required; role: Expected 'owner' | 'editor' | 'caller' | 'labeller' | 'reader'; expires_at: Invalid datetime"},
	} {
		_, err := parsedBody(api.CreateKey, c.body)
		wantProblems(t, err, c.want)
	}
	got, err := parsed(api.RevokeKey, request.Source{}, "key_id", anID)
	if err != nil || got.Key.String() != anID {
		t.Errorf("got %v %v", got, err)
	}
	_, err = parsed(api.RevokeKey, request.Source{}, "key_id", "x")
	wantProblems(t, err, "key_id: Invalid uuid")
}

// spec: authorization-header, api-key-form
func TestAuthorizationIsBearerAndAKey(t *testing.T) {
	t.Parallel()
	key, err := apikey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := key.Reveal()
	mistyped := text[:20] + "!" + text[21:]
	for _, c := range []struct {
		name, header string
		absent       bool
		want         error
	}{
		{name: "the scheme as documented", header: "Bearer " + text},
		{name: "the scheme in lower case", header: "bearer " + text},
		{name: "the scheme in upper case", header: "BEARER " + text},
		{name: "several spaces", header: "Bearer   " + text},
		{name: "white space around the value", header: " \tBearer " + text + "\t "},
		{name: "no header", absent: true, want: apierr.AuthenticationRequired()},
		{name: "an empty header", header: "", want: apierr.AuthenticationRequired()},
		{name: "a blank header", header: " \t ", want: apierr.AuthenticationRequired()},
		{name: "the scheme alone", header: "Bearer", want: apierr.InvalidAPIKey()},
		{name: "the key alone", header: text, want: apierr.InvalidAPIKey()},
		{name: "another scheme", header: "Basic " + text, want: apierr.InvalidAPIKey()},
		{name: "no space", header: "Bearer" + text, want: apierr.InvalidAPIKey()},
		{name: "a tab", header: "Bearer\t" + text, want: apierr.InvalidAPIKey()},
		{name: "a mistyped key", header: "Bearer " + mistyped, want: apierr.InvalidAPIKey()},
		{name: "two keys", header: "Bearer " + text + " " + text, want: apierr.InvalidAPIKey()},
		{name: "a list", header: "Bearer " + text + ", Bearer " + text, want: apierr.InvalidAPIKey()},
		{name: "another service's token", header: "Bearer sk-123", want: apierr.InvalidAPIKey()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := request.ParseAuthorization(c.header, !c.absent)
			if !errors.Is(err, c.want) || (err == nil) != (got == key.Digest()) {
				t.Errorf("got %x, %v", got, err)
			}
		})
	}
}
