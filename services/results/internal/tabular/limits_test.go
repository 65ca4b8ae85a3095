package tabular_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",c%d", i)
	}
	return b.String()[1:]
}

// largeNames is an object whose keys are letters in front of 99,000 others.
func largeNames(letters string) string {
	var b strings.Builder
	for _, letter := range letters {
		fmt.Fprintf(&b, `,"%c%s":0`, letter, strings.Repeat("x", 99_000))
	}
	return "{" + b.String()[1:] + "}"
}

func TestFilesThatCannotBeUsedAreRefusedWithTheirLine(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", tabular.MaxRowBytes)
	for _, c := range []struct {
		name, format, data, want string
	}{
		// spec: file-limits
		{"1,001 columns", "csv", numbered(1001) + "\n", "Line 1: 1001 columns, but a file may have 1000."},
		{
			"1,001 keys", "jsonl", "{}\n{\"" + strings.ReplaceAll(numbered(1001), ",", "\":0,\"") + "\":0}\n",
			"Line 2: 1001 columns, but a file may have 1000.",
		},
		{
			"large names of columns in two lines", "jsonl", largeNames("abcdef") + "\n" + largeNames("ghijkl") + "\n",
			"Line 2: the names of the columns may have 1 MiB.",
		},
		{"a large row", "csv", "a,b\n1,2\n" + large[1:] + ",3\n", "Line 3: a row may have 1 MiB."},
		{"a large row in quotes", "csv", "a\n1\n\"" + large[1:] + "\"\n", "Line 3: a row may have 1 MiB."},
		{"a large row without an end", "csv", "a\n1\n" + large + large + large, "Line 3: a row may have 1 MiB."},
		{"a large row of tsv", "tsv", "a\n" + large + "x\r\n", "Line 2: a row may have 1 MiB."},
		{"a large line", "jsonl", "{\"a\":1}\n\n{\"a\":\"" + large[len(`{"a":""}`)-1:] + "\"}\r\n", "Line 3: a row may have 1 MiB."},
		{
			"a quote that is not closed soon", "csv", "a,b\n1,2\n3,\"" + large + large + large,
			"Line 3: a quoted cell is not closed within 1 MiB.",
		},
		// spec: file-columns
		{"no key", "jsonl", "{\"a\":1}\n{\"\":2}\n", "Line 2: a key is empty."},
		{"a cell too few behind empty lines", "csv", "\na,b\n\n\n1\n", "Line 5: 1 cell, but the header has 2."},
		{"nine cells", "csv", "a,b\n1,2,3,4,5,6,7,8,9\n", "Line 2: 9 cells, but the header has 2."},
		// spec: file-csv
		{"a quote that is not closed at the end", "csv", "a\n1\n\"2\n3\n", "Line 3: a quoted cell is not closed."},
		{"a quote that opens in a later line of a row", "csv", "a,b\n\"1\n2\n\",\"3\n", "Line 4: a quoted cell is not closed."},
		{"text behind a quote", "csv", "a,b\n1,\"2\" \n", "Line 2: text follows the closing quote of a cell."},
		// spec: file-encoding
		{"Windows-1252 in a row of two lines", "csv", "a\n\"1\n\xe9\"\n", "Line 3: not UTF-8."},
		{"Windows-1252 before another problem", "csv", "a\n\xe9,\"\n", "Line 2: not UTF-8."},
		{"UTF-16 of tsv", "tsv", "\xfe\xff\x00a\x00\n", "Line 1: not UTF-8."},
		{"UTF-16 of jsonl", "jsonl", "{\x00}\x00\n\x00", "Line 1: a NUL character that is in no string. Remove it."},
		{"Windows-1252 of jsonl", "jsonl", "{\"a\":1}\n{\"a\":\"\xe9\"}\n", "Line 2: not UTF-8."},
		// spec: file-jsonl
		{"a key twice", "jsonl", `{"a":1,"b":2,"a":3}`, "Line 1: a key occurs twice."},
		{"two objects on a line", "jsonl", `{"a":1}{"a":2}`, "Line 1: not a JSON object."},
		// spec: file-rows
		{"no row of csv", "csv", "a\n\n", "The file has no rows."},
		{"nothing but a mark", "csv", "\ufeff", "The file has no rows."},
		{"no row of jsonl", "jsonl", " \n\r\n", "The file has no rows."},
		{"objects without keys", "jsonl", "{}\n{}\n", "The file has no columns."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			strict := tabular.Options{OnBadRow: prism.RefuseBadRow, Encoding: prism.UTF8}
			r, err := readAllBy(t, tabular.Read, prism.FileFormat(c.format), strict, []byte(c.data))
			var unusable *tabular.UnusableError
			if !errors.As(err, &unusable) || unusable.Text != c.want {
				t.Errorf("%v, %d rows; want %s", err, len(r.rows), c.want)
			}
		})
	}
}

// spec: file-csv
func TestNamesInQuotesKeepTheirLineBreaks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\rb", "a\r\nb"} {
		r, err := readAll(t, prism.FileCSV, []byte("\"x"+name+"\",c\n1,2\n"))
		if err != nil || r.layout.Columns[0].Name != "x"+name {
			t.Errorf("%q: %+v, %v", name, r.layout.Columns, err)
		}
	}
}

// spec: file-limits
func TestTheLargestRowsAndTheMostColumnsAreRead(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("x", tabular.MaxRowBytes)
	for format, data := range map[prism.FileFormat]string{
		prism.FileCSV:   "a\n" + row + "\r\n" + row + "\n" + `"` + row[2:] + `"` + "\r\n" + row,
		prism.FileTSV:   numbered(1000)[:2] + "\n" + row + "\n",
		prism.FileJSONL: `{"a":"` + row[len(`{"a":""}`):] + `"}` + "\r\n",
	} {
		if _, err := readAll(t, format, []byte(data)); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	r, err := readAll(t, prism.FileCSV, []byte(numbered(1000)+"\n"+strings.Repeat(",", 999)+"x\n"))
	if err != nil || len(r.layout.Columns) != 1000 {
		t.Errorf("%d columns: %v", len(r.layout.Columns), err)
	}
}

// spec: file-delimiter
func TestTheHeaderOrASepLineDecidesTheDelimiter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, format, data, want string }{
		{"commas", "csv", "a,b;c,d\n1,2,3\n", ","},
		{"semicolons", "csv", "\na;b,c;d\n1;2;3\n", ";"},
		{"as many", "csv", "a;b,c\n1,2\n", ","},
		{"those in quotes do not count", "csv", "\"a,b,\nc\";d\n1;2\n", ";"},
		{"one column", "csv", "a\n1,2;3\n", ","},
		{"a line", "csv", "sep=|\r\na|b;c;d\n1|2\n", "|"},
		{"a line of a tab", "csv", "\ufeffsep=\t\na\tb\n1\t2\n", "\t"},
		{"a line of tsv", "tsv", "sep=;\na;b\n1;2\n", ";"},
		{"a header that looks like it", "csv", "sep=;x\n1\n", ";"},
		{"tsv", "tsv", "a;b;c\td\n1\t2\n", "\t"},
	} {
		r, err := readAll(t, prism.FileFormat(c.format), []byte(c.data))
		if err != nil && c.want != "" && c.name != "a header that looks like it" || err == nil && r.layout.Delimiter != c.want {
			t.Errorf("%s: %q, %v", c.name, r.layout.Delimiter, err)
		}
	}
}

// spec: file-chunks
func TestChunksHave200RowsOr512KiB(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		data string
		want string // rows, offset, bytes and line of each
	}{
		{"200 rows", "a\n" + strings.Repeat("x\n", 401), "200 2 400 2; 200 402 400 202; 1 802 2 402"},
		{"a row of two lines, CRLF, a mark and no end", "\ufeffa\r\n\"x\r\ny\"\r\nz", "2 6 9 2"},
		{
			"empty lines between chunks belong to none", "a\n" + strings.Repeat("x\n", 200) + strings.Repeat("\n", 1<<20) + "y\n",
			"200 2 400 2; 1 1048978 2 1048778",
		},
		{"rows of 300 KiB", "a\n" + strings.Repeat(strings.Repeat("x", 300<<10)+"\n", 2), "1 2 307201 2; 1 307203 307201 3"},
		{"rows of 256 KiB", "a\n" + strings.Repeat(strings.Repeat("x", 256<<10-1)+"\n", 3), "2 2 524288 2; 1 524290 262144 4"},
	} {
		r, err := readAll(t, prism.FileCSV, []byte(c.data))
		var got []string
		for _, k := range r.chunks {
			got = append(got, fmt.Sprint(k.Rows, k.Offset, k.Bytes, k.Line))
		}
		if joined := strings.Join(got, "; "); err != nil || joined != c.want {
			t.Errorf("%s: %s, want %s: %v", c.name, joined, c.want, err)
		}
	}
}

type failing struct{ io.ReaderAt }

var errStorage = errors.New("storage")

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errStorage }

// A fault of the storage, of the copy, of a note or of the context is no problem of the file.
//
// spec: file-unusable
func TestFaultsAreNotProblemsOfTheFile(t *testing.T) {
	t.Parallel()
	errNote := errors.New("note")
	files := map[prism.FileFormat][]byte{
		prism.FileCSV: []byte("a\n1\n"), prism.FileTSV: []byte("a\n1\n"), prism.FileJSONL: []byte(`{"a":1}`),
		prism.FileXLSX: golden(t, "openpyxl-types.xlsx"), prism.FileParquet: golden(t, "pyarrow-types.parquet"),
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for format, data := range files {
		src := section(data)
		_, _, err := tabular.Read(t.Context(), format, tabular.Options{}, io.NewSectionReader(failing{}, 0, src.Size()), io.Discard, nil)
		if !errors.Is(err, errStorage) {
			t.Errorf("%s: %v, want the storage's error", format, err)
		}
		_, _, err = tabular.Read(t.Context(), format, tabular.Options{}, src, io.Discard, func(store.FileChunk) error { return errNote })
		if !errors.Is(err, errNote) {
			t.Errorf("%s: %v, want the note's error", format, err)
		}
		_, _, err = tabular.Read(cancelled, format, tabular.Options{}, section(data), io.Discard, func(store.FileChunk) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", format, err)
		}
		if format != prism.FileXLSX && format != prism.FileParquet {
			continue
		}
		if _, _, err = tabular.Read(t.Context(), format, tabular.Options{}, section(data), failingWriter{}, nil); !errors.Is(err, errStorage) {
			t.Errorf("%s: %v, want the error of the copy", format, err)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errStorage }

// spec: file-chunks
func TestAnotherChunkThanThatWhichWasReadIsAnError(t *testing.T) {
	t.Parallel()
	r, err := readAll(t, prism.FileCSV, []byte("a,b\n1,2\n3,4\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"1,2\n", "1,2\n3,4\n5,6\n"} {
		if rows, err := r.layout.Rows(prism.FileCSV, r.chunks[0], []byte(data)); err == nil {
			t.Errorf("%q: %v", data, rows)
		}
	}
	if _, err := r.layout.Rows(prism.FileJSONL, r.chunks[0], bytes.Repeat([]byte("{\"c\":1}\n"), 2)); err == nil {
		t.Error("a key that was not read")
	}
}
