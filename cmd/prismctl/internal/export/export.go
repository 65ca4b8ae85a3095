// Package export fetches all results of a prism, however often the connection is lost, with each row once.
//
// Rows come oldest first. After a lost connection the next request begins one minute before the last row (see overlap), and
// the export skips the rows whose ids it has. If a connection ends before it brings a new row, it was too short for the rows of
// that minute: the next request begins behind the greatest id of the rows (spec: export-after). So each connection that carries
// a row makes progress.
//
// The file keeps whole rows only. An export that continues an unfinished file reads the rows of the file first. So no other
// record of the progress has to survive a crash.
//
// The columns are those of the prism's current Lens and latest version. If either changes during the export, the export
// ends with ErrColumnsChanged, because rows before and after the change have different columns.
package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

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
	// Pause waits before the nth retry in a row, for at least the time that the server asked for. It returns false if ctx ended.
	Pause func(ctx context.Context, n int, asked time.Duration) bool
}

// Progress is how far an export has come.
type Progress struct {
	Rows  int64
	Bytes int64
}

// To writes the export to w row by row.
func (e Export) To(ctx context.Context, w io.Writer) (Progress, error) {
	s, err := e.newSink(ctx)
	if err != nil {
		return Progress{}, err
	}
	s.to = w
	err = s.fetch(ctx)
	return s.done, err
}

// sink is the output and what is known of its rows.
type sink struct {
	Export
	to      io.Writer
	columns string // everything that the columns depend on, as JSON
	numbers *digits.Rows
	header  []byte // csv and tsv; nil until it is written
	done    Progress
	seen    int64     // rows that were read, including repeated ones
	last    time.Time // the latest created_at of all rows
	newest  string    // the greatest id of all rows
	// recent are the ids of the rows since the time since. earlier are those of the rows before, for at least one overlap.
	recent, earlier map[string]bool
	since           time.Time
}

// overlap is how far a request goes back before the last row. Rows come in the order of their ids. An id is made before the
// model is called, and created_at is taken just before the save: so a later row can have an earlier created_at, and a row can be
// saved after the export has passed its id.
const overlap = time.Minute

// newSink is an empty sink for the prism as it is now.
func (e Export) newSink(ctx context.Context) (*sink, error) {
	p, err := e.Client.ReadPrism(ctx, e.Prism)
	if err != nil {
		return nil, err
	}
	columns, err := json.Marshal(struct {
		ID      string
		Version int
		Lens    client.Lens
	}{p.ID, p.LatestVersion, p.Lens})
	s := &sink{Export: e, columns: string(columns)}
	if !e.Exact && e.Options.Format != client.JSONL {
		names := map[string]bool{}
		for _, c := range p.Lens.Columns {
			names[c.Name] = c.Show != client.ShowAnswer
		}
		s.numbers = digits.NewRows(e.Options.Format, e.Options.TextStyle, names)
	}
	return s, err
}

// fetch fetches the rows that the output does not have.
func (s *sink) fetch(ctx context.Context) error {
	err := s.stream(ctx, false)
	for tries, behind := 0, false; err != nil; {
		if !transient(err) || ctx.Err() != nil || tries == s.Retries {
			return err
		}
		tries++
		if !s.Pause(ctx, tries, client.RetryAfter(err)) {
			return err
		}
		rows, seen := s.done.Rows, s.seen
		var now *sink
		if now, err = s.newSink(ctx); err == nil && now.columns != s.columns {
			err = ErrColumnsChanged
		}
		if err == nil {
			err = s.stream(ctx, behind)
		}
		switch {
		case s.done.Rows > rows:
			tries, behind = 0, false
		case s.seen > seen:
			behind = true
		}
	}
	return nil
}

// maxRetryAfter is the longest pause that the server can ask for. If it asks for a longer one, the export ends.
const maxRetryAfter = time.Minute

// transient tells whether an error may be gone at the next try.
func transient(err error) bool {
	var cut *client.ConnectionError
	return client.RetryAfter(err) <= maxRetryAfter && (errors.As(err, &cut) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, client.ErrUnavailable) || errors.Is(err, client.ErrInternal))
}

// stream requests the rows since one overlap before the last row, and takes them. With behind, it requests no row that the output
// can have.
func (s *sink) stream(ctx context.Context, behind bool) error {
	options := s.Options
	if from := s.last.Add(-overlap); s.done.Rows > 0 && from.After(options.From) {
		options.From = from
	}
	if behind {
		options.After = s.newest
	}
	body, err := s.Client.ExportResults(ctx, s.Prism, options)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return s.take(body)
}

// take writes the rows of an export that the output does not have, and its header row once.
func (s *sink) take(from io.Reader) error {
	r := bufio.NewReaderSize(from, 64<<10)
	for header := s.Options.Format != client.JSONL; ; header = false {
		row, err := next(r, s.Options)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		isNew := s.header == nil
		if header && !isNew && !bytes.Equal(row, s.header) {
			return ErrColumnsChanged
		}
		if header {
			s.header = row
		} else if isNew, err = s.add(row); err != nil {
			return err
		}
		if !isNew {
			continue
		}
		if err := s.write(row); err != nil {
			return err
		}
	}
}

func (s *sink) write(row []byte) error {
	if s.numbers != nil {
		row = s.numbers.Row(row)
	}
	n, err := s.to.Write(row)
	s.done.Bytes += int64(n)
	if s.Progress != nil && s.done.Rows > 0 {
		s.Progress(s.done)
	}
	return err
}

// add notes a row. It returns false if the output has the row.
func (s *sink) add(row []byte) (bool, error) {
	id, at, err := key(row, s.Options)
	if err != nil {
		return false, err
	}
	s.seen++
	if s.recent[id] || s.earlier[id] {
		return false, nil
	}
	if at.Sub(s.since) > overlap {
		s.recent, s.earlier, s.since = map[string]bool{}, s.recent, at
	}
	s.recent[id] = true
	s.done.Rows++
	s.newest = max(s.newest, id)
	if at.After(s.last) {
		s.last = at
	}
	return true, nil
}

// next returns the next complete row with its line end, or io.EOF after the last row. An incomplete row is
// io.ErrUnexpectedEOF, or the reader's own error.
func next(r *bufio.Reader, o client.Export) ([]byte, error) {
	var row []byte
	for quoted := false; ; {
		line, err := r.ReadBytes('\n')
		row = append(row, line...)
		switch {
		case errors.Is(err, io.EOF) && len(row) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		// Quotes inside a csv cell are doubled, so an odd number of them is a line break inside a cell.
		quoted = quoted != (digits.Quoted(o.Format, o.TextStyle) && bytes.Count(line, []byte(`"`))%2 == 1)
		if !quoted {
			return row, nil
		}
	}
}

// key is result_id and created_at of a row: the first and the sixth column (spec: tabular-columns).
func key(row []byte, o client.Export) (id string, at time.Time, err error) {
	var members struct {
		ResultID  string    `json:"result_id"`
		CreatedAt time.Time `json:"created_at"`
	}
	if o.Format == client.JSONL {
		err = json.Unmarshal(row, &members)
	} else if cells := digits.Cells(row, o.Format, o.TextStyle); len(cells) >= 6 {
		members.ResultID = string(cells[0])
		members.CreatedAt, err = time.Parse(time.RFC3339, string(bytes.TrimRight(cells[5], "\r\n")))
	}
	if err != nil || members.ResultID == "" {
		return "", at, fmt.Errorf("export: a row without result_id and created_at: %.40q", row)
	}
	return members.ResultID, members.CreatedAt, nil
}
