package sqlite

import (
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store/internal/listsql"
)

// SQLite has no type for ids or times: ids are stored as 16 bytes, times as Unix milliseconds.

// target is a columns.Dialect.
func target(of any) any {
	switch of := of.(type) {
	case **prism.UUID:
		return uuidTarget{of}
	case **time.Time:
		return timeTarget{of}
	}
	return of
}

func dialect() listsql.Dialect {
	return listsql.Dialect{
		Parameter: "?",
		UUID:      func(id prism.UUID) any { return id[:] },
		Time:      func(t time.Time) any { return t.UnixMilli() },
	}
}

var errColumn = errors.New("sqlite: a column holds a value that this program did not write")

type uuidTarget struct{ id **prism.UUID }

// Scan is called by database/sql.
func (t uuidTarget) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t.id = nil
		return nil
	case []byte:
		return t.set(v)
	}
	return errColumn
}

func (t uuidTarget) set(b []byte) error {
	if len(b) != len(prism.UUID{}) {
		return errColumn
	}
	id := uuidOf(b)
	*t.id = &id
	return nil
}

type timeTarget struct{ at **time.Time }

// Scan is called by database/sql.
func (t timeTarget) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t.at = nil
		return nil
	case int64:
		t.set(v)
		return nil
	}
	return errColumn
}

func (t timeTarget) set(ms int64) {
	at := timeOf(ms)
	*t.at = &at
}

func uuidOf(b []byte) (id prism.UUID) {
	copy(id[:], b)
	return id
}

func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func optionalTimeOf(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := timeOf(*ms)
	return &t
}

func optionalMillis(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}
