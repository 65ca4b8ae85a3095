package tabular_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/prism-results/prism/pkg/contract"
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

// A Parquet file of some KiB cannot take the memory of one of GiB.
//
// spec: file-parquet, file-limits
func TestHostileParquetFilesAreRefused(t *testing.T) {
	t.Parallel()
	type row struct {
		A string `parquet:"a,plain"`
	}
	type blank struct {
		A string `parquet:" "`
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
	const text = 1_000_000
	two := parquetOf(t, zstd, row{strings.Repeat("a", text)}, row{strings.Repeat("a", text)})
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a page of 97 MiB": {
			resized(two, 2*(4+text), 97<<20), "The pages of the Parquet file are too large to be read; write smaller ones.",
		},
		"a row over 1 MiB":   {parquetOf(t, zstd, row{"a"}, row{strings.Repeat("a", 1<<20+1)}), "Row 2: a row may have 1 MiB."},
		"a footer of 2 GiB":  {longFooter, "The footer of the Parquet file is larger than 8 MiB."},
		"a column no name":   {parquetOf(t, nil, blank{"a"}), "Columns: column 1 has no name."},
		"an encrypted file":  {append(bytes.Clone(sound[:len(sound)-4]), "PARE"...), "The Parquet file is encrypted."},
		"a page that lies":   {resized(sound, 4+1000, 500), "The Parquet file is damaged, or is of a kind that cannot be read."},
		"the two magics":     {[]byte("PAR1PAR1"), "Not a Parquet file (.parquet)."},
		"an empty footer":    {[]byte("PAR1\x00\x00\x00\x00PAR1"), "The Parquet file is damaged, or is of a kind that cannot be read."},
		"another kind":       {bytes.Repeat([]byte("x"), 100), "Not a Parquet file (.parquet)."},
		"no more than magic": {[]byte("PAR1"), "Not a Parquet file (.parquet)."},
	} {
		_, err := readAll(t, contract.FileParquet, c.data)
		var unusable *tabular.UnusableError
		if !errors.As(err, &unusable) || unusable.Text != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := readAll(t, contract.FileParquet, parquetOf(t, zstd, row{strings.Repeat("a", 1<<20)})); err != nil {
		t.Errorf("a row of 1 MiB: %v", err)
	}
	if r, err := readAll(t, contract.FileParquet, sound); err != nil || r.layout.Columns[0].Longest != 1000 {
		t.Errorf("the sound file: %v", err)
	}
}
