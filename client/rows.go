package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
)

// ErrColumnsChanged tells that the columns of a download changed while it was continued, because the prism got another Lens.
var ErrColumnsChanged = errors.New("client: the Lens of the prism changed during the download")

// rows is a download of a run's rows in a format of lines. It gives whole rows only, so that it can continue behind the last one.
type rows struct {
	RunRows
	ctx     context.Context //nolint:containedctx // of the requests, which last as long as the stream
	c       *Client
	id      string
	options []CallOption
	from    *bufio.Reader
	body    io.Closer
	header  []byte // csv and tsv; nil until it was read
	last    []byte // the last row that was read
	ready   []byte // the rest of the row or header that Read has to return
	err     error  // that ended the stream
}

func (r *rows) request(after int64) (io.ReadCloser, error) {
	q := r.RunRows
	q.After = after
	k := declared(api.ListRunRows, r.id).where(q.query())
	if q.Format != "" {
		return r.c.stream(r.ctx, k, r.options, mediaTypes[string(q.Format)])
	}
	from, err := r.c.stream(r.ctx, k, r.options, slices.Sorted(maps.Values(mediaTypes))...)
	if err != nil {
		return nil, err
	}
	for format, mediaType := range mediaTypes {
		if isOf(from.(*body).contentType, mediaType) {
			r.Format = RowsFormat(format)
		}
	}
	return from, nil
}

// quoted tells whether cells may be quoted.
func (r *rows) quoted() bool { return r.Format == RowsCSV || r.Format == RowsTSV && r.Delimiter != "" }

func (r *rows) take(from io.ReadCloser) { r.from, r.body = bufio.NewReaderSize(from, 64<<10), from }

func (r *rows) Close() error { return r.body.Close() }

func (r *rows) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.err = r.next()
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// next reads the next row, through as many connections as it takes.
func (r *rows) next() error {
	row, err := r.line()
	if err != nil && mayPass(err) {
		err = r.c.patiently(r.ctx, func() (_ bool, err error) {
			row, err = r.again()
			return false, err
		})
	}
	if err != nil {
		return err
	}
	if r.header == nil && r.Format != RowsJSONL {
		r.header = row
	} else {
		r.last = row
	}
	r.ready = row
	return nil
}

// again requests the rows behind the last one, and returns the first.
func (r *rows) again() ([]byte, error) {
	_ = r.body.Close() // it is broken
	after := r.After
	if r.last != nil {
		var err error
		if after, err = r.number(r.last); err != nil {
			return nil, err
		}
	}
	from, err := r.request(after)
	if err != nil {
		return nil, err
	}
	r.take(from)
	if r.header != nil {
		header, err := r.line()
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(header, r.header) {
			return nil, ErrColumnsChanged
		}
	}
	return r.line()
}

// line reads a row with its line end. It returns io.EOF behind the last row. A row that is incomplete is a lost connection.
func (r *rows) line() (row []byte, err error) {
	for quoted := false; ; {
		line, err := r.from.ReadBytes('\n')
		row = append(row, line...)
		switch {
		case errors.Is(err, io.EOF) && len(row) > 0:
			return nil, &ConnectionError{Operation: "listRunRows", Sent: true, Err: io.ErrUnexpectedEOF}
		case err != nil:
			return nil, err
		}
		// Quotes inside a csv cell are doubled, so an odd number of them is a line break inside a cell.
		quoted = quoted != (r.quoted() && bytes.Count(line, []byte(`"`))%2 == 1)
		if !quoted {
			return row, nil
		}
	}
}

// number is the number of a row, which is in the first of Prism's own columns. Their names have prefixes if the file has such
// names too. The file's columns come first, so Prism's columns are the last four that have these names in a row.
func (r *rows) number(row []byte) (int64, error) {
	names, cells, err := r.cells(row)
	if err != nil {
		return 0, err
	}
	own := []string{"prism_row", "prism_result_id", "prism_status", "prism_error"}
	for at := min(len(names), len(cells)) - len(own); at >= 0; at-- {
		if !slices.EqualFunc(names[at:at+len(own)], own, isNamed) {
			continue
		}
		return strconv.ParseInt(cells[at], 10, 64)
	}
	return 0, errors.New("client: listRunRows: a row without its number")
}

// isNamed tells whether a column has a name, or the name with prefixes.
func isNamed(column, name string) bool {
	prefixes, found := strings.CutSuffix(column, name)
	return found && strings.ReplaceAll(prefixes, "prism_", "") == ""
}

// jsonCell is a member of a row of jsonl, whose value is as it was written: a float64 would print a large number with an exponent.
type jsonCell struct {
	column string
	value  json.RawMessage
}

func jsonMember(c *jsonCell) (*string, any) { return &c.column, &c.value }

// cells are the cells of a row and the names of their columns. In tsv, quotes are text.
func (r *rows) cells(row []byte) (names, cells []string, err error) {
	switch {
	case r.Format == RowsJSONL:
		var members []jsonCell
		members, err = api.ReadMembers(row, jsonMember)
		for _, m := range members {
			names, cells = append(names, m.column), append(cells, string(m.value))
		}
	case !r.quoted():
		names = strings.Split(strings.TrimRight(string(r.header), "\r\n"), "\t")
		cells = strings.Split(strings.TrimRight(string(row), "\r\n"), "\t")
	default:
		if names, err = r.split(bytes.TrimPrefix(r.header, []byte("\ufeff"))); err == nil {
			cells, err = r.split(row)
		}
	}
	return names, cells, err
}

// split splits a row whose cells may be quoted.
func (r *rows) split(row []byte) ([]string, error) {
	lines := csv.NewReader(bytes.NewReader(row))
	if r.Delimiter != "" {
		lines.Comma = rune(r.Delimiter[0])
	}
	return lines.Read()
}
