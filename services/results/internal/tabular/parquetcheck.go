package tabular

import (
	"errors"
	"io"

	parquetformat "github.com/parquet-go/parquet-go/format"
)

// What a Parquet file may take of memory, whatever its pages say (spec: file-parquet).
const (
	pagesBytes  = 96 << 20 // of the largest pages of all columns, which are in memory together
	valueBytes  = 6        // that a value takes beside its page: its levels and its index in the dictionary
	cellBytes   = 24       // of each value of a row, whose lists are all in memory
	headerBytes = 8 << 20  // of a page's header, which may have the smallest and the largest value
)

var errPages = &UnusableError{"The pages of the Parquet file are too large to be read; write smaller ones."}

// checkParquet reads the metadata, which is the file from one offset to another, and all pages, in the way in which the library
// will read them. It refuses a file that would take more memory, stack or time than a sound one: the library believes what a file
// says of itself.
func checkParquet(s *source, from, to int64) (fields, leaves []*parquetField, err error) {
	if from < 0 {
		return nil, nil, errors.New("the footer is larger than the file")
	}
	footer := make([]byte, to-from)
	if _, err := s.ReadAt(footer, from); err != nil {
		return nil, nil, err
	}
	if _, err := thriftLength(footer); err != nil {
		return nil, nil, err
	}
	var metadata parquetformat.FileMetaData
	if err := decodeThrift(footer, &metadata); err != nil {
		return nil, nil, err
	}
	if fields, leaves, err = parquetFields(metadata.Schema); err != nil {
		return nil, nil, err
	}
	return fields, leaves, checkPages(s, from, &metadata, leaves)
}

// checkPages checks all pages, which must lie before the offset end.
func checkPages(s *source, end int64, metadata *parquetformat.FileMetaData, leaves []*parquetField) error {
	largest := make([]int64, len(leaves)) // bytes of memory
	room, left := int64(pagesBytes), end
	for _, group := range metadata.RowGroups {
		if len(group.Columns) != len(leaves) {
			return errors.New("a row group lacks columns")
		}
		for i, leaf := range leaves {
			m := &group.Columns[i].MetaData
			if m.Codec != metadata.RowGroups[0].Columns[i].MetaData.Codec { // the library takes the first for all
				return errors.New("a column has two codecs")
			}
			if left -= max(0, m.TotalCompressedSize); left < 0 { // else a small file could have the same pages read many times
				return errors.New("columns are in the same place")
			}
			taken, err := checkChunk(s, end, m, leaf, room+largest[i])
			if err != nil {
				return err
			}
			if taken > largest[i] {
				room -= taken - largest[i]
				largest[i] = taken
			}
		}
	}
	return nil
}

// checkChunk checks the pages of a column in a row group. It returns how many bytes of memory the largest of them take, which may
// be no more than most.
func checkChunk(s *source, end int64, m *parquetformat.ColumnMetaData, leaf *parquetField, most int64) (taken int64, err error) {
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	if at < 0 || m.TotalCompressedSize < 0 || m.TotalCompressedSize > end-at {
		return 0, errors.New("a column is outside of the file")
	}
	end = at + m.TotalCompressedSize
	var values int64
	var dictionary, pages, before int64 // bytes of memory; before: of the earlier pages that the page's first row fills
	var r rowCounter
	for at < end {
		header, length, err := pageHeader(s, at, end)
		if err != nil {
			return 0, err
		}
		at += length
		size := int64(header.CompressedPageSize)
		if size > end-at {
			return 0, errors.New("a page is cut off")
		}
		p, err := newPage(&header, leaf, &r)
		if err != nil {
			return 0, err
		}
		if p.dictionary {
			dictionary = max(dictionary, p.memory())
		}
		pages = max(pages, dictionary+before+p.memory())
		if pages > most {
			return 0, errPages
		}
		if err := p.check(m.Codec, io.NewSectionReader(s, at, size)); err != nil {
			return 0, err
		}
		at += size
		if p.dictionary {
			continue
		}
		values += p.values
		before += p.memory()
		if r.started {
			before = 0
		}
		leaf.longest = max(leaf.longest, r.longest)
		if taken = pages + leaf.longest*cellBytes; taken > most {
			return 0, errPages
		}
	}
	if values < m.NumValues {
		return 0, errors.New("a column lacks values")
	}
	return taken, nil
}

// pageHeader reads the header of the page at an offset, and returns the header with its length. The page lies before end.
func pageHeader(s *source, at, end int64) (header parquetformat.PageHeader, length int64, err error) {
	for window := int64(512); ; window *= 16 { // most headers have some tens of bytes
		window = min(window, headerBytes, end-at)
		b := make([]byte, window)
		if _, err := s.ReadAt(b, at); err != nil {
			return header, 0, err
		}
		n, err := thriftLength(b)
		if errors.Is(err, io.ErrUnexpectedEOF) && window < min(headerBytes, end-at) {
			continue
		}
		if err != nil {
			return header, 0, err
		}
		if err := decodeThrift(b[:n], &header); err != nil {
			return header, 0, err
		}
		if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 {
			return header, 0, errors.New("a page has a negative size")
		}
		return header, int64(n), nil
	}
}
