package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// ErrColumnsChanged tells that the columns of a download changed while it was continued, because the prism got another Lens.
var ErrColumnsChanged = errors.New("client: the Lens of the prism changed during the download")

// rows is a download of a run's rows in a format of lines. It gives whole rows only, so that it can continue behind the last one.
type rows struct {
	RunRows
	ctx    context.Context //nolint:containedctx // of the requests, which last as long as the stream
	c      *Client
	id     string
	from   *bufio.Reader
	body   io.Closer
	header []byte // csv and tsv; nil until it was read
	last   []byte // the last row that was read
	ready  []byte // what is left of it for the caller
	err    error  // that ended the stream
}

func (r *rows) request(after int64) (io.ReadCloser, error) {
	q := r.RunRows
	q.After = after
	return r.c.stream(r.ctx, request("readRunRows", http.MethodGet, "runs", r.id, "rows").where(q.query()))
}

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
			return nil, &ConnectionError{Operation: "readRunRows", Sent: true, Err: io.ErrUnexpectedEOF}
		case err != nil:
			return nil, err
		}
		// Quotes inside a csv cell are doubled, so an odd number of them is a line break inside a cell.
		quoted = quoted != (r.Format != RowsTSV && r.Format != RowsJSONL && bytes.Count(line, []byte(`"`))%2 == 1)
		if !quoted {
			return row, nil
		}
	}
}

// number is the number of a row. Of several columns or members with its name, the last one is Prism's, as the file's come first.
func (r *rows) number(row []byte) (int64, error) {
	const name = "prism_row"
	if r.Format == RowsJSONL {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(row, &members); err != nil {
			return 0, err
		}
		return strconv.ParseInt(string(members[name]), 10, 64)
	}
	header, err := r.cells(r.header)
	if err != nil {
		return 0, err
	}
	slices.Reverse(header)
	cells, err := r.cells(row)
	if err != nil {
		return 0, err
	}
	slices.Reverse(cells)
	at := slices.Index(header, name)
	if at < 0 || at >= len(cells) {
		return 0, errors.New("client: readRunRows: a row without its number")
	}
	return strconv.ParseInt(cells[at], 10, 64)
}

// cells are those of a row of csv or tsv. In tsv, quotes are text.
func (r *rows) cells(row []byte) ([]string, error) {
	if r.Format == RowsTSV {
		return strings.Split(strings.TrimRight(string(row), "\r\n"), "\t"), nil
	}
	return csv.NewReader(bytes.NewReader(row)).Read()
}
