package tabular_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

func gzipped(t testing.TB, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(data))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, data string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(data), nil)
}

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		part, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(part, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// spec: file-compressed, file-encoding
func TestCompressedFilesAreReadAsWhatIsInThem(t *testing.T) {
	t.Parallel()
	const csv = "id,text\n1,café\n2\n"
	const want = "[\"id\",\"text\"]\n[\"1\",\"café\"]\nLine 3: 1 cell, but the header has 2. [\"2\",\"\"]\n"
	book := string(golden(t, "pandas-openpyxl.xlsx"))
	table := string(golden(t, "pandas-pyarrow.parquet"))
	for _, c := range []struct {
		name   string
		format prism.FileFormat
		data   []byte
		want   string
	}{
		{"gzip", "csv", gzipped(t, csv), want},
		{"two files of gzip, one behind the other", "csv", append(gzipped(t, csv[:10]), gzipped(t, csv[10:])...), want},
		{"Zstandard", "csv", zstandard(t, csv), want},
		{"ZIP as a Macintosh makes it", "csv", zipped(t, map[string]string{"a.csv": csv, "__MACOSX/._a.csv": "x"}), want},
		{"gzip of Windows-1252", "csv", gzipped(t, strings.ReplaceAll(csv, "é", "\xe9")), want},
		{"gzip of lines", "jsonl", gzipped(t, "{\"id\":1,\"text\":\"café\"}\n"), "[\"id\",\"text\"]\n[\"1\",\"café\"]\n"},
		{"gzip of a workbook", "xlsx", gzipped(t, book), "[\"id\",\"text\",\"tag\"]\n"},
		{"ZIP of a workbook", "xlsx", zipped(t, map[string]string{"a.xlsx": book}), "[\"id\",\"text\",\"tag\"]\n"},
		{"Zstandard of Parquet", "parquet", zstandard(t, table), "[\"id\",\"text\",\"tag\"]\n"},
	} {
		r, err := readAll(t, c.format, c.data)
		if err != nil || !strings.Contains(r.String(), c.want) || !strings.Contains(r.String(), "note: The file was expanded from ") {
			t.Errorf("%s: %v, %v", c.name, r, err)
		}
	}
}

// spec: file-compressed, file-growth, file-limits
func TestCompressedFilesThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 80<<20)
	misplaced := zipped(t, map[string]string{"a.csv": "a\n1\n"})
	misplaced[len(misplaced)-6] += 16 // its file would begin in front of it
	for _, c := range []struct {
		name   string
		format prism.FileFormat
		data   []byte
		want   string
	}{
		{"a gzip file that is cut off", "csv", gzipped(t, "a\n1\n")[:20], "The gzip file is damaged."},
		{"a ZIP file of two files", "csv", zipped(t, map[string]string{"a.csv": "a\n1\n", "b.csv": "b\n1\n"}), "The ZIP file has several files. Upload each by itself."},
		{"a ZIP file with a wrong offset", "csv", misplaced, "The ZIP file is damaged."},
		{"a ZIP file with a wrong offset, of lines", "jsonl", misplaced, "The ZIP file is damaged."},
		{"a ZIP file with a wrong offset, of Parquet", "parquet", misplaced, "The ZIP file is damaged."},
		{"a ZIP file of nothing", "csv", zipped(t, map[string]string{"a/": ""}), "The ZIP file has no file."},
		{"a ZIP file of bzip2", "csv", bytes.ReplaceAll(zipped(t, map[string]string{"a.csv": "a\n1\n"}), []byte("\b\x00\x08\x00"), []byte("\b\x00\x0c\x00")), "The ZIP file is compressed in a way"},
		{"a small file of one endless line", "csv", gzipped(t, zeros), "Line 1: a row may have 1 MiB."},
		{"a small file of endless empty lines", "csv", gzipped(t, "a\n"+strings.Repeat("\n", 80<<20)), "The expanded bytes have more than"},
		{"a small file that becomes a large Parquet file", "parquet", zipped(t, map[string]string{"a": zeros}), "The expanded bytes have more than"},
		{"a small file that becomes a large workbook", "xlsx", zstandard(t, zeros), "The expanded bytes have more than"},
		{"an OpenDocument spreadsheet", "xlsx", zipped(t, map[string]string{"mimetype": "x", "content.xml": "<x/>"}), "An OpenDocument spreadsheet (.ods). Save it as .xlsx or as .csv."},
	} {
		_, err := readAll(t, c.format, c.data)
		var unusable *tabular.UnusableError
		if !errors.As(err, &unusable) || !strings.HasPrefix(unusable.Text, c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
