// Package apierr is the catalogue of the errors that the API returns: one constructor for each of them. No other package
// defines such an error.
package apierr

import (
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Code is the member error.code of an error body.
type Code string

// The codes (spec: error-body).
const (
	CodeValidation   Code = "validation_failed"
	CodeBadRequest   Code = "bad_request"
	CodeUnauthorized Code = "unauthorized"
	CodeNotFound     Code = "not_found"
	CodeConflict     Code = "conflict"
	CodeInternal     Code = "internal_error"
	CodeNone         Code = "" // the 503 of a restarting server has no code
)

// TokenLimit is the limit of the size estimate in tokens (spec: size-estimate).
const TokenLimit = 26_000

// Error is an error of the catalogue: everything that the response says.
type Error struct {
	Status  int    `json:"status"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return strconv.Itoa(e.Status) + " " + e.Message }

// Is makes errors.Is compare by value: errors with the same response are equal.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *e == *t
}

// Problem is one failing path of a request. It never holds a value that was sent.
type Problem struct {
	Path string
	Text string
}

// Invalid is a request with failing paths.
func Invalid(problems ...Problem) *Error {
	var l Problems
	l.Add(problems...)
	return l.Err()
}

// Problems builds the message of Invalid while the problems are found. A body of 1 MiB can have 130,000 problems, so they are
// not kept as a list too. The zero value has no problem.
type Problems struct{ message strings.Builder }

// Expect makes room for a message of so many bytes, so that Add does not copy it.
func (l *Problems) Expect(bytes int) {
	if bytes > 0 {
		l.message.Grow(len(invalidPrefix) + bytes)
	}
}

// Add adds problems to the end of the message.
func (l *Problems) Add(problems ...Problem) {
	for _, p := range problems {
		if l.message.Len() == 0 {
			l.message.WriteString(invalidPrefix)
		} else {
			l.message.WriteString("; ")
		}
		l.message.WriteString(p.Path)
		l.message.WriteString(": ")
		l.message.WriteString(p.Text)
	}
}

// Len is the length of the message in bytes; 0 without a problem.
func (l *Problems) Len() int { return l.message.Len() }

// Err is Invalid with the problems.
func (l *Problems) Err() *Error { return &Error{400, CodeValidation, l.message.String()} }

const invalidPrefix = "Invalid request: "

// FirstPath is the first failing path that the message names; "" if it names none.
func (e *Error) FirstPath() string {
	problems, ok := strings.CutPrefix(e.Message, invalidPrefix)
	if !ok {
		return ""
	}
	path, _, _ := strings.Cut(problems, ": ")
	return path
}

// OtherQuestions is a call in a format of others that asks a prism other questions than its own (spec: own-questions).
func OtherQuestions() *Error {
	return Invalid(Problem{"questions", "must be the questions of the prism, or none"})
}

// MissingFields is a create call without some fields of the version, in the version's order.
func MissingFields(keys []string) *Error {
	return &Error{400, CodeValidation, "Missing fields: " + strings.Join(keys, ", ")}
}

// UnknownFields is a create call with fields that the version does not have, in the order sent.
func UnknownFields(keys []string) *Error {
	return &Error{400, CodeValidation, "Unknown fields: " + strings.Join(keys, ", ")}
}

// TooLarge is a call whose size estimate exceeds the limit.
func TooLarge(tokens int) *Error {
	return &Error{400, CodeValidation, "Request too large: about " + strconv.Itoa(tokens) +
		" tokens of fields, context and the longest question, the limit is " + strconv.Itoa(TokenLimit)}
}

// Malformed is a body that is not valid JSON, a JSON content type without a body, or a path that is not UTF-8.
func Malformed() *Error { return malformed(400) }

// BodyTooLarge is a body over 1 MiB.
func BodyTooLarge() *Error { return malformed(413) }

// UnsupportedMediaType is a body whose content type is not parsed.
func UnsupportedMediaType() *Error { return malformed(415) }

func malformed(status int) *Error { return &Error{status, CodeBadRequest, "Malformed request"} }

// AuthenticationRequired is a request without an Authorization header.
func AuthenticationRequired() *Error {
	return &Error{401, CodeUnauthorized, "Authentication required"}
}

// InvalidAPIKey is a key that is malformed, unknown, revoked or expired.
func InvalidAPIKey() *Error { return &Error{401, CodeUnauthorized, "Invalid API key"} }

// RoleNotAllowed is a call that the role of its key does not allow (spec: roles).
func RoleNotAllowed() *Error {
	return &Error{403, CodeUnauthorized, "Your role does not allow this."}
}

// LinkInvalid is a sign-in link that is unknown, used or expired (spec: sign-in-link).
func LinkInvalid() *Error {
	return &Error{401, CodeUnauthorized, "This sign-in link was used or has expired."}
}

// NotSignedIn is a session that is unknown, has ended, or does not include the account (spec: session).
func NotSignedIn() *Error { return &Error{401, CodeUnauthorized, "You are not signed in."} }

// NotAMember is a sign-in by OpenID Connect of a person who is not a member of any account (spec: openid-members).
func NotAMember() *Error {
	return &Error{403, CodeUnauthorized, "You are not a member of an account."}
}

// CrossOrigin is a change of the console that does not come from the console's own pages (spec: console-same-origin).
func CrossOrigin() *Error {
	return &Error{403, CodeUnauthorized, "This request comes from another origin."}
}

// PrismNotFound is a prism that this account does not have, or an archived prism in a call that needs an answer.
func PrismNotFound() *Error { return notFound("Prism not found") }

// VersionNotFound is a version that the prism does not have.
func VersionNotFound() *Error { return notFound("Prism version not found") }

// ResultNotFound is a result that this account does not have.
func ResultNotFound() *Error { return notFound("Result not found") }

// KeyNotFound is an API key that this account does not have.
func KeyNotFound() *Error { return notFound("Key not found") }

// MemberNotFound is a member that this account does not have.
func MemberNotFound() *Error { return notFound("Member not found") }

// ViewNotFound is a view that this account does not have.
func ViewNotFound() *Error { return notFound("View not found") }

// WebhookNotFound is a webhook that this account does not have.
func WebhookNotFound() *Error { return notFound("Webhook not found") }

// DeliveryNotFound is a delivery that this webhook does not have.
func DeliveryNotFound() *Error { return notFound("Delivery not found") }

// CommentNotFound is a comment that this result does not have.
func CommentNotFound() *Error { return notFound("Comment not found") }

// FileNotFound is a file that this account does not have.
func FileNotFound() *Error { return notFound("File not found") }

// RunNotFound is a run that this account does not have.
func RunNotFound() *Error { return notFound("Run not found") }

// CalibrationNotFound is a calibration that this version does not have.
func CalibrationNotFound() *Error { return notFound("Calibration not found") }

// ModelNotFound is a model that is not configured.
func ModelNotFound() *Error { return notFound("Model not found") }

// PrismArchived is the retry of a result whose prism is archived.
func PrismArchived() *Error { return notFound("This prism is archived, so it cannot answer.") }

// MethodNotAllowed is a GET or a DELETE of the endpoint of agents, whose protocol asks for it (spec: mcp).
func MethodNotAllowed() *Error { return &Error{405, CodeBadRequest, "Method not allowed"} }

// ForeignOrigin is a request that a page of another site makes to the endpoint of agents (spec: mcp-origin).
func ForeignOrigin() *Error {
	return &Error{403, CodeUnauthorized, "Requests of pages of other sites are not allowed."}
}

// RouteNotFound is an unknown path or method.
func RouteNotFound() *Error { return notFound("Route not found") }

func notFound(message string) *Error { return &Error{404, CodeNotFound, message} }

// KeyOfAnotherPrism is an idempotency key that another prism's result holds.
func KeyOfAnotherPrism() *Error {
	return conflict("This idempotency key was already used for another prism.")
}

// OnlyFailedRetried is the retry of a result that succeeded.
func OnlyFailedRetried() *Error { return conflict("Only a failed result can be retried.") }

// OnlyOKLabelled is a label of a failed result.
func OnlyOKLabelled() *Error { return conflict("Only an ok result can be labelled.") }

// AlreadyRetried is a second retry; it names the result that retried it.
func AlreadyRetried(as prism.ResultID) *Error {
	return conflict("This result was already retried as " + as.String() + ".")
}

// MatchNow is a retry of many results where the number of matches is not the expected one (spec: retry-many).
func MatchNow(results int64) *Error {
	return conflict(strconv.FormatInt(results, 10) + " results match now.")
}

// TooManyMatch is a retry of more results than one call may retry (spec: retry-many-limit).
func TooManyMatch(limit int64) *Error {
	return conflict("More than " + strconv.FormatInt(limit, 10) + " results match.")
}

// AreRetried is a retry of many results of a prism while an earlier retry is under way (spec: retry-many-under-way).
func AreRetried() *Error { return conflict("Results of this prism are being retried.") }

// NotIndexed is a call for all results that a search finds while the index does not have all (spec: search-coverage).
func NotIndexed() *Error { return conflict("Not all results are indexed yet. Try again later.") }

// NotSearchable is a search of the results of a prism that searches leave out (spec: prism-searchable).
func NotSearchable() *Error { return conflict("This prism is not searchable.") }

// SlugTaken is a prism whose slug the account already has.
func SlugTaken() *Error { return conflict("A prism with this slug already exists.") }

// TooManyKeys is a new key for an account that has as many keys as it may have (spec: active-keys-limit).
func TooManyKeys() *Error { return conflict("This account has 1000 active keys.") }

// TooManyViews is a new view for an account that has as many as it may have (spec: views-limit).
func TooManyViews() *Error { return conflict("This account has 200 views.") }

// TooManyWebhooks is a new webhook for an account that has as many as it may have (spec: webhooks-limit).
func TooManyWebhooks() *Error { return conflict("This account has 20 webhooks.") }

// WebhookDisabled is a test of a webhook, or an event to send again, while the webhook is disabled (spec: webhook-disabled).
func WebhookDisabled() *Error { return conflict("This webhook is disabled. Enable it first.") }

// StillWaiting is an event to send again that is still to be sent (spec: webhook-resend).
func StillWaiting() *Error { return conflict("This delivery is still waiting.") }

// TooManyComments is a new comment of a result that has as many as it may have (spec: comments-limit).
func TooManyComments() *Error { return conflict("This result has 100 comments.") }

// TooManyAdHoc is a call that would make an ad-hoc prism for an account that has as many as it may have (spec: adhoc-limits).
func TooManyAdHoc() *Error {
	return conflict("This account has " + strconv.Itoa(prism.MaxAdHoc) + " ad-hoc prisms.")
}

// AdHocPrism is a call that ad-hoc prisms do not take (spec: adhoc-unchangeable).
func AdHocPrism() *Error { return conflict("This prism is ad hoc.") }

// TooManyRuns is a run for an account that has as many that are not over as it may have (spec: runs-not-over).
func TooManyRuns() *Error { return conflict("This account has 500 runs that are not over.") }

// TooManyDeletions is a deletion for an account that has as many under way as it may have (spec: deletions-under-way).
func TooManyDeletions() *Error { return conflict("This account has 1000 deletions under way.") }

// ChangesGone is a read of changes that are not kept (spec: changes-kept).
func ChangesGone() *Error {
	return conflict("The changes after this number are not kept. List the results anew.")
}

// LastOwner is the removal of the last owner, or a change of their role (spec: last-owner).
func LastOwner() *Error { return conflict("The last owner cannot be removed.") }

// ArchivedUnchangeable is a new version or Lens for an archived prism.
func ArchivedUnchangeable() *Error { return conflict("This prism is archived.") }

// NotLatest is a new version whose if_latest is not the latest version.
func NotLatest(latest int32) *Error {
	return conflict("The latest version is " + strconv.Itoa(int(latest)) + ".")
}

// PrismChanged is a change of a prism that has changed since the caller read it (spec: if-match).
func PrismChanged() *Error { return conflict("This prism was changed.") }

// TooFewLabels is a measure or calibration that needs more labels than there are (spec: too-few-labels).
func TooFewLabels(have, need int) *Error {
	return conflict("Too few labels: " + strconv.Itoa(have) + " of " + strconv.Itoa(need) + ".")
}

// TooFewOfClass is a calibration that needs more labels of each class than the rarer class has (spec: too-few-of-a-class).
func TooFewOfClass(have, need int) *Error {
	return conflict("Too few labels of one class: " + strconv.Itoa(have) + " of " + strconv.Itoa(need) + ".")
}

// NotFitted is a calibration that the labels do not determine, such as when yes is no more frequent where its probability is
// higher (spec: calibration-not-fitted).
func NotFitted() *Error { return conflict("The labels do not determine a calibration.") }

// NoGain is a calibration by the best method where no method is better than none (spec: calibration-auto).
func NoGain() *Error { return conflict("No calibration is better than none.") }

// TooManyUploads is a new file of an account that has as many uploads that are not completed as it may have (spec: open-uploads).
func TooManyUploads(limit int) *Error {
	return conflict("This account has " + strconv.Itoa(limit) + " open uploads. Complete or delete one of them.")
}

// NoRoom is a new file with which an account would store more than it may (spec: stored-bytes).
func NoRoom(limit int64) *Error {
	return conflict("This account may store " + strconv.FormatInt(limit, 10) + " bytes, and this file is larger than what is left. " +
		"Delete files or results.")
}

// PartConflict is a part of a file that was sent before with other content.
func PartConflict(number int32) *Error {
	return conflict("Part " + strconv.Itoa(int(number)) + " was already sent with other content.")
}

// PartsMissing is the completion of a file of which parts were not sent. The message has the first two of their numbers, and how
// many more there are.
func PartsMissing(first []int32, total int) *Error {
	const maxNamed = 2
	var named []string
	for _, n := range first[:min(len(first), maxNamed)] {
		named = append(named, strconv.Itoa(int(n)))
	}
	text := strings.Join(named, ", ")
	if more := total - len(named); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return conflict("Parts are missing: " + text + ".")
}

// FileDiffers is a completed file whose content does not have its SHA-256.
func FileDiffers() *Error { return conflict("The file's content differs from its sha256.") }

// FileNotReady is a file that was not read yet, or cannot be.
func FileNotReady() *Error { return conflict("This file is not ready.") }

// ContentMissing is a file whose content is not where it is kept.
func ContentMissing() *Error { return conflict("The content of this file is missing.") }

// FileUsed is the deletion of a file that a run still reads.
func FileUsed() *Error { return conflict("This file is used by a run.") }

// RunOver is a change of a run that is finished or cancelled.
func RunOver() *Error { return conflict("This run is over.") }

// NoFailedRows is the retry of a run none of whose rows failed.
func NoFailedRows() *Error { return conflict("This run has no failed rows.") }

func conflict(message string) *Error { return &Error{409, CodeConflict, message} }

// Internal is a bug. The message is always the same.
func Internal() *Error { return &Error{500, CodeInternal, "Internal server error"} }

// Unavailable is a call of which the server did nothing: it is stopping, overloaded, or without a dependency. The body is not
// the usual one (spec: error-service-unavailable).
func Unavailable() *Error { return &Error{503, CodeNone, "Service Unavailable"} }

// RetryAfterError is an Unavailable whose response tells when a repeat may succeed.
type RetryAfterError struct{ Seconds int }

// UnavailableFor is an Unavailable with Retry-After: the wait in seconds, rounded up, and at least 1.
func UnavailableFor(wait time.Duration) error {
	return &RetryAfterError{max(1, int((wait+time.Second-1)/time.Second))}
}

func (e *RetryAfterError) Error() string { return Unavailable().Error() }

// Is makes errors.Is compare by value.
func (e *RetryAfterError) Is(target error) bool {
	t, ok := target.(*RetryAfterError)
	return ok && *e == *t
}

// Unwrap is the error of the catalogue.
func (e *RetryAfterError) Unwrap() error { return Unavailable() }
