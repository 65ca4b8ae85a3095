package export

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prism-results/prism/client"
)

// rows splits an export into complete rows, each with its line end.
type rows struct {
	from   *bufio.Reader
	format client.Format
}

func newRows(r io.Reader, f client.Format) *rows { return &rows{bufio.NewReaderSize(r, 64<<10), f} }

// next returns the next complete row, or io.EOF after the last row. An incomplete row is io.ErrUnexpectedEOF, or the
// reader's own error.
func (r *rows) next() ([]byte, error) {
	var row []byte
	for quoted := false; ; {
		line, err := r.from.ReadBytes('\n')
		row = append(row, line...)
		switch {
		case errors.Is(err, io.EOF) && len(row) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		// Quotes inside a csv cell are doubled, so an odd number of them is a line break inside a cell.
		quoted = quoted != (r.format == client.CSV && bytes.Count(line, []byte(`"`))%2 == 1)
		if !quoted {
			return row, nil
		}
	}
}

// key identifies a row and its place in the order.
type key struct {
	id string
	at time.Time
}

var errNotARow = errors.New("a row without result_id and created_at")

// keyOf reads result_id and created_at: the first and the sixth column of every row (spec: tabular-columns).
func keyOf(row []byte, f client.Format) (key, error) {
	id, at, err := "", "", error(nil)
	switch f {
	case client.CSV:
		var cells []string
		if cells, err = csv.NewReader(bytes.NewReader(row)).Read(); len(cells) >= 6 {
			id, at = cells[0], cells[5]
		}
	case client.TSV:
		if cells := bytes.SplitN(row, []byte("\t"), 7); len(cells) >= 6 {
			id, at = string(cells[0]), string(bytes.TrimRight(cells[5], "\n"))
		}
	default:
		var members struct {
			ResultID  string `json:"result_id"`
			CreatedAt string `json:"created_at"`
		}
		err = json.Unmarshal(row, &members)
		id, at = members.ResultID, members.CreatedAt
	}
	created, timeErr := time.Parse(time.RFC3339, at)
	if err != nil || timeErr != nil || id == "" {
		return key{}, fmt.Errorf("export: %w", errNotARow)
	}
	return key{id, created}, nil
}

// overlap is how late a result can appear. Its created_at is taken just before it is saved, so a result with an earlier
// created_at can appear after one with a later created_at.
const overlap = time.Minute

// position is how far an export has come, and which of the latest rows it has.
type position struct {
	rows int64
	last time.Time // the latest created_at of all rows
	next time.Time // created_at of the row that was read last: the next request begins there
	// reread is set after a lost connection: rows from reread on are requested once more, since one of them may have
	// appeared after the export had passed its created_at. It is never more than 2*overlap before last.
	reread time.Time
	fresh  bool                 // a row was added since reread was last decided
	recent map[string]time.Time // created_at by id of the rows of the last 2*overlap
	pruned time.Time
}

// due tells whether rows have to be read again before a row of this time is taken.
func (p *position) due(at time.Time) bool { return !p.reread.IsZero() && at.Sub(p.reread) > 2*overlap }

// add takes a row. It returns false if the export has the row already.
func (p *position) add(k key) bool {
	p.next = k.at
	if _, has := p.recent[k.id]; has {
		return false
	}
	if p.recent == nil {
		p.recent = map[string]time.Time{}
	}
	p.recent[k.id] = k.at
	p.rows++
	p.fresh = true
	if k.at.After(p.last) {
		p.last = k.at
	}
	// Prune once in an overlap, not with every row.
	if p.last.Sub(p.pruned) > overlap {
		for id, at := range p.recent {
			if at.Before(p.last.Add(-2 * overlap)) {
				delete(p.recent, id)
			}
		}
		p.pruned = p.last
	}
	return true
}

// interrupted notes a lost connection. Without a new row since the previous one there is nothing more to read again.
func (p *position) interrupted() {
	if p.fresh && p.reread.IsZero() {
		p.reread = p.last.Add(-overlap)
	}
	p.fresh = false
}

// goBack lets the next request begin where rows have to be read again. It returns false if there are none.
func (p *position) goBack() bool {
	if p.reread.IsZero() {
		return false
	}
	p.next, p.reread, p.fresh = p.reread, time.Time{}, false
	return true
}

// resume prepares for continuing the export of another process, whose connection may have been lost at any row.
func (p *position) resume() {
	if p.rows > 0 {
		p.next, p.fresh = p.last.Add(-2*overlap), false
	}
}
