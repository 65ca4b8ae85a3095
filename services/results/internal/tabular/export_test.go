package tabular

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// NewSheetWriter writes xlsx with smaller sheets than Excel's.
var NewSheetWriter = newSheetWriter

// Decoded is a text in an encoding as UTF-8.
var Decoded = decoded

// Strings are the shared strings of a workbook.
type Strings struct{ sharedStrings }

func NewStrings() *Strings { return &Strings{} }

func (s *Strings) Add(text string) error           { return s.add([]byte(text)) }
func (s *Strings) At(number int64) (string, error) { return s.at(number) }
func (s *Strings) InMemory() bool                  { return s.texts.file == nil }

// ReadInFile is Read of a Parquet file whose pages are all in the temporary file.
func ReadInFile(
	ctx context.Context, _ prism.FileFormat, _ Options, src *io.SectionReader, copied io.Writer, note func(store.FileChunk) error,
) (layout Layout, rows int64, err error) {
	c := &chunker{ctx: ctx, note: note, place: "Row"}
	if layout, err = readParquetIn(0, src, copied, c); err == nil {
		err = c.end()
	}
	c.describe(&layout)
	return layout, c.rows, err
}

// The codecs that are not those of a library.
const (
	Snappy = codecSnappy
	LZ4    = codecLZ4
	LZ4Raw = codecLZ4Raw
)

// Expand decompresses a page that says of itself to have most bytes, with so many bytes of memory.
func Expand(codec, most, memory int64, compressed []byte) ([]byte, error) {
	s := &space{memory: memory}
	defer s.close()
	r := region{space: s}
	if err := r.begin(most); err != nil {
		return nil, err
	}
	var e expander
	defer e.close()
	if err := e.expand(codec, bufio.NewReader(bytes.NewReader(compressed)), &r); err != nil {
		return nil, err
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	c := r.cursor(0, r.size)
	var all []byte
	for c.left() > 0 {
		part, err := c.take(min(c.left(), 100_000))
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}
