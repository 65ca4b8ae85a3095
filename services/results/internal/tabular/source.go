package tabular

import (
	"context"
	"errors"
	"io"
)

// source is a file whose libraries do not tell a fault of the storage from damage of the file.
type source struct {
	ctx   context.Context //nolint:containedctx // of the one call of Read that made it
	file  *io.SectionReader
	left  int64 // bytes that may be read; below 0: any number
	fault error // of the storage, or of ctx
}

var errBudget = errors.New("more was read than a sound file needs")

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(p []byte, at int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.fault = err
		return 0, err
	}
	if s.left >= 0 {
		if s.left -= int64(len(p)); s.left < 0 {
			s.left = 0
			return 0, errBudget
		}
	}
	n, err := s.file.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		s.fault = err
	}
	return n, err
}

// problem is an error of a library: the fault of the storage if there was one, or else a problem of the file, by default text.
func (s *source) problem(err error, text string) error {
	var row *UnusableError
	switch {
	case err == nil:
		return nil
	case s.fault != nil:
		return s.fault
	case errors.As(err, &row):
		return row
	}
	return &UnusableError{text}
}

// own is an error of a callback, which is no damage of the file.
type own struct{ error }

func (o own) Unwrap() error { return o.error }
