package export

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/prism-results/prism/client"
)

// plan identifies the export that an unfinished file belongs to.
type plan struct {
	Host, Prism string
	client.Export
	Short   bool // numbers are shortened
	Columns string
}

// OtherExportError is an unfinished file that belongs to another export.
type OtherExportError struct{ Part string }

func (e *OtherExportError) Error() string {
	return e.Part + " is the unfinished part of another export"
}

// part and state are the files of an export until it is complete.
func part(name string) string { return name + ".part" }

func state(name string) string { return name + ".part.json" }

// ToFile writes the export to a file, which gets its name when it is complete. ToFile continues an unfinished file, or
// with restart discards it.
func (e Export) ToFile(ctx context.Context, host, name string, restart bool) (Progress, error) {
	s, err := e.newSink(ctx)
	if err != nil {
		return Progress{}, err
	}
	file, err := open(name, plan{host, e.Prism, e.Options, s.numbers != nil, s.columns}, restart)
	if err != nil {
		return Progress{}, err
	}
	if err := s.recover(file); err != nil {
		return Progress{}, errors.Join(fmt.Errorf("%s: %w", part(name), err), file.Close())
	}
	buffered := bufio.NewWriterSize(file, 256<<10)
	s.to = buffered
	// Rows are kept whatever ended the export.
	err = errors.Join(s.fetch(ctx), buffered.Flush(), file.Sync(), file.Close())
	if err == nil {
		err = errors.Join(os.Rename(part(name), name), os.Remove(state(name)))
	}
	return s.done, err
}

// open opens the unfinished file if it belongs to the export, or creates it with its plan.
func open(name string, want plan, restart bool) (*os.File, error) {
	if _, err := os.Stat(part(name)); err == nil && !restart {
		if err := continues(name, want); err != nil {
			return nil, err
		}
		return os.OpenFile(part(name), os.O_RDWR, 0)
	}
	text, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(part(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(state(name), text, 0o600); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// continues compares the plan of an unfinished file with want.
func continues(name string, want plan) error {
	text, err := os.ReadFile(state(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var was plan
	err = json.Unmarshal(text, &was)
	columns := was.Columns
	was.Columns = want.Columns
	switch {
	case err != nil || !reflect.DeepEqual(was, want):
		return &OtherExportError{part(name)}
	case columns != want.Columns:
		return ErrColumnsChanged
	}
	return nil
}

// recover reads the rows of the file, and cuts off an incomplete row at its end.
func (s *sink) recover(file *os.File) error {
	s.to = io.Discard
	if err := s.take(file); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	_, err := file.Seek(s.done.Bytes, io.SeekStart)
	return errors.Join(err, file.Truncate(s.done.Bytes))
}
