package tabular

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/prism"
)

const (
	// maxGroup is how many bytes the rows of a group take in memory at most, with what is written of them, and maxPlain how many they have
	// without dictionaries and compression: both stay below 8 MiB. A row that needs more is a group of its own (spec: parquet-row-groups).
	maxGroup, maxPlain = 8 << 20, 6 << 20
	// perByte is how many bytes in memory a byte of a row group takes, as its parts are in buffers that double, and once more while it is
	// written.
	perByte = 4
	// groupPatience is when a row group ends however small it is, so that whoever reads the table sees that it goes on.
	groupPatience = 20 * time.Second
	// groupStep is by how much a row group asks for more memory.
	groupStep = 256 << 10
	// maxFooter bounds what is kept of all row groups until the end, as Parquet has it there.
	maxFooter = 64 << 20
	pageBytes = 64 << 10
	// pageChunk is what a column takes for its first compressed byte, and leafBytes all that it takes for its first value.
	pageChunk, leafBytes = 4 << 10, 20 << 10
	// encoderBytes is about what compressing takes.
	encoderBytes = 1 << 20
	parquetMagic = "PAR1"
)

var errParquetTooLarge = errors.New("tabular: a table of Parquet with too many row groups")

// Parquet writes a table of Parquet (spec: parquet-columns). Each row group is written by a writer of its own, and its metadata is kept as
// the bytes that the footer has: the library's writer keeps ten times as much of each group until the end.
type Parquet struct {
	to      io.Writer
	columns []ParquetColumn
	raw     bool
	schema  *parquet.Schema
	codec   *parquetCodec
	more    func(held int) bool
	room    int // that more has allowed
	group   *parquet.GenericWriter[any]
	leaves  []*parquet.ColumnWriter // of the group
	began   time.Time               // the group
	plain   int                     // bytes of the rows of the group, as maxPlain counts them
	data    dataPart
	offset  int64 // bytes written
	rows    int64
	groups  [][]byte // their metadata
	footer  int      // bytes of groups
	values  []parquet.Value
}

// NewParquet begins a table. Its last column has raw answers if it has any. more reports whether the table may hold so many bytes in
// memory: where it may not, a row group ends early. A row is written nevertheless.
func NewParquet(to io.Writer, columns []ParquetColumn, raw string, more func(held int) bool) (*Parquet, error) {
	p := &Parquet{to: to, columns: columns, raw: raw != "", schema: parquetSchema(columns, raw), codec: &parquetCodec{}, more: more}
	p.offset = int64(len(parquetMagic))
	_, err := io.WriteString(to, parquetMagic)
	return p, err
}

// Least is about how many bytes the table holds in memory with a small row.
func (p *Parquet) Least() int {
	return p.base() + groupStep
}

// HeldBytes is about how many bytes the table holds in memory.
func (p *Parquet) HeldBytes() int { return p.footer + p.groupHeld(0) }

// groupHeld is about how many bytes the row group takes with further ones.
func (p *Parquet) groupHeld(more int) int {
	if p.group == nil {
		return 0
	}
	return p.base() + perByte*(int(p.group.Size())+more)
}

// base is about how many bytes a row group takes before its first row.
func (p *Parquet) base() int { return encoderBytes + len(p.schema.Columns())*leafBytes }

// Row writes a row: a cell for each column and, if the table has raw answers, those, which are null for a nil one.
func (p *Parquet) Row(cells []prism.Cell, raw *prism.Answers) error {
	size, plain := cellsBytes(cells)
	if raw != nil && p.raw {
		more, plainMore := rawBytes(*raw)
		size, plain = size+more, plain+plainMore
	}
	if p.group != nil && !p.fits(size, plain) {
		if err := p.endGroup(); err != nil {
			return err
		}
	}
	if p.group == nil {
		p.beginGroup()
	}
	p.plain += plain
	for i, c := range cells {
		if err := p.write(i, append(p.values[:0], p.columns[i].value(c))); err != nil {
			return err
		}
	}
	if p.raw {
		if err := p.writeRaw(len(cells), raw); err != nil {
			return err
		}
	}
	p.rows++
	return nil
}

// fits reports whether the row group may have a row.
func (p *Parquet) fits(size, plain int) bool {
	held := p.groupHeld(size)
	return held-p.base() <= maxGroup && p.plain+plain <= maxPlain && time.Since(p.began) <= groupPatience && p.mayHold(p.footer+held)
}

// write writes the values of a leaf for a row.
func (p *Parquet) write(leaf int, values []parquet.Value) error {
	p.values = values
	if _, err := p.leaves[leaf].WriteRowValues(values); err != nil {
		return fmt.Errorf("tabular: a row of Parquet: %w", err)
	}
	return nil
}

// mayHold asks for memory in steps.
func (p *Parquet) mayHold(held int) bool {
	if held <= p.room {
		return true
	}
	step := (held + groupStep - 1) / groupStep * groupStep
	if p.more != nil && !p.more(step) {
		return false
	}
	p.room = step
	return true
}

func (p *Parquet) beginGroup() {
	p.began, p.plain = time.Now(), 0
	p.data = dataPart{to: p.to, skip: len(parquetMagic)}
	options := []parquet.WriterOption{
		p.schema, parquet.Compression(p.codec), parquet.PageBufferSize(pageBytes), parquet.WriteBufferSize(0),
		parquet.ColumnPageBuffers(parquet.NewChunkBufferPool(pageChunk)), parquet.DataPageStatistics(false), parquet.DataPageVersion(1),
	}
	for _, path := range p.schema.Columns() {
		if len(path) > 1 || p.columns[p.columnNamed(path[0])].long() {
			options = append(options, parquet.SkipPageBounds(path...)) // texts of 100,000 characters have no place in a footer
		}
	}
	p.group = parquet.NewGenericWriter[any](&p.data, options...)
	p.leaves = p.group.ColumnWriters()
}

// endGroup writes the row group, if there is one, and keeps its metadata.
func (p *Parquet) endGroup() error {
	if p.group == nil {
		return nil
	}
	group := p.group
	p.group, p.leaves = nil, nil
	if to, ok := p.to.(interface{ Grow(n int) }); ok {
		to.Grow(int(group.Size()) + groupStep/2)
	}
	err := group.Flush()
	p.data.ended = true // an index of pages and a footer of the group alone follow
	if err == nil {
		err = group.Close()
	}
	if err != nil {
		return fmt.Errorf("tabular: a row group of Parquet: %w", err)
	}
	metadata := group.File().Metadata().RowGroups[0]
	metadata.FileOffset = p.offset
	metadata.Ordinal = int16(len(p.groups)) //nolint:gosec // see below
	for i := range metadata.Columns {
		c := &metadata.Columns[i]
		c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0
		c.MetaData.EncodingStats, c.MetaData.SizeStatistics = nil, format.SizeStatistics{}
		c.MetaData.DataPageOffset += p.offset - int64(len(parquetMagic))
		if c.MetaData.DictionaryPageOffset != 0 {
			c.MetaData.DictionaryPageOffset += p.offset - int64(len(parquetMagic))
		}
	}
	encoded, err := thrift.Marshal(new(thrift.CompactProtocol), &metadata)
	if err != nil {
		return fmt.Errorf("tabular: the metadata of a row group: %w", err)
	}
	p.offset += p.data.written
	p.groups = append(p.groups, encoded)
	if p.footer += len(encoded); p.footer > maxFooter || len(p.groups) > math.MaxInt16 {
		return errParquetTooLarge
	}
	return nil
}

// Close writes the end of the table.
func (p *Parquet) Close() error {
	if err := p.endGroup(); err != nil {
		return err
	}
	footer, err := p.metadata()
	if err != nil {
		return fmt.Errorf("tabular: the metadata of Parquet: %w", err)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer))) //nolint:gosec // below maxFooter and the schema
	_, err = p.to.Write(append(footer, parquetMagic...))
	return err
}

// Headers of fields and lists in Thrift's compact protocol: how far the number of a field is from the one before, and the type.
const (
	thriftListField, thriftBinaryField, thriftI32Field, thriftI64Field = 0x19, 0x28, 0x15, 0x16
	thriftStructs, thriftLong, thriftStop                              = 0x0c, 0xf0, 0
)

// metadata is FileMetaData with the row groups as they are kept: the schema comes from the metadata of a table without rows.
func (p *Parquet) metadata() ([]byte, error) {
	empty := parquet.NewGenericWriter[any](io.Discard, p.schema)
	if err := empty.Close(); err != nil {
		return nil, err
	}
	metadata := empty.File().Metadata()
	b := binary.AppendVarint([]byte{thriftI32Field}, int64(metadata.Version))
	b = appendStructs(append(b, thriftListField), len(metadata.Schema))
	for i := range metadata.Schema {
		element, err := thrift.Marshal(new(thrift.CompactProtocol), &metadata.Schema[i])
		if err != nil {
			return nil, err
		}
		b = append(b, element...)
	}
	b = binary.AppendVarint(append(b, thriftI64Field), p.rows)
	b = appendStructs(append(b, thriftListField), len(p.groups))
	for _, g := range p.groups {
		b = append(b, g...)
	}
	b = binary.AppendUvarint(append(b, thriftBinaryField), uint64(len(metadata.CreatedBy)))
	b = append(b, metadata.CreatedBy...)
	b = appendStructs(append(b, thriftListField), len(metadata.ColumnOrders))
	for range metadata.ColumnOrders { // each is TypeDefinedOrder, the only one
		b = append(b, 1<<4|thriftStructs, thriftStop, thriftStop)
	}
	return append(b, thriftStop), nil
}

// appendStructs appends the header of a list of structs.
func appendStructs(b []byte, n int) []byte {
	if n < 15 {
		return append(b, byte(n)<<4|thriftStructs) //nolint:gosec // below 15
	}
	return binary.AppendUvarint(append(b, thriftLong|thriftStructs), uint64(n))
}

// dataPart passes on the pages of a row group: what its writer writes, without the magic before and the rest behind.
type dataPart struct {
	to      io.Writer
	skip    int
	ended   bool
	written int64
}

func (d *dataPart) Write(b []byte) (int, error) {
	if d.ended {
		return len(b), nil
	}
	skipped := min(d.skip, len(b))
	d.skip -= skipped
	n, err := d.to.Write(b[skipped:])
	d.written += int64(n)
	return skipped + n, err
}

// parquetCodec compresses with one encoder and a small window: the library's codec takes 8 MiB for its window.
type parquetCodec struct{ encoder *zstd.Encoder }

func (*parquetCodec) String() string { return "ZSTD" }

func (*parquetCodec) CompressionCodec() format.CompressionCodec { return format.Zstd }

func (c *parquetCodec) Encode(dst, src []byte) ([]byte, error) {
	if c.encoder == nil {
		var err error
		if c.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(4*pageBytes), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true)); err != nil {
			return nil, err
		}
	}
	return c.encoder.EncodeAll(src, dst[:0]), nil
}

func (*parquetCodec) Decode([]byte, []byte) ([]byte, error) {
	return nil, errors.New("tabular: a table that is written is not read")
}
