package sqlite

import (
	"context"
	"errors"
	"time"

	"zombiezen.com/go/sqlite"
)

// lookups finds single rows on connections of its own, without database/sql: database/sql and its driver read the names
// and types of all columns anew for each query, which takes longer than finding a row by its key. A point read costs
// 13 µs of processor time here and 28 µs through database/sql with prepared statements; a read of the standalone
// program costs about 50 µs.
//
// A look-up that has begun is not interrupted when its context ends. SQLite waits only for another process that recovers
// the log, at most busyTimeout.
type lookups struct {
	path string
	free chan *sqlite.Conn // idle connections; nil is one that is not open yet
}

func newLookups(path string, connections int) *lookups {
	l := &lookups{path: path, free: make(chan *sqlite.Conn, connections)}
	for range connections {
		l.free <- nil
	}
	return l
}

// row reads the first row that the statement finds into targets, and reports whether there is one.
func (l *lookups) row(ctx context.Context, text string, targets []any, args ...any) (found bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var conn *sqlite.Conn
	select {
	case conn = <-l.free:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { l.free <- conn }()
	if conn == nil {
		if conn, err = sqlite.OpenConn(l.path, sqlite.OpenReadWrite); err != nil {
			return false, withoutText(err)
		}
		conn.SetBusyTimeout(busyTimeout)
	}
	statement, err := conn.Prepare(text) // from the connection's cache of statements
	if err != nil {
		return false, withoutText(err)
	}
	// A statement that is not reset keeps its snapshot, which stops the log from being moved into the file.
	defer func() { err = errors.Join(err, withoutText(statement.Reset())) }()
	bind(statement, args)
	if found, err = statement.Step(); err != nil || !found {
		return false, withoutText(err)
	}
	for i, t := range targets {
		if err := scan(statement, i, t); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (l *lookups) close() {
	for range cap(l.free) {
		if conn := <-l.free; conn != nil {
			_ = conn.Close()
		}
	}
}

func bind(statement *sqlite.Stmt, args []any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case []byte:
			statement.BindBytes(i+1, v)
		case string:
			statement.BindText(i+1, v)
		case int32:
			statement.BindInt64(i+1, int64(v))
		case bool:
			statement.BindBool(i+1, v)
		default:
			statement.BindNull(i + 1)
		}
	}
}

// scan reads a column of the current row into a scan target of package columns.
func scan(s *sqlite.Stmt, column int, to any) error {
	null := s.ColumnIsNull(column)
	switch t := to.(type) {
	case **string:
		*t = optional(null, func() string { return s.ColumnText(column) })
	case *[]byte:
		*t = nil
		if !null {
			*t = make([]byte, s.ColumnLen(column))
			s.ColumnBytes(column, *t)
		}
	case **int32:
		*t = optional(null, func() int32 { return s.ColumnInt32(column) })
	case **int64:
		*t = optional(null, func() int64 { return s.ColumnInt64(column) })
	case **bool:
		*t = optional(null, func() bool { return s.ColumnBool(column) })
	case uuidTarget:
		if null {
			return t.Scan(nil)
		}
		var b [17]byte
		return t.set(b[:s.ColumnBytes(column, b[:])])
	case timeTarget:
		*t.at = optional(null, func() time.Time { return timeOf(s.ColumnInt64(column)) })
	default:
		return errColumn
	}
	return nil
}

func optional[T any](null bool, read func() T) *T {
	if null {
		return nil
	}
	v := read()
	return &v
}
