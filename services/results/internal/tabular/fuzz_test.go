package tabular_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// FuzzRead: Read never panics, and the rows of all chunks are those of one read (readAll checks it).
//
// spec: file-chunks, file-unusable
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, folder := range []string{"parquet", "parquet/apache", "parquet/apache/refused"} {
		files = append(files, parquetFiles(f, "testdata/"+folder)...)
	}
	formats := prism.FileFormats()
	for _, file := range files {
		if i := slices.Index(formats, prism.FileFormat(strings.TrimPrefix(filepath.Ext(file), "."))); i >= 0 {
			f.Add(uint8(i), golden(f, strings.TrimPrefix(file, "testdata/")))
		}
	}
	for _, data := range hostileParquet(f) {
		if len(data) < 1<<10 {
			f.Add(uint8(slices.Index(formats, prism.FileParquet)), data)
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		r, err := readAll(t, formats[int(format)%len(formats)], data)
		var unusable *tabular.UnusableError
		if err != nil && (!errors.As(err, &unusable) || unusable.Text == "") {
			t.Fatalf("%v is no problem of the file", err)
		}
		if formats[int(format)%len(formats)] == prism.FileParquet {
			again, other := readAllBy(t, tabular.ReadInFile, prism.FileParquet, tabular.Options{}, data)
			if again.String() != r.String() || fmt.Sprint(other) != fmt.Sprint(err) {
				t.Fatalf("in the file: %v, in memory: %v", other, err)
			}
		}
		for _, row := range r.rows {
			if len(row.Cells) != len(r.layout.Columns) {
				t.Fatalf("%d cells of %d", len(row.Cells), len(r.layout.Columns))
			}
		}
	})
}

// FuzzCSV compares with encoding/csv, which differs in what it does with CR and quotes in cells without quotes.
//
// spec: file-csv, file-columns
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a\n\"1\n\"\"2\"\n\n3", "a,b\n\"\",\n", "a;b\n1;\"2;3\"\n", "a\n\"1\"x\n", "\"a\"\n\"", "a,b\n1\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\r\x00") || strings.HasPrefix(text, "sep=") {
			t.Skip()
		}
		r, err := readAll(t, prism.FileCSV, []byte(text))
		if err != nil || r.layout.BadRows > 0 || r.layout.Copied || len(r.layout.Dropped) > 0 {
			return
		}
		oracle := csv.NewReader(bytes.NewReader(bytes.TrimPrefix([]byte(text), []byte("\ufeff"))))
		oracle.Comma, oracle.LazyQuotes, oracle.FieldsPerRecord = rune(r.layout.Delimiter[0]), true, -1
		records, err := oracle.ReadAll()
		records = slices.DeleteFunc(records, func(cells []string) bool { return strings.Join(cells, "") == "" })
		if err != nil || len(records) != len(r.rows)+1 {
			t.Fatalf("%d rows, want those of %q: %v", len(r.rows), records, err)
		}
		for i, row := range r.rows {
			if !slices.Equal(row.Cells, records[i+1][:min(len(row.Cells), len(records[i+1]))]) {
				t.Fatalf("got %q, want %q", row.Cells, records[i+1])
			}
		}
	})
}
