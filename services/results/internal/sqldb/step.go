package sqldb

import (
	"context"
	"errors"
	"strings"
)

// Name names a statement in errors: the name in its comment, or else the first line of its text, which holds no value.
func (s Statement) Name() string {
	line, _, _ := strings.Cut(strings.TrimSpace(s.Text), "\n")
	if name, ok := strings.CutPrefix(line, "-- name: "); ok {
		name, _, _ = strings.Cut(name, " ")
		return name
	}
	return line
}

// stepError is the error of a statement in a transaction.
type stepError struct {
	statement string
	err       error
}

func (e *stepError) Error() string { return e.statement + ": " + e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// NameSteps has the errors of a transaction's statements name the statement.
func NameSteps(run Run) Run {
	return func(ctx context.Context, s Statement, read Reader) error {
		if err := run(ctx, s, read); err != nil {
			return &stepError{s.Name(), err}
		}
		return nil
	}
}

// FailedStep returns the error of a statement without its name, which it adds to the name of the operation. Any other error stays
// as it is.
func FailedStep(operation string, err error) (string, error) {
	if step, ok := errors.AsType[*stepError](err); ok {
		return operation + ": " + step.statement, step.err
	}
	return operation, err
}
