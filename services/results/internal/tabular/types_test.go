package tabular_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// sheetOf is a workbook of one column, whose cells are XML with the number formats as styles from 1 on.
func sheetOf(t *testing.T, cells []string, formats ...string) []byte {
	t.Helper()
	rows := `<row><c t="inlineStr"><is><t>name</t></is></c></row>`
	for _, cell := range cells {
		rows += "<row>" + cell + "</row>"
	}
	return workbookOf(t, rows, formats...)
}

func textCell(of string) string { return `<c t="inlineStr"><is><t>` + of + `</t></is></c>` }

func styled(style int, value string) string {
	return fmt.Sprintf(`<c s="%d"><v>%s</v></c>`, style, value)
}

// A text that only looks like a number stays a text.
//
// spec: run-rows-xlsx
func TestAColumnOfAWorkbookHasTheTypeThatAllItsCellsHave(t *testing.T) {
	t.Parallel()
	german, american, british, french, japanese := "dd.mm.yyyy", "m/d/yyyy", "dd/mm/yyyy", "dd/mm/yyyy;@", `yyyy"年"m"月"d"日"`
	for _, c := range []struct {
		name    string
		cells   []string
		formats []string
		kind    tabular.Kind
		look    tabular.Look
		want    string
	}{
		{"numbers", []string{styled(0, "1"), styled(0, "-2.5"), "", styled(0, "1E+21")}, nil, tabular.Number, tabular.Look{}, "1 -2.5 1E+21"},
		{"percentages", []string{styled(1, "0.25"), styled(1, "1")}, []string{"0%"}, tabular.Number, tabular.Look{Code: "0%"}, "0.25 1"},
		{
			"numbers with several formats",
			[]string{styled(1, "0.25"), styled(0, "1"), styled(1, "2")},
			[]string{"0%"},
			tabular.Number,
			tabular.Look{},
			"0.25 1 2",
		},
		{"a text with leading zeros", []string{textCell("00123"), textCell("00124")}, nil, tabular.Text, tabular.Look{}, "00123 00124"},
		{"a text of 17 digits", []string{textCell("12345678901234567")}, nil, tabular.Text, tabular.Look{}, "12345678901234567"},
		{"numbers and a text", []string{styled(0, "1"), textCell("2"), styled(0, "3")}, nil, tabular.Text, tabular.Look{}, "1 2 3"},
		{"a text and numbers", []string{textCell("1"), styled(0, "2")}, nil, tabular.Text, tabular.Look{}, "1 2"},
		{"numbers and an error", []string{styled(0, "1"), `<c t="e"><v>#N/A</v></c>`}, nil, tabular.Text, tabular.Look{}, "1 #N/A"},
		{
			"numbers with leading zeros",
			[]string{styled(1, "123"), styled(1, "12345")},
			[]string{"00000"},
			tabular.Padded,
			tabular.Look{Code: "00000"},
			"00123 12345",
		},
		{
			"numbers with more and fewer leading zeros",
			[]string{styled(1, "123"), styled(2, "7")},
			[]string{"00000", "000"},
			tabular.Text,
			tabular.Look{},
			"00123 007",
		},
		{"numbers with and without leading zeros", []string{styled(1, "123"), styled(0, "7")}, []string{"00000"}, tabular.Text, tabular.Look{}, "00123 7"},
		{"German dates", []string{styled(1, "46081")}, []string{german}, tabular.Date, tabular.Look{Code: german}, "2026-02-28"},
		{"American dates", []string{styled(1, "46081")}, []string{american}, tabular.Date, tabular.Look{Code: american}, "2026-02-28"},
		{"British dates", []string{styled(1, "46081")}, []string{british}, tabular.Date, tabular.Look{Code: british}, "2026-02-28"},
		{"French dates", []string{styled(1, "46081")}, []string{french}, tabular.Date, tabular.Look{Code: french}, "2026-02-28"},
		{"Japanese dates", []string{styled(1, "46081")}, []string{japanese}, tabular.Date, tabular.Look{Code: japanese}, "2026-02-28"},
		{
			"dates with several formats",
			[]string{styled(1, "46081"), styled(2, "46081.5")},
			[]string{german, "yyyy-mm-dd hh:mm"},
			tabular.Date,
			tabular.Look{},
			"2026-02-28 2026-02-28T12:00:00",
		},
		{"dates and numbers", []string{styled(1, "46081"), styled(0, "46081")}, []string{german}, tabular.Text, tabular.Look{}, "2026-02-28 46081"},
		{"dates as texts", []string{textCell("28.02.2026"), textCell("2026-02-28")}, nil, tabular.Text, tabular.Look{}, "28.02.2026 2026-02-28"},
		{"dates in ISO 8601", []string{`<c t="d"><v>2026-02-28</v></c>`, `<c t="d"><v>2026-02-28T13:05:59.125</v></c>`}, nil, tabular.Date, tabular.Look{}, "2026-02-28 2026-02-28T13:05:59.125"},
		{"dates with a zone", []string{`<c t="d"><v>2026-02-28T13:05:59Z</v></c>`}, nil, tabular.Text, tabular.Look{}, "2026-02-28T13:05:59Z"},
		{"durations", []string{styled(1, "1.5")}, []string{"[h]:mm:ss"}, tabular.Clock, tabular.Look{Code: "[h]:mm:ss"}, "36:00:00"},
		{"booleans", []string{`<c t="b"><v>1</v></c>`, `<c t="b"><v>false</v></c>`}, nil, tabular.Boolean, tabular.Look{}, "TRUE FALSE"},
		{"booleans and a text", []string{`<c t="b"><v>1</v></c>`, textCell("FALSE")}, nil, tabular.Text, tabular.Look{}, "TRUE FALSE"},
		{"a format that is longer than Excel's", []string{styled(1, "1")}, []string{"0" + strings.Repeat("#", 255)}, tabular.Number, tabular.Look{}, "1"},
		{"nothing", []string{textCell("")}, nil, tabular.Text, tabular.Look{}, ""},
	} {
		// A second column keeps rows whose first cell is empty.
		for i := range c.cells {
			c.cells[i] = strings.Replace(c.cells[i], "<c", `<c r="A`+fmt.Sprint(i+2)+`"`, 1)
		}
		r, err := readAll(t, prism.FileXLSX, sheetOf(t, c.cells, c.formats...))
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: %+v", c.name, r.layout)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, row := range r.rows {
			got = append(got, row.Cells[0])
		}
		column := r.layout.Columns[0]
		if strings.Join(got, " ") != c.want || column.Kind != c.kind || column.Look != c.look {
			t.Errorf("%s: %q, %q, %+v", c.name, got, column.Kind, column.Look)
		}
	}
}

// spec: run-rows-xlsx
func TestAColumnOfJSONLHasTheTypeOfItsValuesIfAWorkbookHoldsAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values string
		want   tabular.Kind
	}{
		{`1 -2.50 1e3 0 null 0.1`, tabular.Number},
		{`123456789012345 100000000000000000000`, tabular.Number},
		{`0.30000000000000004 5e-324`, tabular.Number},
		{`12345678901234567`, tabular.Text},
		{`1 0.1000000000000000055`, tabular.Text},
		{`1e400`, tabular.Text},
		{`1e-400`, tabular.Text},
		{`1 "2"`, tabular.Text},
		{`"1" 2`, tabular.Text},
		{`true false null`, tabular.Boolean},
		{`true 1`, tabular.Text},
		{`{"a":1} [1]`, tabular.Text},
		{`"2026-02-28"`, tabular.Text},
	} {
		var lines strings.Builder
		for value := range strings.FieldsSeq(c.values) {
			fmt.Fprintf(&lines, `{"a":%s}`+"\n", value)
		}
		r, err := readAll(t, prism.FileJSONL, []byte(lines.String()))
		if err != nil || r.layout.Columns[0].Kind != c.want {
			t.Errorf("%s: %+v: %v", c.values, r.layout.Columns, err)
		}
	}
}

// spec: run-rows-xlsx
func TestAColumnOfParquetHasTheTypeOfItsSchemaIfAWorkbookHoldsAllValues(t *testing.T) {
	t.Parallel()
	r, err := readAll(t, prism.FileParquet, golden(t, "pyarrow-types.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]tabular.Kind{ // "big" has 20 digits, "float" is not a number, and "utc" has a zone
		"int": tabular.Number, "double": tabular.Number, "decimal": tabular.Number, "bool": tabular.Boolean,
		"date": tabular.Date, "local": tabular.Date, "time": tabular.Clock,
	}
	for _, c := range r.layout.Columns {
		if c.Kind != want[c.Name] {
			t.Errorf("%s: %q", c.Name, c.Kind)
		}
	}
}
