package tabular_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// again reads a file and writes its rows as a workbook, with a probability behind each row.
func again(t *testing.T, format prism.FileFormat, data []byte) []byte {
	t.Helper()
	r, err := readAll(t, format, data)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	added := []tabular.Column{{Name: "probability", Look: tabular.LookPercent}}
	w, err := tabular.NewWriter(prism.RowsXLSX, api.TextStyle{}, &b, r.layout.Columns, added)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.rows {
		if err := w.Row(row, []prism.Cell{{Kind: prism.NumberCell, Number: 0.8125}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stored is what a workbook stores of the cells of its first column below the header, and how excelize shows the first of them.
func stored(t *testing.T, data []byte) (values, shown string) {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[excelize.CellType]string{excelize.CellTypeInlineString: "text ", excelize.CellTypeBool: "bool "}
	var all []string
	rows, err := book.GetRows("Rows 1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows[1:] {
		cell := fmt.Sprint("A", i+2)
		kind, errKind := book.GetCellType("Rows 1", cell)
		value, errValue := book.GetCellValue("Rows 1", cell, excelize.Options{RawCellValue: true})
		if errKind != nil || errValue != nil {
			t.Fatal(errKind, errValue)
		}
		all = append(all, kinds[kind]+value)
	}
	return strings.Join(all, ", "), rows[1][0]
}

// spec: run-rows-xlsx
func TestNumbersDatesAndBooleansOfAWorkbookComeBackAsTheyWereStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cells       []string
		formats     []string
		want, shown string
	}{
		{"numbers", []string{styled(0, "1"), styled(0, "-2.5"), styled(0, "1E+21")}, nil, "1, -2.5, 1e+21", "1"},
		{
			"a number of more than 15 digits",
			[]string{styled(0, "0.30000000000000004"), styled(0, "0.1")},
			nil,
			"0.30000000000000004, 0.1", "0.3",
		},
		{"a number of 17 digits", []string{styled(0, "12345678901234568")}, nil, "1.2345678901234568e+16", "1.23456789012346E+16"},
		{"a text of 17 digits", []string{textCell("12345678901234567")}, nil, "text 12345678901234567", "12345678901234567"},
		{"a text with leading zeros", []string{textCell("00123")}, nil, "text 00123", "00123"},
		{"a number with leading zeros", []string{styled(1, "123")}, []string{"00000"}, "123", "00123"},
		{"numbers and a text", []string{styled(0, "0.30000000000000004"), textCell("n/a")}, nil, "text 0.3, text n/a", "0.3"},
		{"percentages", []string{styled(1, "0.25")}, []string{"0%"}, "0.25", "25%"},
		{"money", []string{styled(1, "1234.5")}, []string{`#,##0.00\ "€"`}, "1234.5", "1,234.50 €"},
		{"German dates", []string{styled(1, "46081")}, []string{"dd.mm.yyyy"}, "46081", "28.02.2026"},
		{"American dates", []string{styled(1, "46081")}, []string{"m/d/yyyy"}, "46081", "2/28/2026"},
		{"Japanese dates", []string{styled(1, "46081")}, []string{`yyyy"年"m"月"d"日"`}, "46081", "2026年2月28日"},
		{"times to the millisecond", []string{styled(1, "46081.545821759")}, []string{"yyyy-mm-dd hh:mm:ss.000"}, "46081.545821759", "2026-02-28 13:05:59.000"},
		{
			"dates with several formats",
			[]string{styled(1, "46081"), styled(2, "46081.5")},
			[]string{"dd.mm.yyyy", "m/d/yyyy hh:mm"},
			"46081, 46081.5", "2026-02-28",
		},
		{"the 29 February of Excel's 1900", []string{styled(1, "60"), styled(1, "59"), styled(1, "61"), styled(1, "0")}, []string{"d/m/yyyy"}, "60, 59, 61, 0", "29/2/1900"},
		{"durations", []string{styled(1, "1.5")}, []string{"[h]:mm:ss"}, "1.5", "36:00:00"},
		{"booleans", []string{`<c t="b"><v>1</v></c>`, `<c t="b"><v>0</v></c>`}, nil, "bool 1, bool 0", "TRUE"},
		{"ISO 8601", []string{`<c t="d"><v>2026-02-28</v></c>`, `<c t="d"><v>2026-02-28T12:00:00</v></c>`}, nil, "46081, 46081.5", "2026-02-28"},
		{"errors", []string{`<c t="e"><v>#N/A</v></c>`}, nil, "text #N/A", "#N/A"},
	} {
		got, shown := stored(t, again(t, prism.FileXLSX, sheetOf(t, c.cells, c.formats...)))
		if got != c.want || shown != c.shown {
			t.Errorf("%s: %s, shown as %s", c.name, got, shown)
		}
	}
}

// A workbook that counts from 1904 comes back as one that counts from 1900, with the time of day that its format does not show.
//
// spec: run-rows-xlsx
func TestDatesOf1904ComeBackAsTheSameTimes(t *testing.T) {
	t.Parallel()
	book, err := excelize.OpenReader(bytes.NewReader(again(t, prism.FileXLSX, golden(t, "xlsxwriter-1904.xlsx"))))
	if err != nil {
		t.Fatal(err)
	}
	value, err := book.GetCellValue("Rows 1", "B2", excelize.Options{RawCellValue: true})
	shown, errShown := book.GetCellValue("Rows 1", "B2")
	if err != nil || errShown != nil || !strings.HasPrefix(value, "46081.54582175926") || shown != "Feb 26" {
		t.Errorf("%s, shown as %s: %v", value, shown, errors.Join(err, errShown))
	}
}

// Values of Parquet and jsonl keep their types too; csv has none.
//
// spec: run-rows-xlsx
func TestFormatsWithTypesKeepThemInAWorkbook(t *testing.T) {
	t.Parallel()
	for format, want := range map[prism.FileFormat]string{prism.FileJSONL: "1.5, -2", prism.FileCSV: "text 1.50, text -2"} {
		data := "{\"n\":1.50}\n{\"n\":-2}\n"
		if format == prism.FileCSV {
			data = "n\n1.50\n-2\n"
		}
		if got, _ := stored(t, again(t, format, []byte(data))); got != want {
			t.Errorf("%s: %s", format, got)
		}
	}
	book, err := excelize.OpenReader(bytes.NewReader(again(t, prism.FileParquet, golden(t, "pyarrow-types.parquet"))))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := book.GetRows("Rows 1")
	want := []string{
		"a", "1", "18446744073709551615", "0.1", "0.1", "TRUE", "1.5", "2026-02-28", "13:05:59", "2026-02-28T13:05:59Z",
		"2026-02-28 13:05:59", "text", `["a",null]`,
	}
	if err != nil || !slices.Equal(rows[1][:len(want)], want) {
		t.Errorf("%q: %v", rows[1], err)
	}
}

// spec: run-rows-xlsx
func TestASheetHasAFixedHeaderAFilterWidthsAndPercentages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	book, err := excelize.OpenReader(bytes.NewReader(again(t, prism.FileCSV, []byte("id,text,a name of some length\n1,"+long+",2\n"))))
	if err != nil {
		t.Fatal(err)
	}
	panes, err := book.GetPanes("Rows 1")
	if err != nil || !panes.Freeze || panes.YSplit != 1 || panes.XSplit != 0 {
		t.Errorf("%+v: %v", panes, err)
	}
	for column, want := range map[string]float64{"A": 8, "B": 60, "C": 23} {
		if got, err := book.GetColWidth("Rows 1", column); err != nil || got != want {
			t.Errorf("%s is %v wide: %v", column, got, err)
		}
	}
	if got, err := book.GetCellValue("Rows 1", "D2"); err != nil || got != "81%" {
		t.Errorf("a probability is %q: %v", got, err)
	}
	names := book.GetDefinedName()
	if len(names) != 1 || names[0].Name != "_xlnm._FilterDatabase" || names[0].RefersTo != "'Rows 1'!$A$1:$D$2" {
		t.Errorf("%+v", names)
	}
}
