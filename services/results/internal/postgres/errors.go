package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The error codes that callers distinguish (Postgres manual, appendix A).
const (
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	readOnlyTransaction  = "25006"
	resourceClass        = "53" // disk full, out of memory, too many connections
	systemClass          = "58" // the disk failed
	connectionClass      = "08" // the server lost a server that it needs, as a coordinator of Citus does
	tooManyConnections   = "53300"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
	accountMoving        = "PM001" // of the trigger refuse_moved
	accountMoved         = "PM002"

	// PgBouncer uses this code for all its own errors. Postgres uses it for messages that are out of order.
	protocolViolation = "08P01"
)

// translate turns the driver's errors into those of package store, by the code and the name of the constraint. No error text of
// the server leaves this package, because it may quote values, except that of a failed attempt to connect (see bare).
func translate(operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return store.ErrNotFound
	}
	operation, err = sqldb.FailedStep(operation, err)
	if errors.Is(err, sqldb.ErrUnreadable) || errors.Is(err, sqldb.ErrUnwritable) || store.IsNotFound(err) || store.IsConflict(err) ||
		errors.Is(err, store.ErrUnavailable) { // of another database, which a step of a transaction needs
		return fmt.Errorf("postgres: %s: %w", operation, err)
	}
	if pgconn.SafeToRetry(err) {
		return unavailable(operation, err)
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refusal.Code {
		case accountMoving, accountMoved:
			return fmt.Errorf("postgres: %s: %w", operation, moveError(refusal))
		case uniqueViolation:
			switch {
			case isOn(refusal, "accounts", "name"):
				return fmt.Errorf("postgres: %s: %w", operation, store.ErrNameTaken)
			case isOn(refusal, "prisms", "slug"):
				return fmt.Errorf("postgres: %s: %w", operation, store.ErrSlugTaken)
			}
		case foreignKeyViolation:
			// Every foreign key refers to the account or to a row of the account.
			return fmt.Errorf("postgres: %s: %w", operation, store.ErrNotFound)
		case adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections:
			// The server ends a connection between statements, so a statement that it was sent has not run. If the server ends
			// the connection during a statement, the statement is rolled back.
			return unavailable(operation, err)
		}
		if isUnwritable(refusal.Code) {
			return fmt.Errorf("postgres: %s: %w: %w", operation, store.ErrUnwritable, bare(err))
		}
	}
	return fmt.Errorf("postgres: %s: %w", operation, bare(err))
}

// moveError is a refusal of the trigger refuse_moved.
func moveError(refusal *pgconn.PgError) error {
	account, err := prism.ParseUUID(refusal.Detail)
	if err != nil {
		return err
	}
	return &store.MoveError{Account: prism.AccountID{UUID: account}, Moved: refusal.Code == accountMoved}
}

// isOn identifies a constraint by its table and column. Partitions and shards have their own constraints, such as
// prisms_3_account_id_slug_key and prisms_slug_key_102008, whose names are derived from the table and the columns.
func isOn(refusal *pgconn.PgError, table, column string) bool {
	name, found := strings.CutPrefix(constraint(refusal), table+"_")
	return found && strings.Contains("_"+name, "_"+column+"_key")
}

// constraint is the name of the constraint that refused a statement. Citus hands on the message of a shard without the field.
func constraint(refusal *pgconn.PgError) string {
	if _, quoted, found := strings.Cut(refusal.Message, `violates unique constraint "`); found && refusal.ConstraintName == "" {
		name, _, _ := strings.Cut(quoted, `"`)
		return name
	}
	return refusal.ConstraintName
}

// isRefused reports whether Postgres rolled a statement back because of a concurrent one.
func isRefused(err error) bool {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refusal.Code == serializationFailure || refusal.Code == deadlockDetected)
}

// isReadOnly reports whether the server refused to write because it is read-only, as a primary is that became a standby.
func isReadOnly(err error) bool {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refusal.Code == readOnlyTransaction
}

// isUnwritable reports whether a code means that the server cannot write. The statement was rolled back.
func isUnwritable(code string) bool {
	return code == readOnlyTransaction || strings.HasPrefix(code, resourceClass) || strings.HasPrefix(code, systemClass)
}

// unavailable reports an error that came before the operation changed anything.
func unavailable(operation string, err error) error {
	return fmt.Errorf("postgres: %s: %w: %w", operation, store.ErrUnavailable, bare(err))
}

// codeError is an error of the server without its text: the code and the constraint, which the schema names.
type codeError struct{ code, constraint string }

func (e codeError) Error() string {
	if e.constraint == "" {
		return "SQLSTATE " + e.code
	}
	return "SQLSTATE " + e.code + " on " + e.constraint
}

// errPooler: a pooler ended the connection and did not say whether the statement was still queued or had run.
var errPooler = errors.New("the pooler ended the connection")

// errBehind: the server lost a connection of its own while it executed a statement, and did not say whether the statement had run.
var errBehind = errors.New("the server lost a server behind it")

// connectionErrors are the ways in which a connection, or the time for it, ends while a statement is under way.
func connectionErrors() []error {
	return []error{errPooler, errBehind, context.DeadlineExceeded, io.ErrUnexpectedEOF, io.EOF, net.ErrClosed}
}

// isUnknown reports whether the outcome of a statement is unknown.
func isUnknown(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || slices.ContainsFunc(connectionErrors(), func(known error) bool { return errors.Is(err, known) })
}

// bare reduces an error to parts that hold no value: the code, the end of a context, a network error. Of any other error,
// such as a parameter that can't be encoded, it keeps the type.
func bare(err error) error {
	if e, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return e // names the server and the user; nothing has been sent
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case e.Code == protocolViolation && e.Severity == "FATAL":
			return errPooler
		case strings.HasPrefix(e.Code, connectionClass) && e.Code != protocolViolation:
			return errBehind
		}
		return codeError{code: e.Code, constraint: constraint(e)}
	}
	for _, known := range append(connectionErrors(), context.Canceled) {
		if errors.Is(err, known) {
			return known
		}
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e
	}
	return fmt.Errorf("an error of type %T", err)
}
