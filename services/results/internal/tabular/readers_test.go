//go:build sdk

package tabular_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// Python's csv, pandas and openpyxl read the cells that Prism writes of a workbook of openpyxl. LibreOffice opens and saves the workbook
// and opens the csv in five locales, and the cells are the same once more.
//
// spec: run-rows-xlsx, rows-for-people
func TestIndependentReadersReadTheCellsOfADownload(t *testing.T) {
	t.Parallel()
	python := os.Getenv("PRISM_READERS")
	if python == "" {
		t.Fatal("PRISM_READERS names no Python: use make compat")
	}
	folder := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	run(python, "testdata/readers/readers.py", "make", folder)
	source := in(t, folder, "source.xlsx")
	var cells [][]string
	for _, row := range source.rows {
		cells = append(cells, row.Cells)
	}
	text, err := strictjson.Marshal(cells)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "cells.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, style := range map[string]api.TextStyle{
		"out.xlsx": {}, "out.csv": {}, "people.csv": {BOM: true, Delimiter: ";", Safe: true}, "people.tsv": {BOM: true, Delimiter: "\t", Safe: true},
	} {
		download(t, source, filepath.Join(folder, name), style)
	}
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Fatalf("make compat needs LibreOffice, as of Debian's package libreoffice-calc-nogui: %v", err)
	}
	people := in(t, folder, "people.csv")
	for _, locale := range []string{"en-US", "de-DE", "fr-FR", "ja-JP", "ru-RU"} {
		to, profile := filepath.Join(folder, "office", locale), filepath.Join(folder, "profile", locale)
		run(python, "testdata/readers/readers.py", "locale", profile, locale)
		convert := func(name string, options ...string) read {
			t.Helper()
			args := append(options, "--convert-to", "xlsx", "--outdir", to, filepath.Join(folder, name))
			run(office, append([]string{"-env:UserInstallation=file://" + profile, "--headless"}, args...)...)
			return in(t, to, name[:len(name)-len(filepath.Ext(name))]+".xlsx")
		}
		for i, row := range convert("out.xlsx").rows {
			if !slices.Equal(row.Cells[:len(cells[i])], cells[i]) {
				t.Errorf("LibreOffice, %s, has %q of %q", locale, row.Cells, cells[i])
			}
		}
		// The delimiter, the quote, UTF-8, the first row, the columns that are texts, English, and to look for numbers, dates and booleans.
		csv := convert("people.csv", "--infilter=CSV:59,34,76,1,1/2/2/2/5/2/9/2,1033,false,true")
		for i, row := range csv.rows {
			if got := row.Cells[:len(cells[i])]; !slices.EqualFunc(got, people.rows[i].Cells[:len(got)], sameCell) {
				t.Errorf("LibreOffice, %s, has %q of %q", locale, got, people.rows[i].Cells)
			}
		}
		for i, want := range []tabular.Kind{2: tabular.Number, 3: tabular.Number, 5: tabular.Date, 6: tabular.Date, 7: tabular.Boolean} {
			if want != "" && csv.layout.Columns[i].Kind != want {
				t.Errorf("LibreOffice, %s, has a column %q of %q", locale, csv.layout.Columns[i].Kind, want)
			}
		}
	}
	run(python, "testdata/readers/readers.py", "check", folder)
}

// sameCell reports whether a cell is another one, or the same number.
func sameCell(got, want string) bool {
	a, err := strconv.ParseFloat(got, 64)
	b, wrong := strconv.ParseFloat(want, 64)
	return got == want || err == nil && wrong == nil && a == b
}

// in reads a file of a folder, by its extension.
func in(t *testing.T, folder, name string) read {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := readAll(t, prism.FileFormat(filepath.Ext(name)[1:]), data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// download writes the rows of a file with answers, in the format of the extension.
func download(t *testing.T, source read, name string, style api.TextStyle) {
	t.Helper()
	to, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	added := []tabular.Column{{Name: "answer"}, {Name: "probability", Look: tabular.LookPercent}, {Name: "prism_row"}}
	w, err := tabular.NewWriter(prism.RowsFormat(filepath.Ext(name)[1:]), style, to, source.layout.Columns, added)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range source.rows {
		answers := []prism.Cell{
			{Kind: prism.TextCell, Label: "Yes"}, {Kind: prism.NumberCell, Number: 0.8125}, {Kind: prism.NumberCell, Number: float64(i + 1)},
		}
		if err := w.Row(row, answers); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}
