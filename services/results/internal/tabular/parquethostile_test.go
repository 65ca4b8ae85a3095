package tabular_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/contract"
)

// madeParquet is a Parquet file of one column of texts and one row group.
type madeParquet struct {
	pages    []byte
	metadata parquetformat.FileMetaData
}

func someOf[T any](v T) thrift.Null[T] { return thrift.Null[T]{V: v, Valid: true} }

func newParquet(t testing.TB, pages ...madePage) *madeParquet {
	t.Helper()
	f := &madeParquet{}
	for _, p := range pages {
		f.pages = slices.Concat(f.pages, marshalled(t, &p.header), p.body)
	}
	m := parquetformat.ColumnMetaData{
		Type: parquetformat.ByteArray, Encoding: []parquetformat.Encoding{parquetformat.Plain}, PathInSchema: []string{"a"}, NumValues: 1,
		DataPageOffset: 4, TotalCompressedSize: int64(len(f.pages)),
	}
	f.metadata = parquetformat.FileMetaData{
		Version: 1, NumRows: 1, RowGroups: []parquetformat.RowGroup{groupOf(m, parquetformat.Uncompressed)},
		Schema: []parquetformat.SchemaElement{
			{Name: "root", NumChildren: someOf[int32](1)}, {Name: "a", Type: someOf(parquetformat.ByteArray)},
		},
	}
	return f
}

// column is the metadata of the column in the first row group.
func (f *madeParquet) column() *parquetformat.ColumnMetaData {
	return &f.metadata.RowGroups[0].Columns[0].MetaData
}

func (f *madeParquet) bytes(t testing.TB) []byte {
	t.Helper()
	return withFooter(f.pages, marshalled(t, &f.metadata))
}

func withFooter(pages, footer []byte) []byte {
	b := slices.Concat([]byte("PAR1"), pages, footer)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

func marshalled(t testing.TB, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type madePage struct {
	header parquetformat.PageHeader
	body   []byte
}

func pageOf(values int32, encoding parquetformat.Encoding, body []byte) madePage {
	h := parquetformat.DataPageHeader{
		NumValues: values, Encoding: encoding, RepetitionLevelEncoding: parquetformat.RLE, DefinitionLevelEncoding: parquetformat.RLE,
	}
	size := int32(len(body))
	return madePage{parquetformat.PageHeader{
		Type: parquetformat.DataPage, UncompressedPageSize: size, CompressedPageSize: size, DataPageHeader: someOf(h),
	}, body}
}

func dictionaryOf(values int32, encoding parquetformat.Encoding, body []byte) madePage {
	size := int32(len(body))
	return madePage{parquetformat.PageHeader{
		Type: parquetformat.DictionaryPage, UncompressedPageSize: size, CompressedPageSize: size,
		DictionaryPageHeader: someOf(parquetformat.DictionaryPageHeader{NumValues: values, Encoding: encoding}),
	}, body}
}

func number(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// sized is b behind its length.
func sized(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// runOf is a run of a value that is repeated.
func runOf(n uint64, value byte) []byte { return append(number(n<<1), value) }

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
		"2^31 children":                     metadata(func(m *parquetformat.FileMetaData) { m.Schema[0].NumChildren.V = most }),
		"an element that is neither":        metadata(func(m *parquetformat.FileMetaData) { m.Schema[1].Type.Valid = false }),
		"a row group without columns":       metadata(func(m *parquetformat.FileMetaData) { m.RowGroups[0].Columns = nil }),
		"two codecs": metadata(func(m *parquetformat.FileMetaData) {
			m.RowGroups = append(m.RowGroups, groupOf(m.RowGroups[0].Columns[0].MetaData, parquetformat.Gzip))
		}),
		"two columns in one place": metadata(func(m *parquetformat.FileMetaData) {
			m.RowGroups = slices.Repeat(m.RowGroups, 2)
		}),
		"a value too few":                column(func(m *parquetformat.ColumnMetaData) { m.NumValues = 2 }),
		"a column behind the end":        column(func(m *parquetformat.ColumnMetaData) { m.TotalCompressedSize = math.MaxInt64 }),
		"a column before the start":      column(func(m *parquetformat.ColumnMetaData) { m.DataPageOffset = -1 }),
		"a dictionary that is somewhere": column(func(m *parquetformat.ColumnMetaData) { m.DictionaryPageOffset = 5 }),

		"a dictionary of 2^31 values":       pages(dictionaryOf(most, parquetformat.Plain, text), one),
		"a dictionary behind the last page": pages(one, dictionaryOf(most, parquetformat.Plain, text)),
		"a dictionary of deltas":            pages(dictionaryOf(1, parquetformat.DeltaLengthByteArray, deltas), one),
		"a dictionary in a page of data":    pages(one, mixed(one, most)),
		"a page that is cut off":            pages(madePage{header: one.header}),
		"a page of an index":                pages(one, madePage{header: parquetformat.PageHeader{Type: parquetformat.IndexPage}}),
		"levels as values":                  pages(pageOf(1, parquetformat.BitPacked, text)),
		"2^31 lengths":                      pages(pageOf(1, parquetformat.DeltaLengthByteArray, deltas)),
		"a run of 2^31 places":              places(1, 1, run),
		"two runs of places":                places(2000, 1, twice),
		"2^31 places of no bits":            places(1, 0, packed),
		"a run of 2^31 booleans":            leaf(pageOf(1, parquetformat.RLE, sized(run)), parquetformat.Boolean, parquetformat.Required),
		"a run of 2^31 levels": leaf(
			pageOf(1, parquetformat.Plain, slices.Concat(sized(run), text)), parquetformat.ByteArray, parquetformat.Optional),
		"a run of 2^31 levels of repetition": leaf(
			pageOf(1, parquetformat.Plain, slices.Concat(sized(run), sized([]byte{2, 1}), text)), parquetformat.ByteArray, parquetformat.Repeated),
		"a run of 2^31 levels of version 2": leaf(version2(1, run, text), parquetformat.ByteArray, parquetformat.Optional),
	}
}

// A Parquet file of some bytes cannot take the memory, the stack or the time of one of GiB.
//
// spec: file-parquet
func TestParquetFilesThatLieOfThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	refused := func(name string, data []byte, want string) {
		if _, err := readAll(t, contract.FileParquet, data); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, data := range hostileParquet(t) {
		refused(name, data, "The Parquet file is damaged, or is of a kind that cannot be read.")
	}
	// Nulls of 1 GiB, for which the library makes room.
	wide := newParquet(t, pageOf(8, parquetformat.ByteStreamSplit, []byte{2, 0, 0, 0, 16, 0}))
	wide.metadata.Schema[1] = parquetformat.SchemaElement{
		Name: "a", Type: someOf(parquetformat.FixedLenByteArray), TypeLength: someOf[int32](1 << 30), RepetitionType: someOf(parquetformat.Optional),
	}
	const large = "The pages of the Parquet file are too large to be read; write smaller ones."
	refused("nulls of 1 GiB", wide.bytes(t), large)
	// A list of 2 million booleans in each of two pages, and of 4 million in both.
	const booleans = 2 << 20
	list := func(first byte) madePage {
		repetition := slices.Concat(runOf(1, first), runOf(booleans-1, 1))
		return pageOf(booleans, parquetformat.Plain, slices.Concat(sized(repetition), sized(runOf(booleans, 1)), make([]byte, booleans/8)))
	}
	lists := func(pages ...madePage) []byte {
		f := newParquet(t, pages...)
		f.metadata.Schema[1].Type, f.metadata.Schema[1].RepetitionType = someOf(parquetformat.Boolean), someOf(parquetformat.Repeated)
		return f.bytes(t)
	}
	refused("long rows", lists(list(0), list(0)), "Row 1: a row may have 1 MiB.")
	refused("a row of two pages", lists(list(0), list(1)), large)
	sound := newParquet(t, pageOf(1, parquetformat.Plain, []byte("\x01\x00\x00\x00x"))).bytes(t)
	if r, err := readAll(t, contract.FileParquet, sound); err != nil || len(r.rows) != 1 || r.rows[0].Cells[0] != "x" {
		t.Errorf("a sound file: %v, %v", r.rows, err)
	}
}

// groups are groups in each other, with a leaf in the last.
func groups(n int, leaf parquetformat.SchemaElement) []parquetformat.SchemaElement {
	group := parquetformat.SchemaElement{Name: "g", NumChildren: someOf[int32](1)}
	return append(slices.Repeat([]parquetformat.SchemaElement{group}, n), leaf)
}

// groupOf is a row group of a column with another codec.
func groupOf(m parquetformat.ColumnMetaData, codec parquetformat.CompressionCodec) parquetformat.RowGroup {
	m.Codec = codec
	return parquetformat.RowGroup{Columns: []parquetformat.ColumnChunk{{MetaData: m}}, NumRows: 1}
}

// mixed is a page that has the header of a dictionary too.
func mixed(p madePage, values int32) madePage {
	p.header.DictionaryPageHeader = someOf(parquetformat.DictionaryPageHeader{NumValues: values})
	return p
}

func version2(values int32, definition, body []byte) madePage {
	all := slices.Concat(definition, body)
	h := parquetformat.DataPageHeaderV2{NumValues: values, NumRows: values, DefinitionLevelsByteLength: int32(len(definition))}
	size := int32(len(all))
	return madePage{parquetformat.PageHeader{
		Type: parquetformat.DataPageV2, UncompressedPageSize: size, CompressedPageSize: size, DataPageHeaderV2: someOf(h),
	}, all}
}
