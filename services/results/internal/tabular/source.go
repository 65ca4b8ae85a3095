package tabular

import (
	"context"
	"errors"
	"io"
)

// source reads a file for a library, and keeps a fault of the storage: by the error of the library alone, the fault would look
// like damage of the file.
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

// problem translates an error that a library returned: to the fault of the storage if there was one, to the error of a callback
// if the library passed one on, and else to a problem of the file, by default text.
func (s *source) problem(err error, text string) error {
	var (
		own ownError
		row *UnusableError
	)
	switch {
	case err == nil:
		return nil
	case s.fault != nil:
		return s.fault
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &row):
		return row
	}
	return &UnusableError{text}
}

// ownError is an error of a callback or of a temporary file, as opposed to an error that a library found in the file.
type ownError struct{ error }

func (o ownError) Unwrap() error { return o.error }
