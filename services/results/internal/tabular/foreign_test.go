//go:build sdk

package tabular_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// foreignFile is a file of another program as Prism has it.
type foreignFile struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Bad     string     `json:"bad"` // why a row is invalid
	Error   string     `json:"error"`
	Sure    bool       `json:"sure"` // the encoding is no guess
}

// Of files that programs of others write, readers of others read the cells that Prism reads, or Prism says why it reads none.
//
// spec: file-csv, file-delimiter, file-encoding, file-compressed, file-jsonl, file-xlsx, file-parquet, file-unusable
func TestForeignFilesAreReadAsIndependentReadersReadThem(t *testing.T) {
	t.Parallel()
	python := os.Getenv("PRISM_READERS")
	if python == "" {
		t.Fatal("PRISM_READERS names no Python: use make compat")
	}
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Fatalf("make compat installs LibreOffice: %v", err)
	}
	folder := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("-B", "-W", "ignore", "testdata/readers/foreign.py", folder, office)
	var files []struct {
		Name   string           `json:"name"`
		Format prism.FileFormat `json:"format"`
		Named  string           `json:"named"` // the encoding, where the guess is wrong
	}
	list, err := os.ReadFile(filepath.Join(folder, "list.json"))
	if err == nil {
		err = strictjson.Unmarshal(list, &files)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]foreignFile{}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(folder, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		got := readForeign(t, f.Format, tabular.Options{}, data)
		if f.Named != "" {
			if got.Sure || got.Error != "" {
				t.Errorf("%s is read as if its encoding were known: %s", f.Name, got.Error)
			}
			got = readForeign(t, f.Format, tabular.Options{Encoding: f.Named}, data)
		}
		found[f.Name] = got
	}
	text, err := strictjson.Marshal(found)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "prism.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	check := []string{"-B", "-W", "ignore", "testdata/readers/foreigncheck.py", folder}
	if page := os.Getenv("PRISM_READERS_PAGE"); page != "" {
		check = append(check, page)
	}
	t.Log(run(check...))
}

func readForeign(t *testing.T, format prism.FileFormat, options tabular.Options, data []byte) (f foreignFile) {
	t.Helper()
	r, err := readAllBy(t, tabular.Read, format, options, data)
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.Sure = r.layout.Encoding == "" || r.layout.EncodingSure
	for _, c := range r.layout.Columns {
		f.Columns = append(f.Columns, c.Name)
	}
	for _, row := range r.rows {
		f.Rows = append(f.Rows, row.Cells)
		if row.Invalid != "" {
			f.Bad = row.Invalid
		}
	}
	return f
}
