package sqlite

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// translate turns the driver's errors into those of package store, by their code. No error text leaves this package.
func translate(operation string, err error) error {
	if err == nil {
		return nil
	}
	step, err := sqldb.FailedStep(operation, err)
	code, known := errors.AsType[codeError](err)
	if !known {
		return fmt.Errorf("sqlite: %s: %w", step, err) // the end of a context or a file error; neither holds a value
	}
	primary := code.ToPrimary()
	switch {
	// SQLite reports the kind of the constraint, and names the constraint only in words. Each of these operations has one
	// unique constraint that is not a primary key, and that of an object is broken only with its account's name.
	case code.ResultCode == sqlite.ResultConstraintUnique &&
		(operation == sqldb.OperationCreateAccount || operation == sqldb.OperationDeclareAccount):
		return fmt.Errorf("sqlite: %s: %w", step, store.ErrNameTaken)
	case code.ResultCode == sqlite.ResultConstraintUnique && operation == sqldb.OperationCreatePrism:
		return fmt.Errorf("sqlite: %s: %w", step, store.ErrSlugTaken)
	case code.ResultCode == sqlite.ResultConstraintForeignKey:
		// Every foreign key refers to the account or to a row of the account.
		return fmt.Errorf("sqlite: %s: %w", step, store.ErrNotFound)
	case primary == sqlite.ResultBusy, primary == sqlite.ResultLocked, primary == sqlite.ResultCantOpen:
		return unavailable(step, code)
	case primary == sqlite.ResultFull:
		return fmt.Errorf("sqlite: %s: %w: %w", step, store.ErrFull, code)
	case primary == sqlite.ResultReadOnly, primary == sqlite.ResultIOErr:
		return fmt.Errorf("sqlite: %s: %w: %w", step, store.ErrUnwritable, code)
	}
	return fmt.Errorf("sqlite: %s: %w", step, code)
}

// codeError is an error of SQLite without its text.
type codeError struct{ sqlite.ResultCode }

// Error is the name of the code, such as SQLITE_BUSY.
func (e codeError) Error() string { return e.String() }

// withoutText keeps only the code of an error.
func withoutText(err error) error {
	if err == nil {
		return nil
	}
	return codeError{sqlite.ErrCode(err)}
}

// unavailable reports an error that came before the operation changed anything.
func unavailable(operation string, err error) error {
	return fmt.Errorf("sqlite: %s: %w: %w", operation, store.ErrUnavailable, err)
}
