package sqlite

import (
	"context"
	"slices"

	"modernc.org/libc"
	lite "modernc.org/sqlite/lib"
)

// lookups ask for single rows, on connections of their own. They call SQLite itself: database/sql and the driver below it
// watch the context of each query from a goroutine, and read the names and types of all its columns anew, which together
// takes longer than to look a row up by its keys.
//
// A look-up that has begun is not interrupted when its context ends. All that it can wait for is another process that
// recovers the log, and for that busyTimeout at most.
type lookups struct {
	path string
	free chan *session // nil is one that is not open
}

func newLookups(path string, connections int) *lookups {
	l := &lookups{path: path, free: make(chan *session, connections)}
	for range connections {
		l.free <- nil
	}
	return l
}

// row reads the first row of the answer into targets, and tells whether there is one.
func (l *lookups) row(ctx context.Context, text string, targets []any, args ...any) (found bool, err error) {
	s, err := l.take(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			s.close() // the next one begins afresh
			s = nil
		}
		l.free <- s
	}()
	if s == nil {
		if s, err = openSession(l.path); err != nil {
			return false, err
		}
	}
	return s.row(text, targets, args)
}

func (l *lookups) take(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s := <-l.free:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// close waits for what is under way.
func (l *lookups) close() {
	for range cap(l.free) {
		s := <-l.free
		s.close()
	}
}

// session is a connection and its statements, for one goroutine at a time.
type session struct {
	tls      *libc.TLS
	db       uintptr
	prepared map[string]uintptr
	args     uintptr // memory that SQLite reads arguments from
	size     int     // of args
}

func openSession(path string) (*session, error) {
	s := &session{tls: libc.NewTLS(), prepared: make(map[string]uintptr)}
	db, err := s.made(path, func(name, to uintptr) int32 {
		// NOMUTEX: nobody else uses it.
		return lite.Xsqlite3_open_v2(s.tls, name, to, lite.SQLITE_OPEN_READWRITE|lite.SQLITE_OPEN_NOMUTEX, 0)
	})
	s.db = db // there is one also after an error
	if err == nil {
		err = check(lite.Xsqlite3_busy_timeout(s.tls, db, busyTimeout))
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close may be called on nil.
func (s *session) close() {
	if s == nil {
		return
	}
	for _, stmt := range s.prepared {
		lite.Xsqlite3_finalize(s.tls, stmt)
	}
	lite.Xsqlite3_close_v2(s.tls, s.db)
	lite.Xsqlite3_free(s.tls, s.args)
	s.tls.Close()
}

func (s *session) row(text string, targets, args []any) (found bool, err error) {
	stmt, err := s.prepare(text)
	if err != nil {
		return false, err
	}
	if err := s.bind(stmt, args); err != nil {
		return false, err
	}
	switch code := lite.Xsqlite3_step(s.tls, stmt); code {
	case lite.SQLITE_ROW:
		found = true
		for i, target := range targets {
			if err == nil {
				err = s.scan(stmt, int32(i), target)
			}
		}
	case lite.SQLITE_DONE:
	default:
		err = check(code)
	}
	// A statement that is not reset keeps its snapshot, and so the log from being moved into the file.
	if code := lite.Xsqlite3_reset(s.tls, stmt); err == nil {
		err = check(code)
	}
	return found, err
}

func (s *session) prepare(text string) (stmt uintptr, err error) {
	stmt, ok := s.prepared[text]
	if ok {
		return stmt, nil
	}
	stmt, err = s.made(text, func(text, to uintptr) int32 {
		return lite.Xsqlite3_prepare_v3(s.tls, s.db, text, -1, lite.SQLITE_PREPARE_PERSISTENT, to, 0)
	})
	if err == nil {
		s.prepared[text] = stmt
	}
	return stmt, err
}

// made is the object that call makes of a text and stores where it is told.
func (s *session) made(text string, call func(text, to uintptr) int32) (uintptr, error) {
	const pointer = 8
	room := pointer + len(text) + 1
	at := lite.Xsqlite3_malloc(s.tls, int32(room)) //nolint:gosec // paths and statements are short
	if at == 0 {
		return 0, codeError{lite.SQLITE_NOMEM}
	}
	defer lite.Xsqlite3_free(s.tls, at)
	memory := libc.GoBytes(at, room)
	clear(memory)
	copy(memory[pointer:], text)
	code := call(at+pointer, at)
	return libc.AtomicLoadPUintptr(at), check(code)
}

// bind has SQLite read the arguments in memory that stays until the next ones: it copies nothing.
func (s *session) bind(stmt uintptr, args []any) error {
	size := 0
	for _, arg := range args {
		switch v := arg.(type) {
		case []byte:
			size += len(v)
		case string:
			size += len(v)
		}
	}
	if size > s.size {
		args := lite.Xsqlite3_realloc(s.tls, s.args, int32(size))
		if args == 0 {
			return codeError{lite.SQLITE_NOMEM}
		}
		s.args, s.size = args, size
	}
	at := s.args
	for i, arg := range args {
		var code int32
		n := int32(i + 1)
		switch v := arg.(type) {
		case []byte:
			copy(libc.GoBytes(at, len(v)), v)
			code = lite.Xsqlite3_bind_blob(s.tls, stmt, n, at, int32(len(v)), lite.SQLITE_STATIC) //nolint:gosec // as above
			at += uintptr(len(v))
		case string:
			copy(libc.GoBytes(at, len(v)), v)
			code = lite.Xsqlite3_bind_text(s.tls, stmt, n, at, int32(len(v)), lite.SQLITE_STATIC) //nolint:gosec // as above
			at += uintptr(len(v))
		case int32:
			code = lite.Xsqlite3_bind_int64(s.tls, stmt, n, int64(v))
		default:
			code = lite.Xsqlite3_bind_null(s.tls, stmt, n)
		}
		if err := check(code); err != nil {
			return err
		}
	}
	return nil
}

// scan reads a column of the current row into a target of package row.
func (s *session) scan(stmt uintptr, column int32, target any) error {
	null := lite.Xsqlite3_column_type(s.tls, stmt, column) == lite.SQLITE_NULL
	bytes := func() []byte { // until the next step
		at := lite.Xsqlite3_column_blob(s.tls, stmt, column)
		return libc.GoBytes(at, int(lite.Xsqlite3_column_bytes(s.tls, stmt, column)))
	}
	number := func() int64 { return lite.Xsqlite3_column_int64(s.tls, stmt, column) }
	switch t := target.(type) {
	case **string:
		*t = nil
		if !null {
			v := string(bytes())
			*t = &v
		}
	case *[]byte:
		*t = nil
		if !null {
			*t = slices.Clone(bytes())
		}
	case **int32:
		*t = nil
		if !null {
			v := int32(number()) //nolint:gosec // it was written from one
			*t = &v
		}
	case **int64:
		*t = nil
		if !null {
			v := number()
			*t = &v
		}
	case **bool:
		v := number() != 0
		*t = &v
	case uuidTarget:
		if null {
			return t.Scan(nil)
		}
		return t.set(bytes())
	case timeTarget:
		if null {
			return t.Scan(nil)
		}
		t.set(number())
	default:
		return errColumn
	}
	return nil
}
