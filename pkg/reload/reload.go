// Package reload keeps a value that is read from files, and reads the files again when they change: a rotated token or
// certificate is used without a restart (spec: rotation-without-restart).
package reload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// interval is how old a value may be before Get reads the files again.
const interval = time.Second

// sizeLimit is the largest file in bytes.
const sizeLimit = 1 << 20

// Value is a value that is read from files. It is safe for concurrent use and has no goroutine.
type Value[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	log   *slog.Logger

	current atomic.Pointer[T]
	began   time.Time    // monotonic: the wall clock may jump
	next    atomic.Int64 // when Get reads the files again, in nanoseconds since began

	mu       sync.Mutex
	contents [][]byte // what was last parsed with success
	failure  string   // the last error, "" when there was none
}

// New reads the files. Without files the value is parsed once, from nothing. An error of parse must not repeat a secret.
func New[T any](log *slog.Logger, parse func(contents [][]byte) (T, error), paths ...string) (*Value[T], error) {
	v := &Value[T]{paths: paths, parse: parse, log: log, began: time.Now()}
	if err := v.read(); err != nil {
		return nil, err
	}
	v.next.Store(int64(time.Since(v.began) + interval))
	return v, nil
}

// Get returns the value of the files as they were at most a second ago. While the files cannot be read or parsed, Get
// returns the last value, and the log has one warning for each new error.
func (v *Value[T]) Get() T {
	if len(v.paths) == 0 {
		return *v.current.Load()
	}
	if next, now := v.next.Load(), time.Since(v.began); int64(now) >= next &&
		v.next.CompareAndSwap(next, int64(now+interval)) {
		v.Refresh()
	}
	return *v.current.Load()
}

// Refresh reads the files now. If they cannot be used, the last value stays, as with Get.
func (v *Value[T]) Refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	failure := ""
	if err := v.read(); err != nil {
		failure = err.Error()
	}
	if failure != "" && failure != v.failure {
		v.log.Warn("the new files cannot be used; the previous ones stay in use", "error", failure)
	}
	v.failure = failure
}

// Failure is why the files could not be used when they were last read, or "". Get reads them.
func (v *Value[T]) Failure() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failure
}

// read parses the files if one differs from what was last parsed with success.
func (v *Value[T]) read() error {
	contents := make([][]byte, len(v.paths))
	for i, path := range v.paths {
		var err error
		if contents[i], err = ReadFile(path); err != nil {
			return err
		}
	}
	if v.current.Load() != nil && slices.EqualFunc(contents, v.contents, bytes.Equal) {
		return nil
	}
	value, err := v.parse(contents)
	if err != nil {
		return err
	}
	v.contents = contents
	v.current.Store(&value)
	return nil
}

// ReadFile reads a file of at most 1 MiB. The error names the path.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // a file that the operator names
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err)) // err is a PathError, whose text begins with the operation
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, sizeLimit+1))
	if err == nil && len(content) > sizeLimit {
		err = fmt.Errorf("is larger than %d bytes", sizeLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}
