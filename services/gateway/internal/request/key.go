package request

import (
	"math"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
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

// optionalDatetime reads an RFC 3339 date-time that may be absent or null, which is nil.
func (r *reader) optionalDatetime(it item) *time.Time {
	if !it.hasValue() {
		return nil
	}
	s, ok := r.str(it, 0, math.MaxInt)
	if !ok {
		return nil
	}
	t, ok := parseDatetime(s)
	if !ok {
		r.add(it.path, textDatetime)
		return nil
	}
	return &t
}
