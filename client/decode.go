package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
)

// Rows iterates over the rows of a stream in the format JSONL as values of T, which is a struct with json tags or a map:
//
//	type ticket struct {
//		ID    string  `json:"result_id"`
//		Topic string  `json:"topic"`
//		Mood  float64 `json:"mood_average"`
//	}
//	for t, err := range client.Rows[ticket](c.ExportResults(ctx, "tickets", client.Export{Format: client.JSONL})) {
//
// It takes what ExportResults or ListRunRows returns, and closes the stream at the end of the loop. A column that is null, as the
// Lens columns of failed results are, leaves the member zero; a pointer tells the difference. A member of T that the rows have no
// column for is an error, unless its tag has omitempty or omitzero. An error ends the iteration.
func Rows[T any](stream io.ReadCloser, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { _ = stream.Close() }()
		lines := bufio.NewReader(stream)
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			var row T
			if err == nil || errors.Is(err, io.EOF) {
				row, err = decodeRow[T](line, n)
			}
			if err != nil {
				yield(none, err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// decodeRow decodes row n; the first one must have a column for each member of T.
func decodeRow[T any](line []byte, n int) (row T, err error) {
	if n == 1 {
		var columns Row
		if json.Unmarshal(line, &columns) != nil {
			return row, errors.New("client: row 1 is not a JSON object: ask for the format jsonl")
		}
		if err := hasColumns(reflect.TypeFor[T](), columns); err != nil {
			return row, err
		}
	}
	if err = json.Unmarshal(line, &row); err != nil {
		return row, fmt.Errorf("client: row %d: %w", n, err)
	}
	return row, nil
}

func hasColumns(typ reflect.Type, columns Row) error {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	for f := range typ.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "": // its members are those of typ
			if err := hasColumns(f.Type, columns); err != nil {
				return err
			}
			continue
		case !f.IsExported(), name == "-", strings.Contains(rest, "omit"):
			continue
		case name == "":
			name = f.Name
		}
		if !hasColumn(columns, name) {
			return fmt.Errorf("client: %s.%s: there is no column %q: the columns are %s", typ, f.Name, name, namesOf(columns))
		}
	}
	return nil
}

func hasColumn(r Row, column string) bool {
	for _, cell := range r {
		if strings.EqualFold(cell.Column, column) { // as encoding/json compares them
			return true
		}
	}
	return false
}

func namesOf(r Row) string {
	var names []string
	for _, cell := range r {
		names = append(names, cell.Column)
	}
	return strings.Join(names, ", ")
}
