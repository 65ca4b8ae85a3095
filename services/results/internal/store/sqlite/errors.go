package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/prism-results/prism/services/results/internal/store"
)

// primary masks the extension off a result code.
const primary = 0xff

// translate is where errors of the driver stop: by code, and without their text.
func translate(operation string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	code, known := codeOf(err)
	if !known {
		return fmt.Errorf("sqlite: %s: %w", operation, err) // a context's end or a file's, neither of which holds values
	}
	switch code.code {
	case codes.SQLITE_CONSTRAINT_UNIQUE:
		// SQLite tells a constraint's kind, and its name only in words. Each of these operations has one that is not a
		// primary key.
		switch operation {
		case createAccount:
			return store.ErrNameTaken
		case createPrism:
			return store.ErrSlugTaken
		}
	case codes.SQLITE_CONSTRAINT_FOREIGNKEY:
		return store.ErrNotFound // every foreign key leads to the account or to what the account has
	}
	switch code.code & primary {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_CANTOPEN:
		return unavailable(operation, code)
	}
	return fmt.Errorf("sqlite: %s: %w", operation, code)
}

// codeError is an error of SQLite by its code alone.
type codeError struct{ code int }

// check is what SQLite says of a call.
func check(code int32) error {
	if code == codes.SQLITE_OK {
		return nil
	}
	return codeError{int(code)}
}

func codeOf(err error) (code codeError, known bool) {
	if errors.As(err, &code) {
		return code, true
	}
	var driver *sqlite.Error
	if errors.As(err, &driver) {
		return codeError{driver.Code()}, true
	}
	return codeError{}, false
}

func (e codeError) Error() string {
	text, found := sqlite.ErrorCodeString[e.code]
	if !found {
		text = sqlite.ErrorCodeString[e.code&primary]
	}
	return fmt.Sprintf("%s (%d)", text, e.code)
}

// unavailable is for errors that come before anything has happened.
func unavailable(operation string, err error) error {
	return fmt.Errorf("sqlite: %s: %w: %w", operation, store.ErrUnavailable, err)
}
