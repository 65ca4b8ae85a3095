package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/apply"
	"github.com/prism-results/prism/cmd/prismctl/internal/export"
)

// The exit codes (docs/prismctl.md).
const (
	exitOK           = 0
	exitError        = 1   // an error on this machine: a file, an output
	exitUsage        = 2   // a wrong command line
	exitInvalid      = 3   // invalid input: a definition, fields, a file, an id
	exitUnauthorized = 4   // no key, an invalid one, or one whose role does not allow the command
	exitNotFound     = 5   // no such prism, version, result, key, file or run
	exitConflict     = 6   // a conflict with the state; a run that was watched was paused or cancelled
	exitFailed       = 7   // the model gave no usable answer, also for rows of a run that was watched
	exitUnavailable  = 8   // no connection, no response, or an unavailable server
	exitServer       = 9   // a bug of the server, or a response that is not Prism's
	exitChanges      = 10  // prisms apply --dry-run --exit-code has changes
	exitInterrupted  = 130 // Ctrl-C
)

// codeError is an error with its exit code.
type codeError struct {
	code int
	error
}

func (e *codeError) Unwrap() error { return e.error }

// errTold is for an exit code whose reason the user was told already.
var errTold = errors.New("")

func usage(err error) error { return &codeError{exitUsage, err} }

func invalid(err error) error { return &codeError{exitInvalid, err} }

// exitCode is the exit code of an error, or of the first of several.
func exitCode(err error) int {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return exitCode(several.Unwrap()[0])
	}
	var known *codeError
	var failed *client.FailedError
	var cut *client.ConnectionError
	var other *export.OtherExportError
	var wrong *apply.FileError
	var unusable *client.UnusableFileError
	switch {
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &wrong), errors.As(err, &unusable):
		return exitInvalid
	case errors.As(err, &failed):
		return exitFailed
	case errors.As(err, &cut), errors.Is(err, client.ErrUnavailable):
		return exitUnavailable
	case errors.Is(err, client.ErrValidationFailed), errors.Is(err, client.ErrBadRequest):
		return exitInvalid
	case errors.Is(err, client.ErrUnauthorized):
		return exitUnauthorized
	case errors.Is(err, client.ErrNotFound):
		return exitNotFound
	case errors.Is(err, client.ErrConflict), errors.Is(err, apply.ErrChanged), errors.Is(err, export.ErrColumnsChanged), errors.As(err, &other),
		errors.Is(err, client.ErrColumnsChanged):
		return exitConflict
	case errors.Is(err, client.ErrInternal), errors.Is(err, client.ErrUnexpected):
		return exitServer
	}
	return exitError
}

// jsonError is an error of a command whose output is JSON: the error body of the API, the id of the request and the exit code.
type jsonError struct {
	Error struct {
		Code    client.Code `json:"code"`
		Message string      `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id,omitempty"`
	ExitCode  int    `json:"exit_code"`
}

// localCodes are the codes of errors that Prism did not answer with.
var localCodes = map[int]client.Code{
	exitError: "local", exitUsage: "usage", exitInvalid: "invalid", exitUnauthorized: client.CodeUnauthorized, exitNotFound: client.CodeNotFound,
	exitConflict: client.CodeConflict, exitFailed: "failed", exitUnavailable: "no_response", exitInterrupted: "interrupted",
}

func errorJSON(err error, code int, text string) (e jsonError) {
	e.Error.Code, e.Error.Message, e.ExitCode = localCodes[code], text, code
	var refused *client.Error
	var failed *client.FailedError
	switch {
	case errors.As(err, &refused):
		e.Error.Code, e.RequestID = refused.Code, refused.RequestID
	case errors.As(err, &failed):
		e.RequestID = failed.RequestID
	}
	return e
}

// aboutError names which of several prisms or results an error belongs to.
type aboutError struct {
	subject string
	err     error
}

func (e *aboutError) Error() string { return e.subject + ": " + e.err.Error() }

func (e *aboutError) Unwrap() error { return e.err }

// hintError adds to an error what may help.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() + ": " + e.hint }

func (e *hintError) Unwrap() error { return e.err }

// unrepeated are the operations that change something and that the client does not repeat after a lost response.
var unrepeated = []string{
	"createPrism", "createVersion", "createKey", "addMember", "linkMember", "createCalibration", "retryResult", "retryResults", "retryRun",
	"deleteResults", "assignResults",
}

// explain is the text of an error for people.
func explain(err error) string {
	switch e := err.(type) { //nolint:errorlint // each layer is explained
	case nil:
		return ""
	case *codeError:
		return explain(e.error)
	case *aboutError:
		return e.subject + ": " + explain(e.err)
	case *hintError:
		return explain(e.err) + ": " + e.hint
	case interface{ Unwrap() []error }:
		var texts []string
		for _, inner := range e.Unwrap() {
			texts = append(texts, explain(inner))
		}
		return strings.Join(texts, "\n")
	}
	return explainCall(err)
}

func explainCall(err error) string {
	var refused *client.Error
	var failed *client.FailedError
	var cut *client.ConnectionError
	var unusable *client.UnusableFileError
	switch {
	case errors.As(err, &unusable) && unusable.File.Error != nil:
		return *unusable.File.Error
	case errors.Is(err, client.ErrColumnsChanged):
		return "the prism's Lens changed during the download, so the rows would not fit each other: download again"
	case errors.As(err, &failed):
		if failed.Try != nil && failed.Try.Error != nil {
			return "the try failed: " + *failed.Try.Error
		}
		if failed.Result == nil || failed.Result.Error == nil {
			return "the result failed"
		}
		return fmt.Sprintf("result %s failed: %s", failed.Result.ID, *failed.Result.Error)
	case errors.As(err, &refused) && refused.Code == client.CodeUnexpected:
		return fmt.Sprintf("%s (status %d): is this the address of a Prism?", refused.Message, refused.Status)
	case errors.As(err, &refused) && refused.Code == client.CodeInternal:
		return fmt.Sprintf("%s (request %s in the server's log)", refused.Message, refused.RequestID)
	case errors.As(err, &refused):
		return refused.Message
	case errors.As(err, &cut):
		text := "no response from Prism: " + cut.Err.Error()
		if cut.Sent && slices.Contains(unrepeated, cut.Operation) {
			text += "; Prism may have done it all the same"
		}
		return text
	}
	return err.Error()
}
