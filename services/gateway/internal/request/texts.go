package request

import (
	"regexp"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// The problem texts (spec: validation-message, wrong-type, version-number, string-limits, validation-of-definitions,
// audit-actor).
const (
	textRequired   = "Required"
	textEither     = "send either fields or text"
	textUnclean    = "must not contain NUL or unpaired surrogate characters"
	textUUID       = "Invalid uuid"
	textDatetime   = "Invalid datetime"
	textDay        = "Expected a day, such as 2026-11-01, or its midnight in UTC"
	textSHA256     = "Expected the SHA-256 of the file in hexadecimal"
	textETag       = "Invalid entity tag"
	textCursor     = "Invalid cursor"
	textAssignee   = "Expected 'me', 'none' or the id of a member"
	textActor      = "Expected 'operator', 'retention', 'webhooks' or the id of a key"
	textFloat      = "Expected integer, received float"
	textFinite     = "Number must be finite"
	textRising     = "must be greater than the level before"
	textUnique     = "must be unique"
	textUniqueRow  = "must be unique in a row"
	textSlugIsUUID = "must not be a UUID"
	textReserved   = "must not begin with " + reservedSlugs
	textTwice      = "sent more than once"
	textOtherModel = "must be another model than the version's"
	textQuestion   = "Unknown question"
	textNoImages   = "images are not supported"

	textNotWith = "must not be sent with " // and a member

	textHour = "Expected a whole hour, such as 2026-11-01T09:00:00Z"

	// With the bound.
	textAbove          = "Number must be greater than %d"
	textAtLeast        = "Number must be greater than or equal to %d"
	textAtMost         = "Number must be less than or equal to %d"
	textTooLong        = "String must contain at most %d character(s)"
	textTooShort       = "String must contain at least %d character(s)"
	textTooMany        = "Array must contain at most %d element(s)"
	textTooFew         = "Array must contain at least %d element(s)"
	textTooManyMembers = "Object must contain at most %d member(s)"
	textTooManyGroups  = "the options of a question must have at most %d groups"
	textTooManyOptions = "must have at most %d options and levels together"
)

// reservedSlugs begins the slugs that no caller may choose.
const reservedSlugs = prism.AdHocPrefix

func textPattern(p *regexp.Regexp) string { return "must match " + p.String() }

func textType(want, got kind) string {
	return "Expected " + string(want) + ", received " + string(got)
}

// textOneOf lists the values that are allowed: Expected 'a' | 'b'.
func textOneOf[S ~string](allowed []S) string {
	quoted := make([]string, len(allowed))
	for i, s := range allowed {
		quoted[i] = "'" + string(s) + "'"
	}
	return "Expected " + strings.Join(quoted, " | ")
}
