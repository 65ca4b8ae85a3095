package tabular_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// workbookOf is a workbook whose sheet has the XML rows, and whose styles from 1 on have the number formats.
func workbookOf(t testing.TB, rows string, formats ...string) []byte {
	t.Helper()
	return workbookWith(t, rows, "", 0, formats...)
}

// workbookWith is workbookOf with the XML of shared texts, to which the workbook has so many relations.
func workbookWith(t testing.TB, rows, texts string, relations int, formats ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var described, styles strings.Builder
	for i, f := range formats {
		fmt.Fprintf(&described, `<numFmt numFmtId="%d" formatCode="%s"/>`, 200+i, strings.ReplaceAll(f, `"`, "&quot;"))
		fmt.Fprintf(&styles, `<xf numFmtId="%d"/>`, 200+i)
	}
	const related = `<Relationships><Relationship Id="a" Type="x/%s" Target="%s"/>` +
		`<Relationship Id="b" Type="x/styles" Target="/xl/styles.xml"/>%s</Relationships>`
	var toTexts strings.Builder
	for i := range relations {
		fmt.Fprintf(&toTexts, `<Relationship Id="t%d" Type="x/sharedStrings" Target="texts.xml"/>`, i)
	}
	sheetStyles := "<styleSheet><numFmts>" + described.String() + `</numFmts><cellXfs><xf numFmtId="0"/>` + styles.String() +
		"</cellXfs></styleSheet>"
	for _, part := range []struct{ name, text string }{
		{"_rels/.rels", fmt.Sprintf(related, "officeDocument", "xl/workbook.xml", "")},
		{"xl/workbook.xml", `<workbook><sheets><sheet name="s" id="a"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", fmt.Sprintf(related, "worksheet", "s.xml", toTexts.String())},
		{"xl/styles.xml", sheetStyles},
		{"xl/texts.xml", "<sst>" + texts + "</sst>"},
		{"xl/s.xml", "<worksheet><sheetData>" + rows + "</sheetData></worksheet>"},
	} {
		w, err := z.Create(part.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(part.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// partsOfWorkbook are the parts of a workbook by their names. Its sheet has the relation a.
func partsOfWorkbook(book, sheet, texts, styles string) map[string]string {
	relations := func(kinds ...string) string {
		all := "<Relationships>"
		for i, kind := range kinds {
			all += fmt.Sprintf(`<Relationship Id="%c" Type="x/%s" Target="%[2]s.xml"/>`, 'a'+i, kind)
		}
		return all + "</Relationships>"
	}
	return map[string]string{
		"_rels/.rels": relations("officeDocument"), "officeDocument.xml": book,
		"_rels/officeDocument.xml.rels": relations("worksheet", "styles", "sharedStrings"),
		"worksheet.xml":                 sheet, "styles.xml": styles, "sharedStrings.xml": texts,
	}
}

const headerOfOne = `<row><c t="inlineStr"><is><t>a</t></is></c></row>`

// spec: file-xlsx
func TestNumbersOfSheetsReadAsTheirFormatMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, value, want string }{
		{"General", "0.30000000000000004", "0.3"},
		{"General", "1234567890123456", "1234567890123460"},
		{"General", "1.0E-3", "0.001"},
		{"General", "-0.00000000001", "-1E-11"},
		{"General", "damaged", "damaged"},
		{"0.00%", "0.256", "0.256"},
		{`#,##0.00 "€"`, "1234.5", "1234.5"},
		{`"days" 0`, "3", "3"},
		{`[Red]\d0`, "3", "3"},
		{"00000", "123", "00123"},
		{"00000", "123456", "123456"},
		{"00000", "1.5", "1.5"},
		{"00000", "-1", "-1"},
		{"yyyy-mm-dd", "1", "1900-01-01"},
		{"yyyy-mm-dd", "59", "1900-02-28"},
		{"yyyy-mm-dd", "61", "1900-03-01"},
		{"mmm", "46081.75", "2026-02-28"},
		{"[$-409]d/m/yy h:mm AM/PM;@", "46081.545833333", "2026-02-28T13:06:00"},
		{"h:mm AM/PM", "0.75", "18:00:00"},
		{"mm:ss", "0.001", "00:01:26"},
		{"[h]:mm", "1.5", "36:00:00"},
		{"yyyy", "-1", "-1"},
		{"yyyy", "2958466", "2958466"},
	} {
		data := workbookOf(t, headerOfOne+`<row><c s="1"><v>`+c.value+`</v></c></row>`, c.format)
		r, err := readAll(t, prism.FileXLSX, data)
		if err != nil || r.rows[0].Cells[0] != c.want {
			t.Errorf("%s as %s: %v, %v; want %s", c.value, c.format, r.rows, err, c.want)
		}
	}
}

// spec: file-xlsx
func TestCellsOfSheetsAreWhereTheySay(t *testing.T) {
	t.Parallel()
	text := func(at, text string) string {
		return `<c ` + at + ` t="inlineStr"><is><r><t>` + text + `</t></r><rPh><t>hint</t></rPh></is></c>`
	}
	rows := `<row r="3">` + text("", "a") + text(`r="C3"`, "c") + text(`r="b3"`, "b") + `</row>` +
		`<row r="5"><c r="B5"><v>1</v></c><c><v>2</v></c></row><row/><row>` + text("", "_xD83D__x0041_") + `</row>`
	r, err := readAll(t, prism.FileXLSX, workbookOf(t, rows))
	if err != nil || r.String() != "note: 1 empty row was skipped.\n"+`["a","b","c"]`+"\n"+`["","1","2"]`+"\n"+`["_xD83D_A","",""]`+"\n" {
		t.Errorf("%s %v", r, err)
	}
	if len(r.chunks) != 1 || r.chunks[0].Line != 5 {
		t.Errorf("chunks %v", r.chunks)
	}
}

// A workbook of some KiB cannot take the memory or the time of one of GiB.
//
// spec: file-xlsx, file-limits
func TestHostileWorkbooksAreRefused(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 3<<20)
	const damaged = "The workbook is damaged, or larger than it may be."
	for name, c := range map[string]struct{ rows, want string }{
		"a large text":      {headerOfOne + `<row><c t="inlineStr"><is><t>` + large + `</t></is></c></row>`, damaged},
		"a large attribute": {headerOfOne + `<row r="` + large + `"/>`, damaged},
		"many cells": {
			headerOfOne + `<row>` + strings.Repeat(`<c t="str"><v>`+large[:1000]+`</v></c>`, 1100) + `</row>`,
			"Row 2: a row may have 1 MiB.",
		},
		"a cell far away":   {headerOfOne + `<row><c r="XFE2"><v>1</v></c></row>`, damaged},
		"an unknown string": {headerOfOne + `<row><c t="s"><v>7</v></c></row>`, damaged},
		"no end of a row":   {headerOfOne + `<row><c><v>1</v></c>`, damaged},
		"nothing":           {"", "The file has no rows."},
		"a header":          {headerOfOne, "The file has no rows."},
	} {
		_, err := readAll(t, prism.FileXLSX, workbookOf(t, c.rows))
		var unusable *tabular.UnusableError
		if !errors.As(err, &unusable) || unusable.Text != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Shared strings that do not fit into memory are read from a temporary file, which is gone afterwards.
//
// spec: file-xlsx
func TestManySharedStringsAreRead(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	var want []string
	s := tabular.NewStrings()
	for i := range 20_000 {
		want = append(want, fmt.Sprintf("%06d%s", i, strings.Repeat("x", 1000)))
		if err := s.Add(want[i]); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for i := range want {
		text, err := s.At(int64(i))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if s.InMemory() || !slices.Equal(got, want) {
		t.Errorf("in memory: %v", s.InMemory())
	}
	for _, i := range []int64{-1, 20_000, 1<<61 + 1} { // the last one as an offset is 1 << 64
		if text, err := s.At(i); err == nil {
			t.Errorf("string %d is %q", i, text)
		}
	}
	if left, err := filepath.Glob(folder + "/*"); err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}
