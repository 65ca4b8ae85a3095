package tabular_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// read is a file that was read, and its rows parsed chunk by chunk.
type read struct {
	layout tabular.Layout
	chunks []store.FileChunk
	rows   []tabular.Row
}

// readAll reads a file, and checks what holds for each: chunks follow one another and cover all rows.
func readAll(t testing.TB, format prism.FileFormat, data []byte) (read, error) {
	t.Helper()
	return readAllBy(t, tabular.Read, format, tabular.Options{}, data)
}

// reader is tabular.Read or a variant.
type reader func(
	context.Context, prism.FileFormat, tabular.Options, *io.SectionReader, io.Writer, func(store.FileChunk) error,
) (tabular.Layout, int64, error)

func readAllBy(t testing.TB, by reader, format prism.FileFormat, options tabular.Options, data []byte) (read, error) {
	t.Helper()
	var r read
	var copied bytes.Buffer
	layout, rows, err := by(t.Context(), format, options, section(data), &copied, func(c store.FileChunk) error {
		if c.Number == 0 {
			r.chunks = nil
		}
		r.chunks = append(r.chunks, c)
		return nil
	})
	if err != nil {
		return read{layout: layout}, err
	}
	r.layout = layout
	from := data
	if layout.Copied {
		from = copied.Bytes()
	}
	next, end := int64(1), int64(0)
	for i, c := range r.chunks {
		if int(c.Number) != i || c.FirstRow != next || c.Rows < 1 || c.Rows > contract.ChunkRows || c.Offset < end ||
			c.Bytes > contract.ChunkBytes && c.Rows > 1 {
			t.Fatalf("chunk %d, behind row %d and byte %d: %+v", i, next, end, c)
		}
		next, end = c.FirstRow+int64(c.Rows), c.Offset+c.Bytes
		parsed, err := layout.Rows(format, c, from[c.Offset:end])
		if err != nil {
			t.Fatalf("%v: %q", err, from[c.Offset:end])
		}
		r.rows = append(r.rows, parsed...)
	}
	if int64(len(r.rows)) != rows {
		t.Fatalf("%d rows of %d", len(r.rows), rows)
	}
	r.checkColumns(t)
	return r, nil
}

// checkColumns compares filled and longest with the rows.
func (r read) checkColumns(t testing.TB) {
	t.Helper()
	for i, c := range r.layout.Columns {
		var filled, longest int64
		for _, row := range r.rows {
			if row.Cells[i] != "" && row.Invalid == "" {
				filled++
				longest = max(longest, int64(len([]rune(row.Cells[i]))))
			}
		}
		if c.Filled != filled || c.Longest != longest {
			t.Errorf("column %q: %d filled, longest %d; want %d, %d", c.Name, c.Filled, c.Longest, filled, longest)
		}
	}
}

func section(data []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
}

// String is the columns and rows as arrays, a row on a line. Absent cells of jsonl are null.
func (r read) String() string {
	var b strings.Builder
	if r.layout.Delimiter != "" {
		fmt.Fprintf(&b, "delimiter %q\n", r.layout.Delimiter)
	}
	for _, note := range r.layout.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	line := func(cells int, cell func(i int) any) {
		values := make([]any, cells)
		for i := range values {
			values[i] = cell(i)
		}
		text, err := strictjson.Marshal(values)
		b.Write(text)
		if b.WriteByte('\n'); err != nil {
			fmt.Fprintln(&b, err)
		}
	}
	line(len(r.layout.Columns), func(i int) any { return r.layout.Columns[i].Name })
	for _, row := range r.rows {
		if row.Invalid != "" {
			b.WriteString(row.Invalid + " ")
		}
		line(len(row.Cells), func(i int) any {
			if row.Absent(i) {
				return nil
			}
			return row.Cells[i]
		})
	}
	return b.String()
}

// The files are what real programs write (testdata/README.md). The golden file has for each what it reads as, or its error.
//
// spec: file-csv, file-delimiter, file-columns, file-jsonl, file-xlsx, file-parquet, file-encoding, file-rows, file-copies
func TestFilesOfRealProgramsReadAsInTheGoldenFile(t *testing.T) {
	t.Parallel()
	const expected = "testdata/golden.txt"
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, file := range files {
		format := prism.FileFormat(strings.TrimPrefix(filepath.Ext(file), "."))
		if !slices.Contains(prism.FileFormats(), format) {
			continue
		}
		data := golden(t, filepath.Base(file))
		fmt.Fprintf(&got, "=== %s\n", filepath.Base(file))
		r, err := readAll(t, format, data)
		if unusable := (*tabular.UnusableError)(nil); errors.As(err, &unusable) {
			fmt.Fprintf(&got, "error: %s\n", unusable.Text)
		} else if err != nil {
			t.Errorf("%s: %v", file, err)
		} else {
			got.WriteString(r.String())
		}
	}
	if *update {
		if err := os.WriteFile(expected, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	gotFiles, wantFiles := strings.Split(got.String(), "=== "), strings.Split(string(want), "=== ")
	for i := range max(len(gotFiles), len(wantFiles)) {
		if i >= len(gotFiles) || i >= len(wantFiles) || gotFiles[i] != wantFiles[i] {
			t.Fatalf("file %d differs, got\n%s\nwant\n%s", i, at(gotFiles, i), at(wantFiles, i))
		}
	}
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func at(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return "no file"
}
