// Package export fetches all results of a prism, however often the connection is lost, with each row once.
//
// Rows come oldest first. After a lost connection the next request begins at the created_at of the last row and skips the
// rows whose ids the export has, because many rows can have the same millisecond. So each connection that carries more
// rows than one millisecond has makes progress.
//
// A result can appear after the export has passed its created_at. So after a lost connection the export also reads the
// last minute before it once more: at the end, or one minute of rows later. An export without a lost connection reads
// every row once.
//
// The file keeps whole rows only. An export that continues an unfinished file reads the rows of the file first, so that
// nothing but the file has to be right at a crash.
//
// The columns are those of the prism's current Lens and latest version. If either changes during the export, the export
// ends with ErrColumnsChanged, because rows before and after the change have different columns.
package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/digits"
)

// ErrColumnsChanged tells that the prism got another Lens or version during the export.
var ErrColumnsChanged = errors.New("the prism's Lens or version changed since the export began, so the rows would not fit each other")

// Export is one export of a prism's results.
type Export struct {
	Client  *client.Client
	Prism   string // the slug or id
	Options client.Export
	// Exact keeps all digits of numbers in csv and tsv; else they have four significant ones.
	Exact bool
	// Progress is called after every row. Optional.
	Progress func(Progress)
	// Retries is how many requests in a row may fail without progress.
	Retries int
	// Pause waits before the nth of them. It returns false if ctx ended.
	Pause func(ctx context.Context, n int) bool
}

// Progress is how far an export has come.
type Progress struct {
	Rows  int64
	Bytes int64
}

// To writes the export to w row by row.
func (e Export) To(ctx context.Context, w io.Writer) (Progress, error) {
	s, err := e.sink(ctx)
	if err != nil {
		return Progress{}, err
	}
	s.to = w
	err = e.into(ctx, s)
	return s.progress(), err
}

// sink is an empty sink for the prism as it is now.
func (e Export) sink(ctx context.Context) (*sink, error) {
	p, err := e.Client.ReadPrism(ctx, e.Prism)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(p)
	s := &sink{columns: columns}
	if !e.Exact && e.Options.Format != client.JSONL {
		s.short = digits.NewRows(p, e.Options.Format)
	}
	return s, err
}

// columnsOf is a digest of everything that the columns depend on.
func columnsOf(p client.Prism) (string, error) {
	b, err := json.Marshal(struct {
		ID      string
		Version int
		Lens    client.Lens
	}{p.ID, p.LatestVersion, p.Lens})
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(b)
	return hex.EncodeToString(digest[:]), nil
}

// sink is the output and the rows that it has.
type sink struct {
	to      io.Writer
	columns string
	short   *digits.Rows // shortens numbers; nil keeps them
	header  []byte       // csv and tsv; nil until it is written
	at      position
	bytes   int64
}

func (s *sink) progress() Progress { return Progress{s.at.rows, s.bytes} }

func (s *sink) write(row []byte) error {
	if s.short != nil {
		row = s.short.Row(row)
	}
	n, err := s.to.Write(row)
	s.bytes += int64(n)
	return err
}

// into fetches the rows that the sink does not have.
func (e Export) into(ctx context.Context, s *sink) error {
	err := e.stream(ctx, s)
	for tries := 0; ; {
		switch {
		case err == nil || errors.Is(err, errReread):
			if !s.at.goBack() {
				return nil
			}
			tries = 0
		case !transient(err) || ctx.Err() != nil || tries == e.Retries:
			return err
		default:
			s.at.interrupted()
			if tries++; !e.Pause(ctx, tries) {
				return err
			}
		}
		before := s.at
		if err = e.again(ctx, s); s.at.rows > before.rows || s.at.next.After(before.next) {
			tries = 0
		}
	}
}

// again continues after a request.
func (e Export) again(ctx context.Context, s *sink) error {
	now, err := e.sink(ctx)
	if err != nil {
		return err
	}
	if now.columns != s.columns {
		return ErrColumnsChanged
	}
	return e.stream(ctx, s)
}

// errReread ends a request whose next row has to wait until earlier rows were read again.
var errReread = errors.New("export: rows have to be read again")

// transient tells whether an error may be gone at the next try.
func transient(err error) bool {
	var cut *client.ConnectionError
	return errors.As(err, &cut) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, client.ErrUnavailable) || errors.Is(err, client.ErrInternal)
}

// stream makes one request and takes its rows.
func (e Export) stream(ctx context.Context, s *sink) error {
	options := e.Options
	if s.at.next.After(options.From) {
		options.From = s.at.next
	}
	body, err := e.Client.ExportResults(ctx, e.Prism, options)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	r := newRows(body, options.Format)
	if options.Format != client.JSONL {
		if err := s.begin(r); err != nil {
			return err
		}
	}
	for {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		k, err := keyOf(row, options.Format)
		switch {
		case err != nil:
			return err
		case s.at.due(k.at):
			return errReread
		case !s.at.add(k):
			continue
		}
		if err := s.write(row); err != nil {
			return err
		}
		if e.Progress != nil {
			e.Progress(s.progress())
		}
	}
}

// begin takes the header row, which is written once.
func (s *sink) begin(r *rows) error {
	header, err := r.next()
	switch {
	case err != nil:
		return err
	case s.header == nil:
		s.header = bytes.Clone(header)
		return s.write(header)
	case !bytes.Equal(header, s.header):
		return ErrColumnsChanged
	}
	return nil
}
