package tabular_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// rowOf is a row of a sheet with a number in its first cell. attributes are its own.
func rowOf(attributes string, value any) string {
	return fmt.Sprintf(`<row %s><c><v>%v</v></c></row>`, attributes, value)
}

// spec: file-xlsx
func TestRowsOfSheetsComeInTheOrderOfTheirNumbers(t *testing.T) {
	t.Parallel()
	header := `<row r="2"><c t="inlineStr"><is><t>a</t></is></c></row>`
	for _, c := range []struct{ name, rows, want string }{
		{"in order", header + rowOf(`r="3"`, 3) + rowOf(`r="7"`, 7), "3 7"},
		{"out of order", rowOf(`r="7"`, 7) + rowOf(`r="4"`, 4) + header + rowOf(`r="3"`, 3), "3 4 7"},
		{"the last of two", header + rowOf(`r="3"`, "old") + rowOf(`r="4"`, 4) + rowOf(`r="3"`, "new"), "new 4"},
		{"two that follow each other", header + rowOf(`r="3"`, "old") + rowOf(`r="3"`, "new"), "new"},
		{"the last of two without text", header + rowOf(`r="3"`, 3) + rowOf(`r="4"`, 4) + `<row r="3"/>`, "4"},
		{"the last of three headers", `<row r="1"><c><v>1</v></c></row>` + header + `<row r="1"/>` + rowOf(`r="3"`, 3), "3"},
		{"one without a number follows the row before", header + rowOf(`r="7"`, 7) + rowOf("", 8) + rowOf(`r="3"`, 3), "3 7 8"},
		{
			"numbers in other forms of XML",
			header + rowOf("spans='1:1' r = '7'", 7) + "<x:row\n\tr='4' ><c><v>4</v></c></x:row>" + rowOf(`ht="3" r="5"`, 5), "4 5 7",
		},
		{"a number that is none", header + rowOf(`r="9"`, 9) + rowOf(`r="x"`, 10) + rowOf(`r="-1"`, 11), "9 10 11"},
		{"what only looks like a row", header + rowOf(`r="9"`, 9) + `<rowBreaks r="1"/><!-- <row r="1"/> -->` + rowOf("", 10), "9 10"},
		{"the last of two cells", header + `<row><c r="A3"><v>1</v></c><c r="A3"><v>2</v></c></row>`, "2"},
		{"the last of two cells without text", header + `<row><c r="A3"><v>1</v></c><c r="A3"/></row>` + rowOf("", 4), "4"},
	} {
		r, err := readAll(t, prism.FileXLSX, workbookOf(t, c.rows))
		var got []string
		for _, row := range r.rows {
			got = append(got, row.Cells[0])
		}
		if joined := strings.Join(got, " "); err != nil || joined != c.want {
			t.Errorf("%s: %s, want %s: %v", c.name, joined, c.want, err)
		}
	}
}

// spec: file-xlsx
func TestAMillionRowsOfASheetCanBeSorted(t *testing.T) {
	t.Parallel()
	for more, want := range map[int]string{
		0: "The file has no rows.",
		1: "The rows of the workbook are not in order, and of those a file may have 1048576.",
	} {
		_, err := readAll(t, prism.FileXLSX, workbookOf(t, headerOfOne+strings.Repeat(`<row r="1"/>`, 1<<20-1+more)))
		if err == nil || err.Error() != want {
			t.Errorf("%d more: %v, want %s", more, err, want)
		}
	}
}

// spec: file-xlsx
func TestARowWhoseDisorderIsFoundTooLateIsNoRow(t *testing.T) {
	t.Parallel()
	_, err := readAll(t, prism.FileXLSX, workbookOf(t, headerOfOne+rowOf(`r="7"`, 7)+rowOf(`x=">" r="3"`, 3)))
	if err == nil || err.Error() != "The workbook is damaged, or larger than it may be." {
		t.Errorf("%v", err)
	}
}

// spec: file-xlsx
func TestBooleansOfSheetsHaveFourForms(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"1": "TRUE", "true": "TRUE", "0": "FALSE", "false": "FALSE", "maybe": "maybe"} {
		data := workbookOf(t, headerOfOne+`<row><c t="b"><v>`+value+`</v></c></row>`)
		if r, err := readAll(t, prism.FileXLSX, data); err != nil || r.rows[0].Cells[0] != want {
			t.Errorf("%s: %v, %v; want %s", value, r.rows, err, want)
		}
	}
}
