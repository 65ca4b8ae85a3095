package sqlite

import (
	"errors"
	"iter"
	"strconv"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// query executes a statement and reads its rows.
func query(conn *sqlite.Conn, s sqldb.Statement, read sqldb.Reader) (err error) {
	statement, err := conn.Prepare(s.Text) // from the connection's cache of statements
	if err != nil {
		return withoutText(err)
	}
	// A statement that is not reset keeps its snapshot, which stops the log from being moved into the file.
	defer func() { err = errors.Join(err, withoutText(statement.Reset())) }()
	for i, arg := range s.Args {
		bind(statement, "$"+strconv.Itoa(i+1), arg)
	}
	hasRow, err := statement.Step() // which makes all changes
	if err != nil {
		return withoutText(err)
	}
	var failed error
	var work fair.Work
	err = read(func(yield func(*sqldb.Row) bool) {
		for hasRow && failed == nil {
			work.Begin()
			row := sqldb.NewRow(columns{statement})
			more := yield(row)
			work.End()
			if failed = row.Err(); failed != nil || !more {
				return
			}
			hasRow, err = statement.Step()
			failed = withoutText(err)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// find reads the first row of a statement, and reports whether there is one.
func find(conn *sqlite.Conn, text string, args []any, read func(*sqldb.Row)) (exists bool, err error) {
	err = query(conn, sqldb.Statement{Text: text, Args: args}, func(rows iter.Seq[*sqldb.Row]) error {
		for r := range rows {
			read(r)
			exists = true
			break
		}
		return nil
	})
	return exists, err
}

// execute executes a statement whose rows, if it has any, do not matter.
func execute(conn *sqlite.Conn, text string, args ...any) error {
	_, err := find(conn, text, args, func(*sqldb.Row) {})
	return err
}

// SQLite has no type for ids or times: ids are stored as 16 bytes, times as Unix milliseconds.
func bind(to *sqlite.Stmt, name string, arg any) {
	switch v := arg.(type) {
	case prism.UUID:
		to.SetBytes(name, v[:])
	case string:
		to.SetText(name, v)
	case int32:
		to.SetInt64(name, int64(v))
	case int64:
		to.SetInt64(name, v)
	case float64:
		to.SetFloat(name, v)
	case bool:
		to.SetBool(name, v)
	case time.Time:
		to.SetInt64(name, v.UnixMilli())
	case []byte:
		if v == nil {
			to.SetNull(name)
		} else {
			to.SetBytes(name, v)
		}
	case *string:
		bindOptional(to, name, v)
	case *int32:
		bindOptional(to, name, v)
	case *prism.UUID:
		bindOptional(to, name, v)
	case *time.Time:
		bindOptional(to, name, v)
	case *int64:
		bindOptional(to, name, v)
	case nil:
		to.SetNull(name)
	default:
		panic("sqlite: an argument of a type that package sqlstore does not name") // a mistake in the code
	}
}

func bindOptional[T any](to *sqlite.Stmt, name string, v *T) {
	if v == nil {
		to.SetNull(name)
	} else {
		bind(to, name, *v)
	}
}

// columns are the values of the statement's current row. The types of the tables are strict.
type columns struct{ *sqlite.Stmt }

func (c columns) Null(column int) bool { return c.ColumnIsNull(column) }

func (c columns) UUID(column int) (id prism.UUID, err error) {
	c.ColumnBytes(column, id[:])
	if c.ColumnLen(column) != len(id) {
		err = sqldb.ErrUnreadable
	}
	return id, err
}

func (c columns) Text(column int) string { return c.ColumnText(column) }

func (c columns) Bytes(column int) []byte {
	b := make([]byte, c.ColumnLen(column))
	c.ColumnBytes(column, b)
	return b
}

func (c columns) Int(column int) (int64, error) { return c.ColumnInt64(column), nil }

func (c columns) Float(column int) (float64, error) { return c.ColumnFloat(column), nil }

func (c columns) Time(column int) (time.Time, error) {
	return time.UnixMilli(c.ColumnInt64(column)).UTC(), nil
}
