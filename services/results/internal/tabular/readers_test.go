//go:build sdk

package tabular_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// Python's csv, pandas and openpyxl read the cells that Prism writes of a workbook of openpyxl. Where LibreOffice is installed, it opens
// and saves the workbook and opens the csv, and the cells are the same once more.
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
	if err == nil {
		to, profile := filepath.Join(folder, "office"), "-env:UserInstallation=file://"+filepath.Join(folder, "profile")
		run(office, profile, "--headless", "--convert-to", "xlsx", "--outdir", to, filepath.Join(folder, "out.xlsx"))
		// The options of the second run: the delimiter, the quote, UTF-8, and nothing but texts in quotes is a text.
		run(office, profile, "--headless", "--infilter=CSV:59,34,76,1,1/2/2/2", "--convert-to", "xlsx", "--outdir", to, filepath.Join(folder, "people.csv"))
		for i, row := range in(t, to, "out.xlsx").rows {
			if !slices.Equal(row.Cells[:len(cells[i])], cells[i]) {
				t.Errorf("LibreOffice has %q of %q", row.Cells, cells[i])
			}
		}
		people := in(t, folder, "people.csv")
		for i, row := range in(t, to, "people.xlsx").rows {
			if !slices.Equal(row.Cells[:2], people.rows[i].Cells[:2]) {
				t.Errorf("LibreOffice has %q of %q", row.Cells, people.rows[i].Cells)
			}
		}
	}
	run(python, "testdata/readers/readers.py", "check", folder)
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
