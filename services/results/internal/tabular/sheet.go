package tabular

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// sheetColumns is how many columns a sheet of Excel has.
const sheetColumns = 1 << 14

// sheetRow is the row of a sheet that is being read.
type sheetRow struct {
	number int64
	cells  []typed
	next   int // column of the next cell that does not say its own
	bytes  int
}

// rows copies the rows of the sheet in the order of their numbers; of two with one number the last counts. A row without text is
// skipped; the first other one is the header (spec: file-xlsx).
func (w *workbook) rows(to *copier, headerRow int64) error {
	ordered, err := w.ordered()
	if err != nil {
		return err
	}
	h := sheetHeader{to: to, wanted: headerRow}
	if ordered {
		last := int64(0)
		err = w.eachRow(func(number int64, cells []typed) error {
			if number <= last {
				return errors.New("a row that ordered did not find")
			}
			last = number
			return h.row(number, cells)
		}, h.merge)
	} else {
		sorted := sortedRows{growth: growth{part: grownRows, file: w.size}}
		defer sorted.rows.close()
		err = w.eachRow(sorted.add, h.merge) // which does not know the header yet
		if err == nil {
			err = sorted.each(h.row)
		}
		if err == nil {
			err = w.eachMerge(h.merge)
		}
	}
	if h.above > 0 {
		to.layout.note("%s above the header %s skipped.", counted(h.above, "row"), was(h.above))
	}
	if err == nil {
		err = h.end()
	}
	return err
}

// eachRow calls fn for the rows of the sheet as they come, with the cells up to the last one with text. They are valid until fn
// returns. Then it calls merge for the merged cells, which a sheet has behind its rows.
func (w *workbook) eachRow(fn func(number int64, cells []typed) error, merge func(cells string)) error {
	var row sheetRow
	return w.elements(w.sheet.Name, sheetBytes, func(e xml.StartElement, x *xmlReader) error {
		switch e.Name.Local {
		case "mergeCell":
			merge(attribute(e, "ref"))
			return nil
		case "row":
		default:
			return nil
		}
		row.number++
		if n, ok := rowNumber(attribute(e, "r")); ok {
			row.number = n
		}
		row.cells, row.next, row.bytes = row.cells[:0], 0, 0
		if err := w.cells(&row, x); err != nil {
			return err
		}
		for len(row.cells) > 0 && row.cells[len(row.cells)-1].Text == "" {
			row.cells = row.cells[:len(row.cells)-1]
		}
		return fn(row.number, row.cells)
	})
}

func rowNumber(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n > 0
}

// cells reads the cells up to the end of the row.
func (w *workbook) cells(row *sheetRow, x *xmlReader) error {
	for {
		token, err := x.token()
		if err != nil {
			return ended(err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				return nil
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			cell, err := w.cell(t, x)
			if err != nil {
				return err
			}
			if err := row.set(attribute(t, "r"), cell); err != nil {
				return err
			}
		}
	}
}

// ended turns io.EOF into io.ErrUnexpectedEOF: the part ends inside of an element.
func ended(err error) error {
	if err == io.EOF { //nolint:errorlint // RawToken returns it as it is
		return io.ErrUnexpectedEOF
	}
	return err
}

// set sets the cell with a name such as B7.
func (r *sheetRow) set(name string, cell typed) error {
	column := r.next
	if name != "" {
		column, _ = splitPlace(name)
	}
	if column < 0 || column >= sheetColumns {
		return errors.New("a cell is outside of the sheet")
	}
	r.next = column + 1
	if cell.Text == "" && column >= len(r.cells) {
		return nil
	}
	if r.bytes += len(cell.Text); r.bytes > MaxRowBytes {
		return rowTooLarge("Row", r.number)
	}
	for len(r.cells) <= column {
		r.cells = append(r.cells, typed{})
	}
	r.cells[column] = cell
	return nil
}

// splitPlace splits the name of a cell, such as B7, into its column, which is below 0 if there is none, and its row.
func splitPlace(name string) (column int, row string) {
	i := 0
	for ; i < len(name) && column <= sheetColumns; i++ {
		letter := name[i] &^ ('a' - 'A')
		if letter < 'A' || letter > 'Z' {
			break
		}
		column = column*26 + int(letter-'A') + 1
	}
	return column - 1, name[i:]
}

// cell reads a cell (spec: file-xlsx).
func (w *workbook) cell(start xml.StartElement, x *xmlReader) (typed, error) {
	var value, inline string
	inValue := false
	for {
		token, err := x.token()
		if err != nil {
			return typed{}, ended(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "v":
				inValue = true
			case "is":
				text, err := x.text("is")
				if err != nil {
					return typed{}, err
				}
				inline = string(text)
			}
		case xml.CharData:
			if inValue {
				if value += string(t); len(value) > MaxRowBytes {
					return typed{}, errBudget
				}
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v":
				inValue = false
			case "c":
				return w.shown(attribute(start, "t"), attribute(start, "s"), value, inline)
			}
		}
	}
}

// shown is a cell by the type and the style of its value.
func (w *workbook) shown(kind, style, value, inline string) (typed, error) {
	switch kind {
	case "s":
		if value == "" {
			return typed{}, nil
		}
		number, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return typed{}, err
		}
		text, err := w.strings.at(number)
		return typed{Text: text}, err
	case "inlineStr":
		return typed{Text: inline}, nil
	case "str":
		return typed{Text: string(unescape([]byte(value)))}, nil
	case "b":
		return typedOf(Boolean, boolean(value)), nil
	case "e":
		return typed{Text: value}, nil
	}
	var format numberFormat
	if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(w.formats) {
		format = w.formats[i]
	}
	if kind == "d" {
		return format.iso(value), nil
	}
	return format.cell(strings.TrimSpace(value), w.from), nil
}

// boolean is a value of XML Schema's type as Excel shows it.
func boolean(value string) string {
	switch value {
	case "1", "true":
		return "TRUE"
	case "0", "false":
		return "FALSE"
	}
	return value
}
