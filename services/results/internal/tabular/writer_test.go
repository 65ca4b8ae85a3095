package tabular_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// awkward are texts that formats of spreadsheets have trouble with.
var awkward = []string{
	"", "plain", "=1+1", " spaces ", "<&>\"'", "two\nlines", "two\r\nlines", "tab\there",
	"_x000D_", "_x005F_", "_x00", "\x01\x1f", "👩‍🚀", "\ufffe",
}

func writeAll(t testing.TB, format prism.RowsFormat, columns []string, rows [][]string, added []prism.Cell) []byte {
	t.Helper()
	var named []tabular.Column
	for _, name := range columns {
		named = append(named, tabular.Column{Name: name})
	}
	var addedTo []tabular.Column
	for i := range added {
		addedTo = append(addedTo, tabular.Column{Name: fmt.Sprint("added", i)})
	}
	var b bytes.Buffer
	w, err := tabular.NewWriter(format, api.TextStyle{}, &b, named, addedTo)
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range rows {
		if err := w.Row(tabular.Row{Cells: cells}, added); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func awkwardRows() (rows [][]string) {
	for i, text := range awkward {
		rows = append(rows, []string{fmt.Sprint(i), text})
	}
	return rows
}

// spec: run-rows-xlsx
func TestExcelizeReadsDownloadedSheets(t *testing.T) {
	t.Parallel()
	added := []prism.Cell{{Kind: prism.NumberCell, Number: 0.25}, {}, {Kind: prism.TextCell, Key: "yes", Label: "Yes"}}
	data := writeAll(t, prism.RowsXLSX, []string{"id", "text"}, awkwardRows(), added)
	book, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got, err := book.GetRows("Rows 1", excelize.Options{RawCellValue: true})
	if err != nil || len(got) != len(awkward)+1 || !slices.Equal(got[0], []string{"id", "text", "added0", "added1", "added2"}) {
		t.Fatalf("%q: %v", got, err)
	}
	for i, text := range awkward {
		if want := []string{fmt.Sprint(i), text, "0.25", "", "Yes"}; !slices.Equal(got[i+1], want) {
			t.Errorf("got %q, want %q", got[i+1], want)
		}
	}
	for cell, want := range map[string]excelize.CellType{"B4": excelize.CellTypeInlineString, "C2": excelize.CellTypeUnset} {
		if kind, err := book.GetCellType("Rows 1", cell); err != nil || kind != want {
			t.Errorf("%s is of type %d: %v", cell, kind, err)
		}
	}
}

// What is downloaded reads back as a file, so that a run can go on with the rows of another.
//
// spec: run-rows-xlsx, file-xlsx
func TestDownloadedTablesReadBack(t *testing.T) {
	t.Parallel()
	for _, format := range []prism.RowsFormat{prism.RowsCSV, prism.RowsJSONL, prism.RowsXLSX} {
		rows := awkwardRows()
		r, err := readAll(t, prism.FileFormat(format), writeAll(t, format, []string{"id", "text"}, rows, nil))
		if err != nil || len(r.rows) != len(rows) {
			t.Errorf("%s: %d rows: %v", format, len(r.rows), err)
			continue
		}
		for i, row := range r.rows {
			if !slices.Equal(row.Cells, rows[i]) {
				t.Errorf("%s: got %q, want %q", format, row.Cells, rows[i])
			}
		}
	}
}

// spec: run-rows-xlsx
func TestACellHasAsMuchTextAsExcelHolds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 32_766) + "👩!"
	r, err := readAll(t, prism.FileXLSX, writeAll(t, prism.RowsXLSX, []string{"text"}, [][]string{{long}}, nil))
	if err != nil || len(utf16.Encode([]rune(r.rows[0].Cells[0]))) != 32_766 {
		t.Errorf("%d characters: %v", r.layout.Columns[0].Longest, err)
	}
}

// spec: run-rows-xlsx
func TestRowsBeyondASheetGoOnInAnother(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := tabular.NewSheetWriter(&b, []tabular.Column{{Name: "text"}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b", "c", "d", "e"} {
		if err := w.Row(tabular.Row{Cells: []string{text}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range book.GetSheetList() {
		rows, err := book.GetRows(name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(name, rows))
	}
	if want := []string{"Rows 1[[text] [a] [b]]", "Rows 2[[text] [c] [d]]", "Rows 3[[text] [e]]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// spec: file-xlsx
func TestWorkbooksOfExcelizeAreRead(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	stream, err := book.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	rows := awkwardRows()
	for i, row := range append([][]string{{"id", "text"}}, rows...) {
		if err := stream.SetRow(fmt.Sprint("A", i+1), []any{row[0], row[1], nil}); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := stream.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	r, err := readAll(t, prism.FileXLSX, b.Bytes())
	if err != nil || len(r.rows) != len(rows) {
		t.Fatalf("%d rows: %v", len(r.rows), err)
	}
	for i, row := range r.rows {
		// excelize writes CR as a line break of XML, which is LF, and leaves out what XML lacks.
		if want := rows[i][1]; row.Cells[1] != want && !strings.ContainsAny(want, "\r\x01\ufffe") {
			t.Errorf("got %q, want %q", row.Cells[1], want)
		}
	}
}

// spec: file-parquet
func TestFilesOfParquetGoAreRead(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int64    `parquet:"id"`
		Text *string  `parquet:"text,optional,snappy"`
		List []string `parquet:"list,list"`
		Half float32  `parquet:"half"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	var want [][]string
	for i := range 1000 {
		text := fmt.Sprint("text ", i)
		r := row{ID: int64(i), Text: &text, List: []string{"a", text}, Half: 0.5}
		cells := []string{fmt.Sprint(i), text, `["a","` + text + `"]`, "0.5"}
		if i%7 == 0 {
			r.Text, r.List, cells[1], cells[2] = nil, nil, "", "[]"
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		want = append(want, cells)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := readAll(t, prism.FileParquet, b.Bytes())
	if err != nil || len(r.rows) != len(want) || len(r.chunks) != 5 {
		t.Fatalf("%d rows in %d chunks: %v", len(r.rows), len(r.chunks), err)
	}
	for i, row := range r.rows {
		if !slices.Equal(row.Cells, want[i]) {
			t.Fatalf("row %d: got %q, want %q", i, row.Cells, want[i])
		}
	}
}
