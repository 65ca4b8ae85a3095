package tabular_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

func parquetOf[T any](t testing.TB, options []parquet.WriterOption, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readers are Read, and Read with all pages of a Parquet file in the temporary file.
var readers = map[string]reader{"in memory": tabular.Read, "in the file": tabular.ReadInFile}

// The files are those of pyarrow, DuckDB, fastparquet, Polars, Spark, Impala and others, in many settings
// (testdata/parquet/README.md). want.txt has the cells that pyarrow reads, written by another program than this one.
//
// spec: file-parquet
func TestParquetFilesReadAsPyarrowReadsThem(t *testing.T) {
	t.Parallel()
	const folder = "testdata/parquet"
	want, err := os.ReadFile(folder + "/want.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, read := slices.Concat(parquetFiles(t, folder), parquetFiles(t, folder+"/apache")), 0
	for block := range strings.SplitSeq(strings.TrimPrefix(string(want), "=== "), "=== ") {
		name, lines, _ := strings.Cut(block, "\n")
		if !slices.Contains(files, filepath.Join(folder, name)) {
			t.Errorf("%s is not there", name)
			continue
		}
		read++
		data := golden(t, filepath.Join("parquet", name))
		for where, by := range readers {
			r, err := readAllBy(t, by, prism.FileParquet, tabular.Options{}, data)
			if err != nil {
				t.Errorf("%s, %s: %v", name, where, err)
				continue
			}
			i := -1 // the header
			for line := range strings.Lines(lines) {
				var cells, got []string
				if err := strictjson.Unmarshal([]byte(line), &cells); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				switch {
				case i >= len(r.rows):
				case i >= 0:
					got = r.rows[i].Cells
				default:
					for _, c := range r.layout.Columns {
						got = append(got, c.Name)
					}
				}
				if !slices.Equal(got, cells) {
					t.Errorf("%s, %s, row %d:\ngot  %q\nwant %q", name, where, i+1, got, cells)
				}
				i++
			}
			if i != len(r.rows) {
				t.Errorf("%s, %s: %d rows, want %d", name, where, len(r.rows), i)
			}
		}
	}
	if read != len(files) {
		t.Errorf("%d of %d files are in want.txt", read, len(files))
	}
}

func parquetFiles(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Levels of very old files are packed from the highest bit of a byte on.
//
// spec: file-parquet
func TestPackedLevelsAreRead(t *testing.T) {
	t.Parallel()
	texts := []byte("\x01\x00\x00\x00x\x01\x00\x00\x00y\x01\x00\x00\x00z")
	page := func(values int32, levels ...byte) madePage {
		p := pageOf(values, parquetformat.Plain, slices.Concat(levels, texts))
		p.header.DataPageHeader.V.DefinitionLevelEncoding = parquetformat.BitPacked
		return p
	}
	for _, c := range []struct {
		data []byte
		want []string
	}{
		{optionalOf(t, 9, page(9, 0b1000_0010, 0b1000_0000)), []string{"x", "", "", "", "", "", "y", "", "z"}},
		{nestedOf(t, 5, page(5, 0b1000_0110, 0b1000_0000)), []string{`{"b":"x"}`, "", `{"b":null}`, `{"b":"y"}`, `{"b":"z"}`}},
	} {
		r, err := readAll(t, prism.FileParquet, c.data)
		var got []string
		for _, row := range r.rows {
			got = append(got, row.Cells[0])
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q: %v", got, c.want, err)
		}
	}
}

// spec: file-parquet, file-unusable
func TestParquetFilesThatCannotBeReadAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"ARROW-GH-45185.parquet":                         "Row 1: column 1 of the Parquet file cannot be read: a row begins inside of a list.",
		"ARROW-GH-47662.parquet":                         "Row 92: column 1 of the Parquet file cannot be read: a page ends too early.",
		"ARROW-RS-GH-6229-DICTHEADER.parquet":            "Row 1: column 3 of the Parquet file cannot be read: it is outside of the file.",
		"ARROW-RS-GH-6229-LEVELS.parquet":                "Row 1: column 1 of the Parquet file cannot be read: its pages have more values than it says.",
		"PARQUET-1481.parquet":                           "A field of the Parquet file has the type -7, which Parquet does not have.",
		"column_chunk_key_value_metadata.parquet":        "The file has no rows.",
		"encrypt_columns_plaintext_footer.parquet":       "Row 1: column 5 of the Parquet file cannot be read: it is encrypted.",
		"rle-dict-uncompressed-corrupt-checksum.parquet": "Row 1: column 1 of the Parquet file cannot be read: a page does not have its checksum.",
	}
	const folder = "parquet/apache/refused"
	for _, file := range parquetFiles(t, "testdata/"+folder) {
		name := filepath.Base(file)
		_, err := readAll(t, prism.FileParquet, golden(t, filepath.Join(folder, name)))
		if err == nil || err.Error() != refused[name] {
			t.Errorf("%s: %v, want %s", name, err, refused[name])
		}
		delete(refused, name)
	}
	if len(refused) > 0 {
		t.Errorf("files are missing: %v", refused)
	}
}

// Pages of 100 MB, as DuckDB writes them, are read by way of the temporary file, which is gone afterwards.
//
// spec: file-parquet, file-memory
func TestLargePagesAreReadInLittleMemory(t *testing.T) { // not parallel: it sets TMPDIR
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	type row struct {
		A string `parquet:"a,plain"`
		B string `parquet:"b,plain"`
		C string `parquet:"c,delta"`
		D string `parquet:"d,dict"`
	}
	var rows []row
	for i := range 200 {
		text := strings.Repeat(string(rune('a'+i%26)), 250_000)
		rows = append(rows, row{"a" + text, "b" + text, "c" + text, "d" + text})
	}
	options := []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(1 << 30)}
	r, err := readAll(t, prism.FileParquet, parquetOf(t, options, rows...))
	if err != nil || len(r.rows) != len(rows) {
		t.Fatalf("%d rows: %v", len(r.rows), err)
	}
	for i, got := range r.rows {
		if !slices.Equal(got.Cells, []string{rows[i].A, rows[i].B, rows[i].C, rows[i].D}) {
			t.Fatalf("row %d differs", i+1)
		}
	}
	if left, err := filepath.Glob(folder + "/*"); err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}

// A Parquet file of some KiB cannot take the memory of one of GiB.
//
// spec: file-parquet, file-limits
func TestHostileParquetFilesAreRefused(t *testing.T) {
	t.Parallel()
	type row struct {
		A string `parquet:"a,plain"`
	}
	zstd := []parquet.WriterOption{parquet.Compression(&parquet.Zstd)}
	sound := parquetOf(t, zstd, row{strings.Repeat("a", 1000)})
	longFooter := bytes.Clone(sound)
	binary.LittleEndian.PutUint32(longFooter[len(longFooter)-8:], 1<<31)
	// The headers of pages have the uncompressed size, as a number in zigzag.
	resized := func(file []byte, from, to uint64) []byte {
		file = bytes.Clone(file)
		size := binary.AppendUvarint(nil, 2*from)
		at := bytes.Index(file, size)
		if at < 0 || len(size) != binary.PutUvarint(file[max(at, 0):], 2*to) {
			t.Fatalf("a page of %d bytes at %d cannot have %d", from, at, to)
		}
		return file
	}
	const damaged = "The metadata of the Parquet file are damaged."
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a row over 1 MiB":  {parquetOf(t, zstd, row{"a"}, row{strings.Repeat("a", 1<<20+1)}), "Row 2: a row may have 1 MiB."},
		"a footer of 2 GiB": {longFooter, damaged},
		"an encrypted file": {append(bytes.Clone(sound[:len(sound)-4]), "PARE"...), "The Parquet file is encrypted."},
		"a page that lies": {
			resized(sound, 4+1000, 500), "Row 1: column 1 of the Parquet file cannot be read: a page expands to more than it says.",
		},
		"the two magics":     {[]byte("PAR1PAR1"), "Not a Parquet file (.parquet)."},
		"an empty footer":    {[]byte("PAR1\x00\x00\x00\x00PAR1"), damaged},
		"another kind":       {bytes.Repeat([]byte("x"), 100), "Not a Parquet file (.parquet)."},
		"no more than magic": {[]byte("PAR1"), "Not a Parquet file (.parquet)."},
	} {
		_, err := readAll(t, prism.FileParquet, c.data)
		var unusable *tabular.UnusableError
		if !errors.As(err, &unusable) || unusable.Text != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := readAll(t, prism.FileParquet, parquetOf(t, zstd, row{strings.Repeat("a", 1<<20)})); err != nil {
		t.Errorf("a row of 1 MiB: %v", err)
	}
	if r, err := readAll(t, prism.FileParquet, sound); err != nil || r.layout.Columns[0].Longest != 1000 {
		t.Errorf("the sound file: %v", err)
	}
}
