package tabular

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// The codecs of pages.
const (
	codecNone = iota
	codecSnappy
	codecGzip
	codecLZO
	codecBrotli
	codecLZ4 // as Hadoop writes it, or as codecLZ4Raw
	codecZstd
	codecLZ4Raw
)

// zstdWindow is how far back a page of Zstandard may refer: as far as the highest usual level does.
const zstdWindow = 32 << 20

// expander decompresses pages in constant memory. Its zero value is ready.
type expander struct {
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

func (e *expander) close() {
	if e.zstd != nil {
		e.zstd.Close()
	}
}

// checkCodec refuses what expand does not know.
func checkCodec(codec int64) error {
	switch {
	case codec == codecLZO:
		return damage("it is compressed with LZO, which cannot be read; write it with another compression")
	case codec < codecNone || codec > codecLZ4Raw:
		return damage(fmt.Sprintf("it has a compression with the number %d, which cannot be read", codec))
	}
	return nil
}

// expand decompresses from into a region.
func (e *expander) expand(codec int64, from *bufio.Reader, into *region) error {
	if _, err := from.Peek(1); errors.Is(err, io.EOF) { // a page without values has no bytes, with any codec
		return nil
	}
	var stream io.Reader = from
	var err error
	switch codec {
	case codecSnappy:
		return expandSnappy(from, into)
	case codecLZ4:
		return expandHadoop(from, into)
	case codecLZ4Raw:
		return expandLZ4(from, into)
	case codecGzip:
		if e.gzip == nil {
			e.gzip = new(gzip.Reader)
		}
		stream, err = e.gzip, e.gzip.Reset(from)
	case codecBrotli:
		if e.brotli == nil {
			e.brotli = new(brotli.Reader)
		}
		stream, err = e.brotli, e.brotli.Reset(from)
	case codecZstd:
		if e.zstd == nil {
			e.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		}
		if err == nil {
			stream, err = e.zstd, e.zstd.Reset(from)
		}
	}
	if err == nil {
		_, err = io.Copy(into, stream)
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return damage("a page of ZSTD refers back farther than 32 MiB")
	}
	return err
}

// expandSnappy decompresses a block of Snappy.
//
// Source: https://github.com/google/snappy/blob/main/format_description.txt
func expandSnappy(from *bufio.Reader, into *region) error {
	before := into.size
	length, err := binary.ReadUvarint(from)
	if err != nil {
		return errCodec
	}
	if length > uint64(into.limit-into.size) { //nolint:gosec // limit is the larger one
		return errGrows
	}
	for {
		tag, err := from.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && tag&3 == 0 {
			err = snappyLiteral(int64(tag>>2), from, into)
		} else if err == nil {
			err = snappyCopy(tag, from, into, before)
		}
		if err != nil {
			return err
		}
	}
	if uint64(into.size-before) != length { //nolint:gosec // what was written
		return errCodec
	}
	return nil
}

// snappyLiteral copies n + 1 bytes; from 60 on, n says how many bytes the number has that follows.
func snappyLiteral(n int64, from *bufio.Reader, into *region) (err error) {
	if n >= 60 {
		if n, err = littleEndian(from, int(n-59)); err != nil {
			return err
		}
	}
	return copyBytes(from, into, n+1)
}

// snappyCopy repeats bytes of the block, which begins at an offset.
func snappyCopy(tag byte, from *bufio.Reader, into *region, begin int64) error {
	n, bytes, high := int64(tag>>2)+1, 2, int64(0)
	switch tag & 3 {
	case 1:
		n, bytes, high = int64(tag>>2&7)+4, 1, int64(tag>>5)<<8
	case 3:
		bytes = 4
	}
	back, err := littleEndian(from, bytes)
	if err != nil {
		return err
	}
	return into.repeat(high|back, n, begin)
}

// littleEndian reads a number of up to 4 bytes.
func littleEndian(from *bufio.Reader, bytes int) (n int64, err error) {
	for i := range bytes {
		b, err := from.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		n |= int64(b) << (8 * i)
	}
	return n, nil
}

func copyBytes(from *bufio.Reader, into *region, n int64) error {
	if n > into.limit-into.size {
		return errGrows
	}
	_, err := io.CopyN(into, from, n)
	return unexpected(err)
}

// unexpected is the error of compressed bytes that end too early.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return errShort
	}
	return err
}

// expandLZ4 decompresses a block of LZ4.
//
// Source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
func expandLZ4(from *bufio.Reader, into *region) error {
	before := into.size
	for {
		token, err := from.ReadByte()
		if err != nil {
			return unexpected(err)
		}
		n, err := lz4Length(from, int64(token>>4))
		if err == nil {
			err = copyBytes(from, into, n)
		}
		if err != nil {
			return err
		}
		if _, err := from.Peek(1); errors.Is(err, io.EOF) { // the last sequence has no reference
			return nil
		}
		back, err := littleEndian(from, 2)
		if err != nil {
			return err
		}
		if n, err = lz4Length(from, int64(token&0x0f)); err == nil {
			err = into.repeat(back, n+4, before)
		}
		if err != nil {
			return err
		}
	}
}

// lz4Length reads the rest of a length.
func lz4Length(from *bufio.Reader, n int64) (int64, error) {
	for more := n == 15; more; {
		b, err := from.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		n, more = n+int64(b), b == 0xff
	}
	return n, nil
}

// expandHadoop decompresses blocks of LZ4 as Hadoop writes them: behind their sizes. Other writers of the codec leave out the sizes;
// these then are larger than the page.
func expandHadoop(from *bufio.Reader, into *region) error {
	for first := true; ; first = false {
		sizes, err := from.Peek(8)
		if errors.Is(err, io.EOF) && len(sizes) == 0 {
			return nil
		}
		if len(sizes) < 8 || int64(binary.BigEndian.Uint32(sizes)) > into.limit-into.size {
			if first {
				return expandLZ4(from, into)
			}
			return errCodec
		}
		expanded, compressed := int64(binary.BigEndian.Uint32(sizes)), int64(binary.BigEndian.Uint32(sizes[4:]))
		_, _ = from.Discard(8) // they were peeked
		before := into.size
		if err := expandLZ4(bufio.NewReader(io.LimitReader(from, compressed)), into); err != nil {
			return err
		}
		if into.size-before != expanded {
			return errCodec
		}
	}
}
