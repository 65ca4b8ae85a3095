package prism_test

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// uuidForm is the rule itself (spec: invalid-uuid): only the 8-4-4-4-12 form, in any letter case.
var uuidForm = regexp.MustCompile(`\A[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\z`)

// FuzzParseUUID compares ParseUUID with the form as a pattern and the value as hexadecimal.
func FuzzParseUUID(f *testing.F) {
	for _, s := range []string{
		canonical, strings.ToUpper(canonical), "", "{" + canonical + "}", "urn:uuid:" + canonical,
		strings.ReplaceAll(canonical, "-", ""), canonical + "\n", "0190b5a8-7c00-7abc-8def-0000000000-a",
		"0190b5a8-7c00-7abc-8def-000000000\uff12", "{190b5a8-7c00-7abc-8def-00000000002}", "0190b5a8_7c00_7abc_8def_00000000002a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := prism.ParseUUID(s)
		if !uuidForm.MatchString(s) {
			if err == nil || !got.IsZero() {
				t.Fatalf("%q was taken as %s", s, got)
			}
			if ref := prism.ParseRef(s); !ref.ID.IsZero() || ref.Slug != s {
				t.Fatalf("%q names %+v", s, ref)
			}
			return
		}
		want, _ := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
		if err != nil || string(got[:]) != string(want) {
			t.Fatalf("%q: got %s, %v", s, got, err)
		}
		if got.String() != strings.ToLower(s) {
			t.Fatalf("%q is written as %s", s, got)
		}
	})
}
