package request_test

import (
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// authorization is the rule as a pattern (spec: authorization-header, api-key-form): the scheme in any letter case, spaces, and a key.
var authorization = regexp.MustCompile(`\A[ \t]*[Bb][Ee][Aa][Rr][Ee][Rr] +(prism_[0-9A-Za-z]{32})([0-9A-Za-z]{6})[ \t]*\z`)

// FuzzParseAuthorization compares it with the pattern and a checksum worked out by hand.
func FuzzParseAuthorization(f *testing.F) {
	body := "prism_" + strings.Repeat("0aZ9", 8)
	key := body + checksum62(body)
	for _, s := range []string{
		"", " ", "\t", "Bearer", "Bearer ", "Bearer " + key, "bEARER   " + key + "\t", " Bearer " + key, "Bearer\t" + key, "Basic " + key, key,
		"Bearer " + key + " x", "Bearer " + key + ", Bearer " + key, "Bearer " + key[:len(key)-1] + "!", "Bearer " + strings.ToUpper(key), "Bearer \x00" + key, "Bearer " + body + "000000",
	} {
		f.Add(s, true)
	}
	f.Add("", false)
	f.Add("Bearer "+key, false)
	f.Fuzz(func(t *testing.T, header string, present bool) {
		got, err := request.ParseAuthorization(header, present)
		m := authorization.FindStringSubmatch(header)
		switch {
		case !present || strings.Trim(header, " \t") == "":
			if !errors.Is(err, apierr.AuthenticationRequired()) {
				t.Fatalf("%q: got %v", header, err)
			}
		case m == nil || checksum62(m[1]) != m[2]:
			if !errors.Is(err, apierr.InvalidAPIKey()) || got != (contract.KeyDigest{}) {
				t.Fatalf("%q: got %v", header, err)
			}
		default:
			if err != nil || got != sha256.Sum256([]byte(m[1]+m[2])) {
				t.Fatalf("%q: got %x, %v", header, got, err)
			}
		}
	})
}

func checksum62(s string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum, out := crc32.ChecksumIEEE([]byte(s)), ""
	for range 6 {
		out, sum = string(digits[sum%62])+out, sum/62
	}
	return out
}
