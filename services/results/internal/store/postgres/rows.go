package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store/internal/listsql"
)

// target is what pgx scans into at once. For a pointer to a pointer it looks for a way by reflection, in each row anew.
func target(of any) any {
	switch of := of.(type) {
	case **prism.UUID:
		return uuidTarget{of}
	case **time.Time:
		return timeTarget{of}
	case **string:
		return textTarget{of}
	case **int64:
		return int64Target{of}
	case **int32:
		return int32Target{of}
	case **bool:
		return boolTarget{of}
	}
	return of
}

type (
	uuidTarget  struct{ to **prism.UUID }
	timeTarget  struct{ to **time.Time }
	textTarget  struct{ to **string }
	int64Target struct{ to **int64 }
	int32Target struct{ to **int32 }
	boolTarget  struct{ to **bool }
)

// ScanUUID, and each method below, is called by pgx.
func (t uuidTarget) ScanUUID(v pgtype.UUID) error {
	return set(t.to, prism.UUID(v.Bytes), v.Valid)
}

func (t timeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	if v.InfinityModifier != pgtype.Finite {
		return errInfinite
	}
	return set(t.to, v.Time, v.Valid)
}

func (t textTarget) ScanText(v pgtype.Text) error { return set(t.to, v.String, v.Valid) }

func (t int64Target) ScanInt64(v pgtype.Int8) error { return set(t.to, v.Int64, v.Valid) }

func (t int32Target) ScanInt64(v pgtype.Int8) error {
	return set(t.to, int32(v.Int64), v.Valid) //nolint:gosec // of a column that is an integer
}

func (t boolTarget) ScanBool(v pgtype.Bool) error { return set(t.to, v.Bool, v.Valid) }

// errInfinite is a time that was not written here.
var errInfinite = errors.New("postgres: a time is infinite")

// set leaves nil what is null.
func set[T any](to **T, value T, valid bool) error {
	*to = nil
	if valid {
		kept := value // here, for a null needs no memory
		*to = &kept
	}
	return nil
}

func parameters() listsql.Dialect {
	return listsql.Dialect{
		Parameter: "$",
		UUID:      func(id prism.UUID) any { return id },
		Time:      func(t time.Time) any { return t },
	}
}

// inUTC undoes pgx, which reads times in the zone of the process.
func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}
