package tabular_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// fuzzedRead reads an input of a fuzz test, and checks what holds for every file: an unusable one has a reason for the user, the rows of
// the chunks are those of one pass (readAllBy checks it), and reading takes bounded memory. ok is false if there are no rows to look at.
//
// spec: file-chunks, file-unusable, file-memory
func fuzzedRead(t *testing.T, format prism.FileFormat, options tabular.Options, data []byte) (r read, ok bool) {
	t.Helper()
	var grown uint64
	r, err := readAllBy(t, measured(tabular.Read, &grown), format, options, data)
	if grown > mostGrowth+mostCopied {
		t.Fatalf("reading %d bytes took %d MiB of the heap", len(data), grown>>20)
	}
	var unusable *tabular.UnusableError
	if err != nil && !errors.Is(err, errLargeCopy) && (!errors.As(err, &unusable) || unusable.Text == "") {
		t.Fatalf("%v is no problem of the file", err)
	}
	for _, row := range r.rows {
		if len(row.Cells) != len(r.layout.Columns) {
			t.Fatalf("%d cells of %d", len(row.Cells), len(r.layout.Columns))
		}
	}
	return r, err == nil
}

// seeds calls add for the files of real programs in one of the formats.
func seeds(f *testing.F, add func(format prism.FileFormat, data []byte), formats ...prism.FileFormat) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, folder := range []string{"parquet", "parquet/apache", "parquet/apache/refused"} {
		files = append(files, parquetFiles(f, "testdata/"+folder)...)
	}
	for _, file := range files {
		format := prism.FileFormat(strings.TrimPrefix(filepath.Ext(file), "."))
		if slices.Contains(formats, format) {
			add(format, golden(f, strings.TrimPrefix(file, "testdata/")))
		}
	}
}

// cells are the columns and rows of a file, without its notes.
func (r read) cells() string {
	r.layout.Notes = nil
	return r.String()
}

func FuzzSeparated(f *testing.F) {
	seeds(f, func(format prism.FileFormat, data []byte) { f.Add(format == prism.FileTSV, uint8(0), uint8(0), data) }, prism.FileCSV, prism.FileTSV)
	f.Add(false, uint8(2), uint8(3), []byte("title\na|b\n1|\"2\n\n"))
	f.Fuzz(func(t *testing.T, tabs bool, headerRow, delimiter uint8, data []byte) {
		format := prism.FileCSV
		if tabs {
			format = prism.FileTSV
		}
		delimiters := []string{"", ",", ";", "\t", "|", ":"}
		fuzzedRead(t, format, tabular.Options{HeaderRow: int64(headerRow), Delimiter: delimiters[int(delimiter)%len(delimiters)]}, data)
	})
}

func FuzzJSONL(f *testing.F) {
	seeds(f, func(_ prism.FileFormat, data []byte) { f.Add(data) }, prism.FileJSONL)
	f.Add([]byte("[\n{\"a\":1},\n{\"b\":[{}]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzedRead(t, prism.FileJSONL, tabular.Options{}, data) })
}

// FuzzWorkbook has the parts of a workbook, as most changes of a ZIP file only damage it: those are FuzzContainer's.
func FuzzWorkbook(f *testing.F) {
	const (
		book   = `<workbook><workbookPr date1904="1"/><sheets><sheet name="h" id="a" state="hidden"/><sheet name="s" id="a"/></sheets></workbook>`
		styles = `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="200"/></cellXfs></styleSheet>`
		texts  = `<sst><si><t>a</t></si><si><r><t>b_x0041_</t></r><rPh><t>c</t></rPh></si></sst>`
	)
	for _, rows := range []string{
		headerOfOne + `<row><c s="1"><v>46081</v></c></row>`, headerOfOne + `<row r="9"><c r="C9" t="s"><v>1</v></c></row><row r="3"><c t="b"><v>1</v></c></row>`,
		headerOfOne + `<row><c t="d"><v>2026-02-28T13:05:59</v></c><c t="str"><v>x</v></c><c t="e"><v>#N/A</v></c></row>`,
	} {
		f.Add(book, "<worksheet><sheetData>"+rows+"</sheetData></worksheet>", texts, styles, uint8(0))
	}
	f.Add(book, `<worksheet><row r="1"><c r="B1" t="s"><v>0</v></c></row><row r="3"><c r="C3"><v>1</v></c></row><mergeCell ref="B1:D2"/></worksheet>`, texts, styles, uint8(2))
	f.Add(book, wide(binary.LittleEndian, "<worksheet>"+headerOfOne+"</worksheet>"), texts, styles, uint8(0))
	f.Fuzz(func(t *testing.T, book, sheet, texts, styles string, headerRow uint8) {
		data := zipped(t, partsOfWorkbook(book, sheet, texts, styles))
		fuzzedRead(t, prism.FileXLSX, tabular.Options{HeaderRow: int64(headerRow)}, data)
	})
}

func FuzzParquet(f *testing.F) {
	seeds(f, func(_ prism.FileFormat, data []byte) { f.Add(data) }, prism.FileParquet)
	for _, data := range hostileParquet(f) {
		if len(data) < 1<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok := fuzzedRead(t, prism.FileParquet, tabular.Options{}, data)
		if !ok {
			return
		}
		again, err := readAllBy(t, tabular.ReadInFile, prism.FileParquet, tabular.Options{}, data)
		if err != nil || again.String() != r.String() {
			t.Fatalf("in the file: %v, %s, in memory: %s", err, again, r)
		}
	})
}

// FuzzContainer reads data as it is, or compressed in one of three ways: then it reads as what it was, unless it is compressed itself.
func FuzzContainer(f *testing.F) {
	formats := prism.FileFormats()
	seeds(f, func(format prism.FileFormat, data []byte) {
		if len(data) < 4<<10 {
			f.Add(uint8(slices.Index(formats, format)), uint8(0), data)
		}
	}, formats...)
	packings := []func(t testing.TB, data string) []byte{
		gzipped, zstandard, func(t testing.TB, data string) []byte { return zipped(t, map[string]string{"a": data}) },
	}
	const table = "a,b\n1,2\n"
	comma := uint8(slices.Index(formats, prism.FileCSV))
	for i, pack := range packings {
		f.Add(comma, uint8(0), pack(f, table))
		f.Add(comma, uint8(i+1), []byte(table))
	}
	f.Fuzz(func(t *testing.T, kind, packing uint8, data []byte) {
		format := formats[int(kind)%len(formats)]
		r, ok := fuzzedRead(t, format, tabular.Options{}, data)
		if packing %= 4; !ok || packing == 0 || strings.Contains(r.String(), "note: The file was expanded") {
			return
		}
		if packed, ok := fuzzedRead(t, format, tabular.Options{}, packings[packing-1](t, string(data))); !ok || packed.cells() != r.cells() {
			t.Fatalf("%s packed reads as %s", r, packed)
		}
	})
}

// FuzzEncoding compares a text in an encoding with what it decodes to, read as UTF-8.
//
// spec: file-encoding
func FuzzEncoding(f *testing.F) {
	encodings := prism.Encodings()
	for i := range encodings {
		f.Add(uint8(i), []byte("a,b\n1,\xe4\xf6\xfc\x81\x40\n\"\x82\xa0\",2\n"))
		f.Add(uint8(i), []byte("\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\x3d\xd8\x42\xde\n\x00"))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		encoding := encodings[int(which)%len(encodings)]
		r, ok := fuzzedRead(t, prism.FileCSV, tabular.Options{Encoding: string(encoding)}, data)
		if !ok || encoding == prism.AutoEncoding || len(data) > 10_000 || strings.Contains(r.String(), "note: The file was expanded") {
			return
		}
		text, err := io.ReadAll(tabular.Decoded(encoding, bytes.NewReader(data)))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(text) || bytes.HasPrefix(text, []byte("PK\x03\x04")) {
			return
		}
		if decoded, ok := fuzzedRead(t, prism.FileCSV, tabular.Options{Encoding: prism.UTF8}, text); !ok || decoded.cells() != r.cells() {
			t.Fatalf("%s in %s reads as %s", decoded, encoding, r)
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
