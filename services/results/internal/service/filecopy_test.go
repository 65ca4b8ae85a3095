package service_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// sheet is a workbook of one sheet with a row for each of rows, whose cells are texts.
func sheet(t *testing.T, rows ...[]string) []byte {
	t.Helper()
	var table, b bytes.Buffer
	for _, row := range rows {
		table.WriteString("<row>")
		for _, cell := range row {
			fmt.Fprintf(&table, `<c t="inlineStr"><is><t>%s</t></is></c>`, cell)
		}
		table.WriteString("</row>")
	}
	const (
		office  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		rels    = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="`
		main    = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
		content = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	)
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="` + content + `sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + content + `worksheet+xml"/></Types>`},
		{"_rels/.rels", rels + office + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook` + main + ` xmlns:r="` + office + `"><sheets><sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", rels + office + `/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", `<worksheet` + main + `><sheetData>` + table.String() + `</sheetData></worksheet>`},
	} {
		w, err := z.Create(part[0])
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// spec: file-preview, file-reading
func TestTheRowsOfAWorkbookAreReadFromItsCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows := [][]string{{"id", "text"}}
	for i := range 450 {
		rows = append(rows, []string{fmt.Sprint(i + 1), strings.Repeat("ä,", 3000)})
	}
	content := sheet(t, rows...)
	f := w.fileOf(t)(w.CreateFile(t.Context(), w.key, api.NewFile{
		Name: "n", Format: prism.FileXLSX, Bytes: int64(len(content)),
	}))
	for n := range f.Parts {
		w.put(t, part(f.ID, content, n+1))
	}
	if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
		t.Fatal(err)
	}
	w.read(t)
	stored, err := w.store.File(t.Context(), w.account, f.ID)
	if err != nil || stored.Status != prism.FileReady || stored.Rows != 450 || stored.Copy.Bytes < 2*contract.PartBytes {
		t.Fatalf("%+v, %v", stored, err)
	}
	for _, offset := range []int64{0, 120, 299, 448} {
		r, err := w.FileRows(t.Context(), w.key, f.ID, offset, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`{"data":[{"id":"%d","text":"%s"}]}`, offset+1, rows[1][1]); string(r.Body) != want {
			t.Errorf("row %d is %.60s", offset+1, r.Body)
		}
	}
}
