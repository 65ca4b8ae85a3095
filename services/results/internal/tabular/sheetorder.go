package tabular

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/prism-results/prism/pkg/strictjson"
)

var (
	rowTag          = regexp.MustCompile(`^(?:[\w.-]+:)?row[\s/>]`)
	numberAttribute = regexp.MustCompile(`\sr\s*=\s*["']([0-9]+)["']`)
)

// ordered reports whether the numbers of the sheet's rows rise, as all usual programs write them. Rows are copied while the sheet
// is read, so this must be known before. The tags are searched for without an XML decoder, which takes five times as long. What that
// misses in odd XML, rows finds, and so does it find what is damaged, behind the rows in front of the damage.
func (w *workbook) ordered() (bool, error) {
	content, err := w.sheet.Open()
	if err != nil {
		return false, err
	}
	defer content.Close() //nolint:errcheck // it was only read
	r := partText(io.LimitReader(content, sheetBytes))
	last := int64(0)
	for {
		if err := skipTo(r, '<'); err != nil {
			return true, nil // the end, or damage
		}
		tag, err := r.ReadSlice('>')
		if errors.Is(err, bufio.ErrBufferFull) || errors.Is(err, io.EOF) {
			continue // no tag of a row
		}
		if err != nil {
			return true, nil // damage
		}
		if !bytes.Contains(tag, []byte("row")) || !rowTag.Match(tag) {
			continue
		}
		number := last + 1
		if m := numberAttribute.FindSubmatch(tag); m != nil {
			if n, ok := rowNumber(string(m[1])); ok {
				number = n
			}
		}
		if number <= last {
			return false, nil
		}
		last = number
	}
}

// skipTo reads up to and with a byte.
func skipTo(r *bufio.Reader, to byte) error {
	for {
		if _, err := r.ReadSlice(to); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// sortedRows are rows that come in any order. Their cells are in a spill, as JSON.
type sortedRows struct {
	growth
	rows   spill
	places []rowPlace
}

type rowPlace struct{ number, end int64 } // end of the row in the spill

// add implements the callback of eachRow.
func (s *sortedRows) add(number int64, cells []typed) error {
	if len(s.places) == sheetRows {
		return &UnusableError{"The rows of the workbook are not in order, and of those a file may have 1048576."}
	}
	text, err := strictjson.Marshal(cells)
	if err == nil {
		err = s.growth.add(int64(len(text)))
	}
	if err == nil {
		_, err = s.rows.Write(text)
	}
	if err != nil {
		return ownError{err}
	}
	s.places = append(s.places, rowPlace{number, s.rows.size})
	return nil
}

// each calls fn for the last row of each number, in the order of the numbers.
func (s *sortedRows) each(fn func(number int64, cells []typed) error) error {
	order := make([]int32, len(s.places))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(s.places[a].number - s.places[b].number) })
	for i, row := range order {
		place := s.places[row]
		if i+1 < len(order) && s.places[order[i+1]].number == place.number {
			continue
		}
		from := int64(0)
		if row > 0 {
			from = s.places[row-1].end
		}
		text := make([]byte, place.end-from)
		if _, err := s.rows.ReadAt(text, from); err != nil {
			return ownError{err}
		}
		var cells []typed
		if err := strictjson.Unmarshal(text, &cells); err != nil {
			return ownError{err}
		}
		if err := fn(place.number, cells); err != nil {
			return err
		}
	}
	return nil
}
