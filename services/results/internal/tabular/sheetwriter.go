package tabular

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
)

// What a sheet of Excel holds at most (spec: run-rows-xlsx).
const (
	sheetRows      = 1 << 20
	sheetCellUnits = 32_767 // UTF-16 code units
)

const xmlHeader = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// sheetWriter streams xlsx: the parts that name all sheets come after the sheets. Libraries write the sheets to a temporary file
// first, so that the first byte waits for the last row, and a service without a disk holds everything in memory.
type sheetWriter struct {
	zip     *zip.Writer
	columns []sheetColumn
	maxRows int // of a sheet
	sheets  int
	rows    int    // of the sheet
	number  []byte // rows in digits
	part    io.Writer
	buffer  []byte
}

func newSheetWriter(to io.Writer, columns []Column, most int) (Writer, error) {
	w := &sheetWriter{zip: zip.NewWriter(to), maxRows: most}
	var looks sheetLooks
	for i, c := range columns {
		w.columns = append(w.columns, looks.column(i, c))
	}
	// By default an XML part is a sheet, so the number of sheets need not be known here.
	err := w.write("[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`+
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`+
		`<Override PartName="/xl/workbook.xml"`+
		` ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>`+
		`<Override PartName="/xl/styles.xml"`+
		` ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`)
	if err == nil {
		err = w.write("_rels/.rels", relationships(`<Relationship Id="rId1"`+
			` Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>`))
	}
	if err == nil {
		err = w.write("xl/styles.xml", looks.xml())
	}
	if err != nil {
		return nil, err
	}
	return w, w.begin()
}

// Row implements Writer.
func (w *sheetWriter) Row(original Row, added []prism.Cell) error {
	if w.rows == w.maxRows {
		if err := w.end(); err != nil {
			return err
		}
		if err := w.begin(); err != nil {
			return err
		}
	}
	w.beginRow()
	for i, text := range original.Cells {
		if text != "" {
			w.original(i, text, original.exact[i])
		}
	}
	for i, c := range added {
		at := len(original.Cells) + i
		switch c.Kind {
		case prism.NumberCell:
			w.beginValue(at, w.columns[at].style)
			w.buffer = append(prism.AppendNumber(w.buffer, c.Number), `</v></c>`...)
		case prism.TextCell:
			w.text(at, c.Label)
		case prism.NullCell: // an empty value is an empty cell
		}
	}
	return w.endRow()
}

func (w *sheetWriter) beginRow() {
	w.rows++
	w.number = strconv.AppendInt(w.number[:0], int64(w.rows), 10)
	w.buffer = append(append(append(w.buffer[:0], `<row r="`...), w.number...), `">`...)
}

func (w *sheetWriter) endRow() error {
	w.buffer = append(w.buffer, `</row>`...)
	_, err := w.part.Write(w.buffer)
	return err
}

// original appends a cell of the file by the type of its column. A cell of a row that could not be read may not have the type.
func (w *sheetWriter) original(column int, text, exact string) {
	c := &w.columns[column]
	number, ok := stored(c.Kind, text)
	if !ok {
		w.text(column, text)
		return
	}
	w.beginValue(column, c.attributes(text))
	if exact != "" {
		w.buffer = append(w.buffer, exact...)
	} else {
		w.buffer = strconv.AppendFloat(w.buffer, number, 'g', -1, 64)
	}
	w.buffer = append(w.buffer, `</v></c>`...)
}

// beginValue begins a cell with further attributes.
func (w *sheetWriter) beginValue(column int, attributes string) {
	b := append(append(append(w.buffer, `<c r="`...), w.columns[column].letters...), w.number...)
	w.buffer = append(append(append(b, '"'), attributes...), `><v>`...)
}

// text appends an inline string, which Excel never takes for a formula or a number.
func (w *sheetWriter) text(column int, text string) {
	if text == "" {
		return
	}
	b := append(append(append(w.buffer, `<c r="`...), w.columns[column].letters...), w.number...)
	b = append(b, `" t="inlineStr"><is><t xml:space="preserve">`...)
	w.buffer = append(appendXML(b, text), `</t></is></c>`...)
}

// begin begins a sheet with the header, which stays in view.
func (w *sheetWriter) begin() (err error) {
	w.sheets++
	w.rows = 0
	if w.part, err = w.zip.Create(fmt.Sprintf("xl/worksheets/sheet%d.xml", w.sheets)); err != nil {
		return err
	}
	selected := ""
	if w.sheets == 1 {
		selected = ` tabSelected="1"`
	}
	head := bytes.NewBufferString(xmlHeader + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
		`<sheetViews><sheetView` + selected + ` workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`)
	for i, c := range w.columns {
		fmt.Fprintf(head, `<col min="%d" max="%[1]d" width="%d" customWidth="1"/>`, i+1, c.width())
	}
	head.WriteString(`</cols><sheetData>`)
	if _, err = w.part.Write(head.Bytes()); err != nil {
		return err
	}
	w.beginRow()
	for i, c := range w.columns {
		w.text(i, c.Name)
	}
	return w.endRow()
}

func (w *sheetWriter) end() error {
	_, err := fmt.Fprintf(w.part, `</sheetData><autoFilter ref="A1:%s%d"/></worksheet>`, w.columns[len(w.columns)-1].letters, w.rows)
	return err
}

// Close implements Writer.
func (w *sheetWriter) Close() error {
	if err := w.end(); err != nil {
		return err
	}
	const related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	var sheets, targets, filters strings.Builder
	last := w.columns[len(w.columns)-1].letters
	for i := 1; i <= w.sheets; i++ {
		rows := w.maxRows
		if i == w.sheets {
			rows = w.rows
		}
		fmt.Fprintf(&sheets, `<sheet name="Rows %d" sheetId="%[1]d" r:id="rId%[1]d"/>`, i)
		fmt.Fprintf(&targets, `<Relationship Id="rId%d" Target="worksheets/sheet%[1]d.xml" Type="`+related+`/worksheet"/>`, i)
		fmt.Fprintf(&filters, `<definedName name="_xlnm._FilterDatabase" localSheetId="%d" hidden="1">'Rows %d'!$A$1:$%s$%d</definedName>`,
			i-1, i, last, rows)
	}
	err := w.write("xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`+
		` xmlns:r="`+related+`"><bookViews><workbookView/></bookViews><sheets>`+sheets.String()+
		`</sheets><definedNames>`+filters.String()+`</definedNames></workbook>`)
	if err == nil {
		targets.WriteString(`<Relationship Id="styles" Target="styles.xml" Type="` + related + `/styles"/>`)
		err = w.write("xl/_rels/workbook.xml.rels", relationships(targets.String()))
	}
	if err != nil {
		return err
	}
	return w.zip.Close()
}

func (w *sheetWriter) write(name, text string) error {
	part, err := w.zip.Create(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(part, xmlHeader+text)
	return err
}

func relationships(all string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + all + `</Relationships>`
}

// columnLetters is the name of a column; the first has the number 0.
func columnLetters(column int) string {
	if column < 26 {
		return string(rune('A' + column)) //nolint:gosec // below 26
	}
	return columnLetters(column/26-1) + string(rune('A'+column%26))
}

// appendXML appends as much of a text as a cell may have. Characters that XML lacks, and CR, which XML parsers change to LF, are
// written as escapes such as _x000D_. In a text that looks like an escape, the underscore is escaped.
func appendXML(b []byte, text string) []byte {
	units := 0
	for i, r := range text {
		if units++; r > 0xffff {
			units++
		}
		if units > sheetCellUnits {
			break
		}
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r < ' ' && r != '\t' && r != '\n', r == 0xfffe, r == 0xffff:
			b = fmt.Appendf(b, "_x%04X_", r)
		case r == '_' && escapeLength(text[i:]) > 0:
			b = append(b, "_x005F_"...)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// escapeLength is the length of the escape with which a text begins, such as _x000D_, or 0.
func escapeLength(text string) int {
	const length = len("_x000D_")
	if len(text) < length || text[:2] != "_x" || text[length-1] != '_' {
		return 0
	}
	if _, err := strconv.ParseUint(text[2:length-1], 16, 16); err != nil {
		return 0
	}
	return length
}
