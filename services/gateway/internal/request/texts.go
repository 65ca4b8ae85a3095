package request

import (
	"regexp"
	"strconv"
	"strings"
)

// The problem texts (spec: validation-message, wrong-type, version-number, string-limits, validation-of-definitions).
const (
	textRequired   = "Required"
	textEither     = "send either fields or text"
	textUnclean    = "must not contain NUL or unpaired surrogate characters"
	textUUID       = "Invalid uuid"
	textDatetime   = "Invalid datetime"
	textFloat      = "Expected integer, received float"
	textAtLeast1   = "Number must be greater than or equal to 1"
	textFinite     = "Number must be finite"
	textRising     = "must be greater than the level before"
	textUnique     = "must be unique"
	textUniqueRow  = "must be unique in a row"
	textSlugIsUUID = "must not be a UUID"
)

// The patterns of names (spec: definition-keys, slug-form).
var (
	keyPattern  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	slugPattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$`)
)

func textPattern(p *regexp.Regexp) string { return "must match " + p.String() }

func textType(want, got kind) string {
	return "Expected " + string(want) + ", received " + string(got)
}

// textOneOf lists the values that are allowed: Expected 'a' | 'b'.
func textOneOf[S ~string](allowed []S) string {
	var b strings.Builder
	b.WriteString("Expected ")
	for i, s := range allowed {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteByte('\'')
		b.WriteString(string(s))
		b.WriteByte('\'')
	}
	return b.String()
}

func textAtMost(n int) string { return "Number must be less than or equal to " + strconv.Itoa(n) }

func textTooLong(n int) string {
	return "String must contain at most " + strconv.Itoa(n) + " character(s)"
}

func textTooShort(n int) string {
	return "String must contain at least " + strconv.Itoa(n) + " character(s)"
}

func textTooMany(n int) string {
	return "Array must contain at most " + strconv.Itoa(n) + " element(s)"
}

func textTooFew(n int) string {
	return "Array must contain at least " + strconv.Itoa(n) + " element(s)"
}
