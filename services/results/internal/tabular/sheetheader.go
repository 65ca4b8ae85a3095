package tabular

import (
	"encoding/xml"
	"strings"
)

// sheetHeader finds the header of a sheet, and copies the rows below it.
type sheetHeader struct {
	to     *copier
	wanted int64 // the option header_row
	number int64 // of the header's row; 0: it was not read yet
	above  int64 // rows above it that are not empty

	// What may name columns (spec: file-columns): of each column the last text up to the header, and of each column that lies in
	// merged cells of the header their text.
	texts map[int]headerText
	bytes int // of texts
	names map[int]string
}

type headerText struct {
	row  int64
	text string
}

// row takes the next row.
func (h *sheetHeader) row(number int64, cells []typed) error {
	var err error
	switch {
	case len(cells) == 0:
		h.to.skipped++
	case h.number > 0:
		err = h.to.row(number, cells)
	case number < h.wanted:
		h.above++
		h.keep(number, cells)
	default:
		h.number = number
		h.keep(number, cells)
		names := make([]string, len(cells))
		for i, cell := range cells {
			names[i] = cell.Text
		}
		err = h.to.header(number, names)
	}
	if err != nil {
		return ownError{err}
	}
	return nil
}

// keep keeps the texts of a row down to the header, as many as may be names.
func (h *sheetHeader) keep(number int64, cells []typed) {
	if h.texts == nil {
		h.texts, h.names = map[int]headerText{}, map[int]string{}
	}
	for i, cell := range cells[:min(len(cells), MaxColumns)] {
		if cell.Text == "" {
			continue
		}
		if h.bytes += len(cell.Text) - len(h.texts[i].text); h.bytes > MaxRowBytes {
			h.bytes -= len(cell.Text)
			delete(h.texts, i)
			continue
		}
		h.texts[i] = headerText{number, cell.Text}
	}
}

// merge takes merged cells, such as B1:D2. Their text is that of the first of them.
func (h *sheetHeader) merge(cells string) {
	from, to, _ := strings.Cut(cells, ":")
	column, row := splitPlace(from)
	last, lastRow := splitPlace(to)
	first, ok := rowNumber(row)
	end, okEnd := rowNumber(lastRow)
	if text := h.texts[column]; !ok || !okEnd || first > h.number || end < h.number || text.row != first {
		return
	}
	for i := column; i <= min(last, MaxColumns-1); i++ {
		h.names[i] = h.texts[column].text
	}
}

// end names the columns that have cells and are in merged cells of the header. The others without a name are named as in every file.
func (h *sheetHeader) end() error {
	if h.number == 0 {
		return errNoRows
	}
	layout, named := &h.to.layout, int64(0)
	names := make([]string, len(layout.Columns))
	for i, c := range layout.Columns {
		if names[i] = c.Name; c.Name == "" && c.Filled > 0 && h.names[i] != "" {
			names[i] = h.names[i]
			named++
		}
	}
	if named == 0 {
		return nil
	}
	columns, err := header(h.to.place, h.number, len(names), names)
	if err != nil {
		return err
	}
	for i, c := range columns {
		layout.Columns[i].Name = c.Name
	}
	layout.note("%s %s the name of merged cells.", counted(named, "column"), map[bool]string{true: "has", false: "have"}[named == 1])
	return nil
}

// eachMerge calls fn for the merged cells of the sheet.
func (w *workbook) eachMerge(fn func(cells string)) error {
	return w.elements(w.sheet.Name, sheetBytes, func(e xml.StartElement, _ *xmlReader) error {
		if e.Name.Local == "mergeCell" {
			fn(attribute(e, "ref"))
		}
		return nil
	})
}
