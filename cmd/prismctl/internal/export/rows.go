package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/digits"
)

// next returns the next complete row with its line end, or io.EOF after the last row. An incomplete row is
// io.ErrUnexpectedEOF, or the reader's own error.
func next(r *bufio.Reader, f client.Format) ([]byte, error) {
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
		quoted = quoted != (f == client.CSV && bytes.Count(line, []byte(`"`))%2 == 1)
		if !quoted {
			return row, nil
		}
	}
}

// key is result_id and created_at of a row: the first and the sixth column (spec: tabular-columns).
func key(row []byte, f client.Format) (id string, at time.Time, err error) {
	var members struct {
		ResultID  string    `json:"result_id"`
		CreatedAt time.Time `json:"created_at"`
	}
	if f == client.JSONL {
		err = json.Unmarshal(row, &members)
	} else if cells := digits.Cells(row, f); len(cells) >= 6 {
		members.ResultID = string(cells[0])
		members.CreatedAt, err = time.Parse(time.RFC3339, string(bytes.TrimRight(cells[5], "\r\n")))
	}
	if err != nil || members.ResultID == "" {
		return "", at, fmt.Errorf("export: a row without result_id and created_at: %.40q", row)
	}
	return members.ResultID, members.CreatedAt, nil
}
