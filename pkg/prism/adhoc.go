package prism

import (
	"encoding/base32"
	"strings"
)

// AdHocPrefix begins the slugs of ad-hoc prisms, which no caller may choose.
const AdHocPrefix = "adhoc-"

// The bounds of ad-hoc prisms (spec: adhoc-limits, adhoc-kept).
const (
	// MaxAdHoc is how many of them an account has.
	MaxAdHoc = 1000
	// MaxAdHocBytes bounds the JSON of their definitions.
	MaxAdHocBytes = 64 << 10
	// AdHocDays is how many days their results are kept, unless that is set.
	AdHocDays = 30
)

// inSlugs makes 32 characters of 20 bytes.
var inSlugs = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// AdHocSlug is the slug of the ad-hoc prism of a definition: 160 bits of its hash, of which nobody finds two alike. So the constraint that
// makes slugs unique keeps one prism for a definition.
func AdHocSlug(hash DefinitionHash) string {
	return AdHocPrefix + inSlugs.EncodeToString(hash[:20])
}

// IsAdHocSlug reports whether AdHocSlug makes such slugs. The account decides whether the prism is ad hoc: before slugs were reserved, any
// prism could have such a one.
func IsAdHocSlug(slug string) bool {
	digest, found := strings.CutPrefix(slug, AdHocPrefix)
	if !found || len(digest) != inSlugs.EncodedLen(20) {
		return false
	}
	_, err := inSlugs.DecodeString(digest)
	return err == nil
}
