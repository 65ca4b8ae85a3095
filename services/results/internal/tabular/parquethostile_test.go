package tabular_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/prism"
)

// hostileParquet are files that say something else of themselves than they have.
func hostileParquet(t testing.TB) map[string][]byte {
	t.Helper()
	const most = math.MaxInt32
	text := []byte("\x01\x00\x00\x00x")                 // in PLAIN
	unknown := func(kind byte, rest ...[]byte) []byte { // a field that Parquet does not have
		return slices.Concat([]byte{kind, 0xc8, 0x01}, slices.Concat(rest...))
	}
	const double, text2, list, structs = 0x07, 0x08, 0x09, 0x0c
	nested := func(n int) []byte { return unknown(list, bytes.Repeat([]byte{0x10 | list}, n)) }
	one, first := pageOf(1, parquetformat.Plain, text), dictionaryOf(1, parquetformat.Plain, text)
	run, twice := runOf(most, 0), bytes.Repeat(runOf(2000, 0), 2)
	packed := number(math.MaxInt32/8<<1 | 1)
	deltas := slices.Concat([]byte{128, 1, 4}, number(most), []byte{0})
	pages := func(pages ...madePage) []byte { return newParquet(t, pages...).bytes(t) }
	places := func(values int32, width byte, runs []byte) []byte {
		return pages(first, pageOf(values, parquetformat.RLEDictionary, append([]byte{width}, runs...)))
	}
	header := func(b []byte) []byte {
		f := newParquet(t)
		f.pages, f.column().TotalCompressedSize = b, int64(len(b))
		return f.bytes(t)
	}
	column := func(change func(m *parquetformat.ColumnMetaData)) []byte {
		f := newParquet(t, one)
		change(f.column())
		return f.bytes(t)
	}
	metadata := func(change func(m *parquetformat.FileMetaData)) []byte {
		f := newParquet(t, one)
		change(&f.metadata)
		return f.bytes(t)
	}
	leaf := func(p madePage, kind parquetformat.Type, repetition parquetformat.FieldRepetitionType) []byte {
		f := newParquet(t, p)
		f.metadata.Schema[1] = parquetformat.SchemaElement{Name: "a", Type: someOf(kind), RepetitionType: someOf(repetition)}
		return f.bytes(t)
	}
	return map[string][]byte{
		"lists in each other in the footer": withFooter(nil, nested(8<<20-16)),
		"lists in each other in a header":   header(nested(4 << 20)),
		"2^31 elements of a schema":         withFooter(nil, slices.Concat([]byte{0x15, 2, 0x19, 0xf0 | structs}, number(most))),
		"2^31 numbers in a header":          header(unknown(list, []byte{0xf0 | double}, number(most))),
		"a text of 2 GiB in a header":       header(unknown(text2, number(most))),
		"structs in a list":                 withFooter(nil, unknown(list, []byte{0xf0 | structs}, number(1<<19), make([]byte, 1<<19+1))),
		"a type that is none":               withFooter(nil, unknown(0x0f)),
		"a footer larger than the file":     append(binary.LittleEndian.AppendUint32([]byte("PAR1"), 1<<20), "PAR1"...),
		"groups in each other":              metadata(func(m *parquetformat.FileMetaData) { m.Schema = groups(1<<17, m.Schema[1]) }),
		"groups in each other to the limit": metadata(func(m *parquetformat.FileMetaData) { m.Schema = groups(maxGroups+1, m.Schema[1]) }),
		"names of 2 MiB":                    metadata(func(m *parquetformat.FileMetaData) { m.Schema = named(2, m.Schema[1]) }),
		"a schema that is a leaf":           metadata(func(m *parquetformat.FileMetaData) { m.Schema = m.Schema[1:] }),
		"2^31 children":                     metadata(func(m *parquetformat.FileMetaData) { m.Schema[0].NumChildren.V = most }),
		"an element that is neither":        metadata(func(m *parquetformat.FileMetaData) { m.Schema[1].Type.Valid = false }),
		"a row group without columns":       metadata(func(m *parquetformat.FileMetaData) { m.RowGroups[0].Columns = nil }),
		"two codecs": metadata(func(m *parquetformat.FileMetaData) {
			m.RowGroups = append(m.RowGroups, groupOf(m.RowGroups[0].Columns[0].MetaData, parquetformat.Gzip))
		}),
		"two columns in one place": metadata(func(m *parquetformat.FileMetaData) {
			m.RowGroups = slices.Repeat(m.RowGroups, 2)
		}),
		"many columns in one place":      repeatedOf(t, pageOf(1, parquetformat.Plain, sized(make([]byte, 2000)))),
		"columns in another file":        metadata(func(m *parquetformat.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "b.parquet" }),
		"columns without metadata":       withFooter(nil, withoutMetadata(t)),
		"LZO":                            column(func(m *parquetformat.ColumnMetaData) { m.Codec = parquetformat.LZO }),
		"a codec that is none":           column(func(m *parquetformat.ColumnMetaData) { m.Codec = 8 }),
		"an encoding that is none":       pages(pageOf(1, 10, text)),
		"an encoding of another type":    pages(pageOf(1, parquetformat.DeltaBinaryPacked, text)),
		"more rows than values":          metadata(func(m *parquetformat.FileMetaData) { m.RowGroups[0].NumRows = 2 }),
		"more values than rows":          columnOf(t, 2, one, one),
		"a value too few":                column(func(m *parquetformat.ColumnMetaData) { m.NumValues = 2 }),
		"a column behind the end":        column(func(m *parquetformat.ColumnMetaData) { m.TotalCompressedSize = math.MaxInt64 }),
		"a column before the start":      column(func(m *parquetformat.ColumnMetaData) { m.DataPageOffset = -1 }),
		"a dictionary that is somewhere": column(func(m *parquetformat.ColumnMetaData) { m.DictionaryPageOffset = 5 }),

		"a dictionary of 2^31 values":       pages(dictionaryOf(most, parquetformat.Plain, text), one),
		"a dictionary behind the last page": pages(one, dictionaryOf(most, parquetformat.Plain, text)),
		"a dictionary of deltas":            pages(dictionaryOf(1, parquetformat.DeltaLengthByteArray, deltas), one),
		"a dictionary in a page of data":    pages(one, mixed(one, most)),
		"two dictionaries":                  pages(first, first, one),
		"places without a dictionary":       pages(pageOf(1, parquetformat.RLEDictionary, []byte{1, 2, 0})),
		"a place outside of a dictionary":   places(1, 1, runOf(1, 1)),
		"a page of 2 GiB":                   pages(largePage(one)),
		"pages of 2 GiB":                    rowsOf(t, slices.Repeat([]madePage{largePage(one)}, 5)...),
		"pages of 2^31 nulls":               optionalOf(t, most, pageOf(most, parquetformat.Plain, sized(run))),
		"a page of negative size":           pages(madePage{parquetformat.PageHeader{CompressedPageSize: -1}, nil}),
		"levels longer than the page":       leaf(version2(1, nil, text, 100), parquetformat.ByteArray, parquetformat.Optional),
		"levels of another encoding":        leaf(otherLevels(one), parquetformat.ByteArray, parquetformat.Optional),
		"a level that is too high": leaf(
			pageOf(1, parquetformat.Plain, slices.Concat(sized(runOf(1, 2)), text)), parquetformat.ByteArray, parquetformat.Optional),
		"a block of no differences": pages(pageOf(1, parquetformat.DeltaLengthByteArray, []byte{0, 1, 1, 0})),
		"differences of 65 bits":    rowsOf(t, pageOf(2, parquetformat.DeltaLengthByteArray, []byte{128, 1, 1, 2, 2, 0, 65})),
		"a prefix of nothing": pages(pageOf(1, parquetformat.DeltaByteArray, slices.Concat(
			[]byte{128, 1, 1, 1, 2}, []byte{128, 1, 1, 1, 2}, []byte("x")))),
		"a text of a negative length": pages(pageOf(1, parquetformat.DeltaLengthByteArray, []byte{128, 1, 1, 1, 1})),
		"places of 33 bits":           places(1, 33, runOf(1, 0)),
		"a run of 2^62 levels": leaf(
			pageOf(1, parquetformat.Plain, slices.Concat(sized(runOf(1<<62, 1)), text)), parquetformat.ByteArray, parquetformat.Optional),
		"a page that is cut off": pages(madePage{header: one.header}),
		"a page of an index":     pages(one, madePage{header: parquetformat.PageHeader{Type: parquetformat.IndexPage}}),
		"levels as values":       pages(pageOf(1, parquetformat.BitPacked, text)),
		"2^31 lengths":           pages(pageOf(1, parquetformat.DeltaLengthByteArray, deltas)),
		"a run of 2^31 places":   places(1, 1, run),
		"two runs of places":     places(2000, 1, twice),
		"2^31 places of no bits": places(1, 0, packed),
		"a run of 2^31 booleans": leaf(pageOf(1, parquetformat.RLE, sized(run)), parquetformat.Boolean, parquetformat.Required),
		"a run of 2^31 levels": leaf(
			pageOf(1, parquetformat.Plain, slices.Concat(sized(run), text)), parquetformat.ByteArray, parquetformat.Optional),
		"a run of 2^31 levels of repetition": leaf(
			pageOf(1, parquetformat.Plain, slices.Concat(sized(run), sized([]byte{2, 1}), text)), parquetformat.ByteArray, parquetformat.Repeated),
		"a run of 2^31 levels of version 2": leaf(version2(1, run, text, 0), parquetformat.ByteArray, parquetformat.Optional),
		"nulls of 1 GiB":                    fixedOf(t, 1<<30, pageOf(8, parquetformat.ByteStreamSplit, []byte{2, 0, 0, 0, 16, 0})),
		"values of 1 GiB":                   fixedOf(t, 1<<30, pageOf(1, parquetformat.Plain, slices.Concat(sized(runOf(1, 1)), text))),
		"a list of 2 million booleans":      listOf(t, 0),
		"a list of two pages":               listOf(t, 0, 1),
	}
}

// A Parquet file of some bytes cannot take the memory, the stack or the time of one of GiB. What a file says of itself is either
// refused, or does not matter.
//
// spec: file-parquet
func TestParquetFilesThatLieOfThemselvesTakeLittleMemory(t *testing.T) { // not parallel: it measures the heap
	const (
		damaged = "The metadata of the Parquet file are damaged."
		early   = "a page ends too early"
		expands = "The Parquet file expands to more than 100 bytes or values for each of its bytes, and 8 GiB or 2^30 values."
		// The first page is read, and what lies is behind it, or is more than anybody reads.
		sound = ""
	)
	reasons := map[string]string{
		"lists in each other in the footer":  damaged,
		"lists in each other in a header":    "its metadata are nested too deeply",
		"2^31 elements of a schema":          damaged,
		"2^31 numbers in a header":           early,
		"a text of 2 GiB in a header":        "its metadata are cut off",
		"structs in a list":                  "The file has no rows.",
		"a type that is none":                damaged,
		"a footer larger than the file":      damaged,
		"groups in each other":               "The schema of the Parquet file has more than 10000 fields, or names of more than 1 MiB.",
		"groups in each other to the limit":  "The schema of the Parquet file has more than 32 levels.",
		"2^31 children":                      damaged,
		"an element that is neither":         damaged,
		"a schema that is a leaf":            damaged,
		"names of 2 MiB":                     "The schema of the Parquet file has more than 10000 fields, or names of more than 1 MiB.",
		"a row group without columns":        damaged,
		"two codecs":                         "Row 2: column 1 of the Parquet file cannot be read: a page cannot be decompressed.",
		"two columns in one place":           sound,
		"many columns in one place":          "Row 2: column 1 of the Parquet file cannot be read: its pages are those of another column.",
		"columns in another file":            "The Parquet file has its columns in other files.",
		"columns without metadata":           "it is encrypted",
		"LZO":                                "it is compressed with LZO, which cannot be read; write it with another compression",
		"a codec that is none":               "it has a compression with the number 8, which cannot be read",
		"an encoding that is none":           "it has an encoding with the number 10, which cannot be read",
		"an encoding of another type":        "it has an encoding that its type cannot have, with the number 5",
		"a value too few":                    early,
		"more rows than values":              "Row 2: column 1 of the Parquet file cannot be read: it has other rows than the file says.",
		"more values than rows":              "it has other rows than the file says",
		"a column behind the end":            sound,
		"a column before the start":          "it is outside of the file",
		"a dictionary that is somewhere":     sound,
		"a dictionary of 2^31 values":        expands,
		"a dictionary behind the last page":  sound,
		"two dictionaries":                   "it has two dictionaries",
		"places without a dictionary":        "a page needs a dictionary, and there is none",
		"a place outside of a dictionary":    "a value is outside of its dictionary",
		"a dictionary of deltas":             "a dictionary has an encoding that is none of dictionaries",
		"a dictionary in a page of data":     sound,
		"a page that is cut off":             early,
		"a page of an index":                 sound,
		"a page of 2 GiB":                    sound,
		"pages of 2 GiB":                     expands,
		"pages of 2^31 nulls":                expands,
		"a page of negative size":            "the header of a page has numbers that cannot be",
		"levels longer than the page":        "the header of a page has numbers that cannot be",
		"levels of another encoding":         "its levels have an encoding that is none of levels",
		"a level that is too high":           "a level is higher than the schema has",
		"levels as values":                   "it has an encoding with the number 4, which cannot be read",
		"2^31 lengths":                       "a page has no sound differences",
		"a block of no differences":          "a page has no sound differences",
		"differences of 65 bits":             "a page has no sound differences",
		"a prefix of nothing":                "a page has no sound differences",
		"a text of a negative length":        "a page has no sound differences",
		"a run of 2^31 places":               sound,
		"two runs of places":                 "its pages have more values than it says",
		"2^31 places of no bits":             sound,
		"places of 33 bits":                  "places in a dictionary have more than 32 bits",
		"a run of 2^62 levels":               "a run is longer than a page",
		"a run of 2^31 booleans":             sound,
		"a run of 2^31 levels":               sound,
		"a run of 2^31 levels of repetition": sound,
		"a run of 2^31 levels of version 2":  sound,
		"nulls of 1 GiB":                     sound,
		"values of 1 GiB":                    early,
		"a list of 2 million booleans":       "Row 1: a row may have 1 MiB.",
		"a list of two pages":                "Row 1: a row may have 1 MiB.",
	}
	for name, data := range hostileParquet(t) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := readAll(t, prism.FileParquet, data)
		runtime.ReadMemStats(&after)
		want, known := reasons[name]
		if want != sound && !strings.HasSuffix(want, ".") {
			want = "Row 1: column 1 of the Parquet file cannot be read: " + want + "."
		}
		switch {
		case !known:
			t.Errorf("%s is not in the table: %v", name, err)
		case want != sound && (err == nil || err.Error() != want):
			t.Errorf("%s: %v, want %s", name, err, want)
		case want == sound && (err != nil || len(r.rows) == 0):
			t.Errorf("%s: %d rows, %v", name, len(r.rows), err)
		}
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 32 { // the race detector moves values to the heap
			t.Errorf("%s: %d MiB were allocated", name, allocated)
		}
		delete(reasons, name)
	}
	for name := range reasons {
		t.Errorf("%s is no file", name)
	}
}
