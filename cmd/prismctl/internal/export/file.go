package export

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/prism-results/prism/client"
)

// plan identifies the export that an unfinished file belongs to.
type plan struct {
	Host    string        `json:"host"`
	Prism   string        `json:"prism"`
	Format  client.Format `json:"format"`
	Status  client.Status `json:"status"`
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to"`
	Short   bool          `json:"short"` // numbers are shortened
	Columns string        `json:"columns"`
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
func (e Export) ToFile(ctx context.Context, host, name string, restart bool) (_ Progress, err error) {
	s, err := e.sink(ctx)
	if err != nil {
		return Progress{}, err
	}
	o := e.Options
	want := plan{host, e.Prism, o.Format, o.Status, o.From.UTC(), o.To.UTC(), s.short != nil, s.columns}
	file, err := open(name, want, restart, s)
	if err != nil {
		return Progress{}, err
	}
	defer func() {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	buffered := bufio.NewWriterSize(file, 256<<10)
	s.to = buffered
	// Rows are kept whatever ended the export.
	err = errors.Join(e.into(ctx, s), buffered.Flush())
	if err != nil {
		return s.progress(), err
	}
	err = errors.Join(file.Sync(), file.Close())
	file = nil
	if err != nil {
		return s.progress(), err
	}
	if err := os.Rename(part(name), name); err != nil {
		return s.progress(), err
	}
	return s.progress(), os.Remove(state(name))
}

// open creates the unfinished file, or opens it and reads the rows that it has.
func open(name string, want plan, restart bool, s *sink) (*os.File, error) {
	if restart {
		if err := errors.Join(remove(part(name)), remove(state(name))); err != nil {
			return nil, err
		}
	}
	if err := resumable(name, want); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(part(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := s.recover(file, want.Format); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// resumable writes the plan of a new file, or compares the plan of an unfinished file with want.
func resumable(name string, want plan) error {
	text, err := json.Marshal(want)
	if err != nil {
		return err
	}
	_, statErr := os.Stat(part(name))
	old, err := os.ReadFile(state(name))
	switch {
	case errors.Is(err, os.ErrNotExist) && statErr == nil:
		return &OtherExportError{part(name)}
	case errors.Is(err, os.ErrNotExist) || err == nil && statErr != nil:
		return writeWhole(state(name), text)
	case err != nil:
		return err
	}
	var was plan
	if json.Unmarshal(old, &was) != nil {
		return &OtherExportError{part(name)}
	}
	columns := was.Columns
	was.Columns = want.Columns
	if was != want {
		return &OtherExportError{part(name)}
	}
	if columns != want.Columns {
		return ErrColumnsChanged
	}
	return nil
}

// recover reads the rows of the file, and cuts off an incomplete row at its end.
func (s *sink) recover(file *os.File, f client.Format) error {
	r := newRows(file, f)
	for {
		row, err := r.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if err := file.Truncate(s.bytes); err != nil {
				return err
			}
			s.at.resume()
			_, err := file.Seek(s.bytes, io.SeekStart)
			return err
		case err != nil:
			return err
		case f != client.JSONL && s.header == nil:
			s.header = row
			if s.short != nil {
				s.short.Row(row)
			}
		default:
			k, err := keyOf(row, f)
			if err != nil {
				return fmt.Errorf("%w in %s", err, filepath.Base(file.Name()))
			}
			s.at.add(k)
		}
		s.bytes += int64(len(row))
	}
}

func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// writeWhole writes a file atomically.
func writeWhole(name string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, remove(temp.Name()))
	}
	return nil
}
