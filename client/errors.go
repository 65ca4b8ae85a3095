package client

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Code is the kind of an error.
type Code string

// The codes of the API, and two of the client for responses without a code.
const (
	CodeValidationFailed Code = "validation_failed" // the request is invalid; the message names every path
	CodeBadRequest       Code = "bad_request"       // the request cannot be read: malformed, too large, of another content type
	CodeUnauthorized     Code = "unauthorized"      // the key is missing, unknown, revoked or expired, or its role does not allow the call
	CodeNotFound         Code = "not_found"         // it does not exist, or the prism is archived
	CodeConflict         Code = "conflict"          // it was done already, or the state does not allow it
	CodeInternal         Code = "internal_error"    // a bug of the server
	CodeUnavailable      Code = "unavailable"       // the 503 of a server that did nothing
	CodeUnexpected       Code = "unexpected"        // not a response of Prism: a proxy's page, a redirect, JSON of another shape
)

// One value for each code, for errors.Is.
var (
	ErrValidationFailed error = &Error{Code: CodeValidationFailed}
	ErrBadRequest       error = &Error{Code: CodeBadRequest}
	ErrUnauthorized     error = &Error{Code: CodeUnauthorized}
	ErrNotFound         error = &Error{Code: CodeNotFound}
	ErrConflict         error = &Error{Code: CodeConflict}
	ErrInternal         error = &Error{Code: CodeInternal}
	ErrUnavailable      error = &Error{Code: CodeUnavailable}
	ErrUnexpected       error = &Error{Code: CodeUnexpected}
)

// Error is a refused call.
type Error struct {
	Operation string // such as "createResult"
	Status    int
	Code      Code
	Message   string // for people, not for branching
	RequestID string // names the request in the server's logs
	// RetryAfter is how long the server asks to wait before a repeat; 0 if it does not ask.
	RetryAfter time.Duration
}

// RetryAfter returns the RetryAfter of an *Error in err, or 0 without one.
func RetryAfter(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return "prism: " + string(e.Code)
	}
	return fmt.Sprintf("prism: %s: %d %s: %s", e.Operation, e.Status, e.Code, e.Message)
}

// Is matches an error that has only the same code, such as ErrNotFound.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == Error{Code: e.Code}
}

// FailedError is a result whose model gave no usable answer. The result is saved, and can be retried once. From TryDefinition
// it is a try, and nothing is saved.
type FailedError struct {
	Operation string
	// Result is the failed result. It is nil when the format was csv, tsv or jsonl, and for a try.
	Result *Result
	// Try is the failed try; nil for a result.
	Try *Try
	// Body is the failed result in the requested format.
	Body      []byte
	RequestID string
}

func (e *FailedError) Error() string {
	if e.Try != nil && e.Try.Error != nil {
		return "prism: " + e.Operation + ": " + *e.Try.Error
	}
	if e.Result == nil || e.Result.Error == nil {
		return "prism: " + e.Operation + ": the result failed"
	}
	return "prism: " + e.Operation + ": result " + e.Result.ID + " failed: " + *e.Result.Error
}

// ConnectionError is a call without a complete response.
type ConnectionError struct {
	Operation string
	// Sent tells that Prism may have received the request. A create may then have saved a result.
	Sent bool
	Err  error
}

func (e *ConnectionError) Error() string {
	return "prism: " + e.Operation + ": no response: " + e.Err.Error()
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// timeoutError is the error of an attempt that took too long.
type timeoutError struct{}

func (timeoutError) Error() string   { return "it took too long" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// Secret is the text of an API key. Only Reveal returns the text; printing, logging and encoding write a placeholder.
type Secret struct{ text string }

const redacted = "[redacted]"

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// Format writes the placeholder for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText is the placeholder.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText takes the text.
func (s *Secret) UnmarshalText(b []byte) error {
	s.text = string(b)
	return nil
}
