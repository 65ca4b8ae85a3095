package tabular_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// wide is a text in UTF-16.
func wide(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// renamed are parts with other names or other texts.
func renamed(parts map[string]string, change func(name, text string) (string, string)) map[string]string {
	changed := map[string]string{}
	for name, text := range parts {
		name, text = change(name, text)
		changed[name] = text
	}
	return changed
}

// A workbook as programs write them: with a shared text, a date, a boolean and a number.
var usualWorkbook = partsOfWorkbook(
	`<?xml version="1.0" encoding="UTF-8"?><workbook><sheets><sheet name="s" id="a"/></sheets></workbook>`,
	`<?xml version="1.0" encoding="UTF-8"?><worksheet><sheetData>`+
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>day</t></is></c><c r="C1" t="str"><v>flag</v></c></row>`+
		`<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" s="1"><v>46081</v></c><c r="C2" t="b"><v>1</v></c></row></sheetData></worksheet>`,
	`<?xml version="1.0" encoding="UTF-8"?><sst><si><t>text</t></si><si><t>é🙂</t></si></sst>`,
	`<?xml version="1.0" encoding="UTF-8"?><styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
)

const usualCells = `["text","day","flag"]` + "\n" + `["é🙂","2026-02-28","TRUE"]` + "\n"

// replacing changes the text of one part.
func replacing(part string, pairs ...string) map[string]string {
	parts := maps.Clone(usualWorkbook)
	parts[part] = strings.NewReplacer(pairs...).Replace(parts[part])
	return parts
}

// in16 has all parts in UTF-16.
func in16(mark string, order binary.AppendByteOrder) map[string]string {
	return renamed(usualWorkbook, func(name, text string) (string, string) {
		return name, wide(order, mark+strings.Replace(text, `"UTF-8"`, `"UTF-16"`, 1))
	})
}

// spec: file-xlsx
func TestWorkbooksOfEveryKindAreRead(t *testing.T) {
	t.Parallel()
	macros := maps.Clone(usualWorkbook)
	macros["xl/vbaProject.bin"] = "\xd0\xcf\x11\xe0"
	macros["[Content_Types].xml"] = `<Types><Override PartName="/officeDocument.xml" ContentType="application/vnd.ms-excel.sheet.macroEnabled.main+xml"/></Types>`
	strict := renamed(usualWorkbook, func(name, text string) (string, string) {
		return name, strings.NewReplacer(
			`Type="x/`, `Type="http://purl.oclc.org/ooxml/officeDocument/relationships/`,
			`<c r="B2" s="1"><v>46081</v>`, `<c r="B2" s="1" t="d"><v>2026-02-28T00:00:00.000</v>`,
			`<workbook>`, `<workbook xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main" conformance="strict">`,
			`<worksheet>`, `<worksheet xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main">`,
		).Replace(text)
	})
	for _, c := range []struct {
		name  string
		parts map[string]string
	}{
		{"as usual", usualWorkbook},
		{"with macros (.xlsm)", macros},
		{"strict", strict},
		{"names of parts with backslashes", renamed(usualWorkbook, func(name, text string) (string, string) { return strings.ReplaceAll(name, "/", `\`), text })},
		{"parts in UTF-16 of Windows", in16("\ufeff", binary.LittleEndian)},
		{"parts in UTF-16, the high byte first", in16("\ufeff", binary.BigEndian)},
		{"parts in UTF-16 without a mark", in16("", binary.LittleEndian)},
		{"parts in UTF-16 without a mark, the high byte first", in16("", binary.BigEndian)},
		{"parts in UTF-8 with a mark", renamed(usualWorkbook, func(name, text string) (string, string) { return name, "\ufeff" + text })},
		{
			"cells and rows without a reference",
			replacing("worksheet.xml", ` r="A1"`, "", ` r="B1"`, "", ` r="C1"`, "", ` r="A2"`, "", ` r="B2"`, "", ` r="C2"`, "", `<row r="1"`, "<row", `<row r="2"`, "<row"),
		},
		{"a boolean that is true in words", replacing("worksheet.xml", `t="b"><v>1<`, `t="b"><v>true<`)},
		{
			"dates of 1904",
			renamed(replacing("worksheet.xml", "46081", "44619"), func(name, text string) (string, string) {
				return name, strings.Replace(text, "<workbook>", `<workbook><workbookPr date1904="true"/>`, 1)
			}),
		},
		{"elements with a prefix", renamed(usualWorkbook, func(name, text string) (string, string) {
			return name, strings.NewReplacer("<?xml", "<?xml", "</", "</x:", "<", "<x:").Replace(text)
		})},
		{"rows that are not in order", replacing("worksheet.xml", `<row r="1">`, `<row r="2"/><row r="1">`)},
	} {
		r, err := readAll(t, prism.FileXLSX, zipped(t, c.parts))
		if err != nil || r.cells() != usualCells {
			t.Errorf("%s: %v: %s", c.name, err, r)
		}
	}
}

// spec: file-xlsx
func TestWorkbooksOfOtherKindsAreRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	for want, data := range map[string][]byte{
		"An OpenDocument spreadsheet (.ods). Save it as .xlsx or as .csv.": zipped(t, map[string]string{"mimetype": "x", "content.xml": "<x/>"}),
		"A binary workbook (.xlsb). Save it as .xlsx or as .csv.": zipped(t, map[string]string{
			"_rels/.rels": `<Relationships><Relationship Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>`, "xl/workbook.bin": "\x83\x01",
		}),
		"The workbook is protected with a password or has the old format .xls. Save it as .xlsx without a password.": golden(t, "old.xlsx"),
		"Not an Excel workbook (.xlsx).": zipped(t, renamed(usualWorkbook, func(name, text string) (string, string) {
			return name, strings.Replace(text, "UTF-8", "EBCDIC", 1)
		})),
	} {
		_, err := readAll(t, prism.FileXLSX, data)
		if unusable := (*tabular.UnusableError)(nil); !errors.As(err, &unusable) || unusable.Text != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// spec: file-columns
func TestEachColumnBelowMergedCellsOfTheHeaderHasTheirName(t *testing.T) {
	t.Parallel()
	texts := func(row int, cells ...string) string {
		all := "<row>"
		for i, cell := range cells {
			if cell != "" {
				all += strings.Replace(textCell(cell), "<c", `<c r="`+string(rune('A'+i))+`"`, 1)
			}
		}
		return strings.Replace(all, "<row", `<row r="`+string(rune('0'+row))+`"`, 1) + "</row>"
	}
	merged := func(cells ...string) string {
		return `<mergeCells><mergeCell ref="` + strings.Join(cells, `"/><mergeCell ref="`) + `"/></mergeCells>`
	}
	long := strings.Repeat("x", 99_000)
	all := []string{"1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"}
	for _, c := range []struct {
		name      string
		sheet     string
		headerRow int64
		want      string // the names of columns, or the error
	}{
		{"cells beside each other", texts(1, "id", "address", "", "", "n") + texts(2, "1", "2", "3", "4", "5") + merged("B1:D1"), 0, "id|address|address (2)|address (3)|n"},
		{"at the end", texts(1, "id", "address") + texts(2, "1", "2", "3") + merged("B1:C1"), 0, "id|address|address (2)"},
		{"a column without cells", texts(1, "id", "", "n") + texts(2, "1", "", "3") + merged("A1:B1"), 0, "id|n"},
		{"cells above each other", texts(1, "id", "address") + texts(2, "", "street", "city") + texts(3, "1", "2", "3") + merged("A1:A2", "B1:C1"), 2, "id|street|city"},
		{"a block", texts(1, "id", "", "n") + texts(2, "", "", "m") + texts(3, "1", "2", "3") + merged("A1:B2"), 2, "id|id (2)|m"},
		{"the header is the upper row", texts(1, "id", "address") + texts(2, "", "street", "city") + merged("A1:A2", "B1:C1"), 0, "id|address|address (2)"},
		{"merged rows below", texts(1, "id", "", "n") + texts(2, "1", "2", "3") + merged("A2:B2"), 0, "id|column_2|n"},
		{"a title above", texts(1, "title") + texts(2, "id", "", "n") + texts(3, "1", "2", "3") + merged("A1:C1"), 2, "id|column_2|n"},
		{"a cell that has a text of its own", texts(1, "id", "n") + texts(2, "1", "2") + merged("A1:B1"), 0, "id|n"},
		{"nothing in the first cell", texts(1, "", "n") + texts(2, "1", "2") + merged("A1:A1"), 0, "column_1|n"},
		{"rows that are not in order", texts(2, "1", "2", "3") + texts(1, "id", "address") + merged("B1:C1"), 0, "id|address|address (2)"},
		{"what is no place", texts(1, "id") + texts(2, "1", "2") + merged("A1", ":", "A:B", "1:2", "B1:A1", "A0:B0", "ÀÀ1:B1", ""), 0, "id|column_2"},
		{"a long name of many columns", texts(1, long) + texts(2, all...) + merged("A1:XFD1"), 0, "Row 1: the names of the columns may have 1 MiB."},
	} {
		r, err := readAllBy(t, tabular.Read, prism.FileXLSX, tabular.Options{HeaderRow: c.headerRow}, workbookOf(t, c.sheet))
		var names []string
		for _, column := range r.layout.Columns {
			names = append(names, column.Name)
		}
		got := strings.Join(names, "|")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %.300s, want %s", c.name, got, c.want)
		}
	}
}

// spec: file-xlsx
func TestDatesInISO8601ReadAsTheirFormatMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, value, want string }{
		{"dd.mm.yyyy", "2026-02-28T00:00:00.000", "2026-02-28"},
		{"dd.mm.yyyy", "2026-02-28", "2026-02-28"},
		{"dd.mm.yyyy hh:mm", "2026-02-28T13:05:59", "2026-02-28T13:05:59"},
		{"dd.mm.yyyy hh:mm", "2026-02-28", "2026-02-28T00:00:00"},
		{"hh:mm:ss", "1899-12-31T13:05:59.000", "13:05:59"},
		{"hh:mm:ss", "1899-12-30T13:05:59", "13:05:59"},
		{"hh:mm:ss", "13:05:59", "13:05:59"},
		{"[h]:mm", "1900-01-01T12:00:00", "36:00:00"},
		{"yyyy", "1900-02-28", "1900-02-28"},
		{"yyyy", "1789-07-14", "1789-07-14"},
		{"General", "2026-02-28T13:05:59Z", "2026-02-28T13:05:59Z"},
		{"General", "2026-02-28T13:05:59", "2026-02-28T13:05:59"},
		{"yyyy", "soon", "soon"},
	} {
		r, err := readAll(t, prism.FileXLSX, workbookOf(t, headerOfOne+`<row><c t="d" s="1"><v>`+c.value+`</v></c></row>`, c.format))
		if err != nil || r.rows[0].Cells[0] != c.want {
			t.Errorf("%s as %s: %v, %v; want %s", c.value, c.format, r.rows, err, c.want)
		}
	}
}
