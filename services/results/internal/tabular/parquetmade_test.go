package tabular_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"
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

// maxGroups is how many groups may be in each other.
const maxGroups = 32

// named is a schema of so many leaves with names of 1 MiB.
func named(n int, leaf parquetformat.SchemaElement) []parquetformat.SchemaElement {
	schema := []parquetformat.SchemaElement{{Name: "root", NumChildren: someOf(int32(n))}}
	for range n {
		leaf.Name = strings.Repeat("x", 1<<20)
		schema = append(schema, leaf)
	}
	return schema
}

// columnOf is a file of one row group with so many values in its pages.
func columnOf(t testing.TB, values int64, pages ...madePage) []byte {
	t.Helper()
	f := newParquet(t, pages...)
	f.column().NumValues = values
	return f.bytes(t)
}

// rowsOf is a file of one row group with all values of pages as its rows.
func rowsOf(t testing.TB, pages ...madePage) []byte {
	t.Helper()
	f := newParquet(t, pages...)
	f.column().NumValues = 0
	for _, p := range pages {
		f.column().NumValues += int64(p.header.DataPageHeader.V.NumValues)
	}
	f.metadata.RowGroups[0].NumRows = f.column().NumValues
	return f.bytes(t)
}

// optionalOf is a file of one row group with so many values, which may be null, as its rows.
func optionalOf(t testing.TB, values int64, pages ...madePage) []byte {
	t.Helper()
	f := newParquet(t, pages...)
	f.column().NumValues, f.metadata.RowGroups[0].NumRows = values, values
	f.metadata.Schema[1].RepetitionType = someOf(parquetformat.Optional)
	return f.bytes(t)
}

// nestedOf is a file of one row group with so many values of a field in a group, both of which are optional.
func nestedOf(t testing.TB, values int64, pages ...madePage) []byte {
	t.Helper()
	repetition := someOf(parquetformat.Optional)
	f := newParquet(t, pages...)
	f.column().NumValues, f.metadata.RowGroups[0].NumRows = values, values
	group := parquetformat.SchemaElement{Name: "a", NumChildren: someOf[int32](1), RepetitionType: repetition}
	leaf := parquetformat.SchemaElement{Name: "b", Type: someOf(parquetformat.ByteArray), RepetitionType: repetition}
	f.metadata.Schema = []parquetformat.SchemaElement{f.metadata.Schema[0], group, leaf}
	return f.bytes(t)
}

// repeatedOf is a file with three row groups in one place.
func repeatedOf(t testing.TB, pages ...madePage) []byte {
	t.Helper()
	f := newParquet(t, pages...)
	f.metadata.RowGroups = slices.Repeat(f.metadata.RowGroups, 3)
	return f.bytes(t)
}

// withoutMetadata is a footer whose column has no metadata in the clear.
func withoutMetadata(t testing.TB) []byte {
	t.Helper()
	f := newParquet(t)
	f.metadata.RowGroups = nil
	footer := marshalled(t, &f.metadata)
	group := []byte{0x19, 0x1c, 0x26, 8, 0, 0x26, 2, 0x26, 2, 0} // columns [{file_offset: 4}], sizes and rows of 1
	at := bytes.LastIndex(footer, []byte{0x19, 0x0c})            // the empty list of row groups
	return slices.Concat(footer[:at], []byte{0x19, 0x1c}, group, footer[at+2:])
}

// fixedOf is a file of values of a length, which may be null.
func fixedOf(t testing.TB, length int32, p madePage) []byte {
	t.Helper()
	f := newParquet(t, p)
	values := int64(p.header.DataPageHeader.V.NumValues)
	f.column().Type, f.column().NumValues, f.metadata.RowGroups[0].NumRows = parquetformat.FixedLenByteArray, values, values
	f.metadata.Schema[1] = parquetformat.SchemaElement{
		Name: "a", Type: someOf(parquetformat.FixedLenByteArray), TypeLength: someOf(length), RepetitionType: someOf(parquetformat.Optional),
	}
	return f.bytes(t)
}

// listOf is a file of lists, each page with 2 million booleans whose first one has the level.
func listOf(t testing.TB, levels ...byte) []byte {
	t.Helper()
	const booleans = 2 << 20
	var pages []madePage
	for _, first := range levels {
		repetition := slices.Concat(runOf(1, first), runOf(booleans-1, 1))
		pages = append(pages, pageOf(booleans, parquetformat.Plain,
			slices.Concat(sized(repetition), sized(runOf(booleans, 1)), make([]byte, booleans/8))))
	}
	f := newParquet(t, pages...)
	f.column().Type, f.column().NumValues = parquetformat.Boolean, int64(booleans*len(levels))
	f.metadata.Schema[1].Type, f.metadata.Schema[1].RepetitionType = someOf(parquetformat.Boolean), someOf(parquetformat.Repeated)
	return f.bytes(t)
}

// largePage is a page that says of itself to have 2 GiB.
func largePage(p madePage) madePage {
	p.header.UncompressedPageSize = math.MaxInt32
	return p
}

// otherLevels is a page whose levels are in PLAIN.
func otherLevels(p madePage) madePage {
	p.header.DataPageHeader.V.DefinitionLevelEncoding = parquetformat.Plain
	return p
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

// version2 is a page of version 2 whose levels have so many bytes more than it has.
func version2(values int32, definition, body []byte, more int32) madePage {
	all := slices.Concat(definition, body)
	h := parquetformat.DataPageHeaderV2{NumValues: values, NumRows: values, DefinitionLevelsByteLength: int32(len(definition)) + more}
	size := int32(len(all))
	return madePage{parquetformat.PageHeader{
		Type: parquetformat.DataPageV2, UncompressedPageSize: size, CompressedPageSize: size, DataPageHeaderV2: someOf(h),
	}, all}
}
