package tabular

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// container is the bytes of a file, which may be compressed (spec: file-compressed).
type container struct {
	src  *source
	kind string // gzip, Zstandard or ZIP; "": the file is not compressed
	file *zip.File
}

// openContainer finds out how a file is compressed. A ZIP file that is a workbook itself is not compressed for readers of workbooks.
func openContainer(src *source, workbooks bool) (container, error) {
	c := container{src: src}
	start := make([]byte, 4)
	n, _ := src.ReadAt(start, 0) // which is short at the end of the file
	if src.fault != nil || n < len(start) {
		return c, src.fault
	}
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		c.kind = "gzip"
	case bytes.Equal(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		c.kind = "Zstandard"
	case bytes.Equal(start, []byte("PK\x03\x04")):
		archive, err := openZip(src)
		if err != nil {
			if workbooks {
				return c, nil // its reader says what it is not
			}
			return c, src.problem(err, "The ZIP file is damaged.")
		}
		if workbooks && isOffice(archive) {
			return c, nil
		}
		c.kind = "ZIP"
		for _, f := range archive.File {
			if f.FileInfo().IsDir() || strings.HasPrefix(f.Name, "__MACOSX/") || strings.HasSuffix(f.Name, ".DS_Store") {
				continue
			}
			if c.file != nil {
				return c, &UnusableError{"The ZIP file has several files. Upload each by itself."}
			}
			c.file = f
		}
		if c.file == nil {
			return c, &UnusableError{"The ZIP file has no file."}
		}
		if c.file.Flags&1 != 0 {
			return c, &UnusableError{"The ZIP file is protected with a password."}
		}
	}
	return c, nil
}

// openZip reads the directory of a ZIP file, which may have directoryBytes.
func openZip(src *source) (*zip.Reader, error) {
	defer func(left int64) { src.left = left }(src.left)
	src.left = directoryBytes
	return zip.NewReader(src, src.file.Size())
}

// isOffice reports whether a ZIP file is a document of an office program.
func isOffice(archive *zip.Reader) bool {
	for _, f := range archive.File {
		if name := partName(f.Name); name == "[content_types].xml" || name == "_rels/.rels" || name == "mimetype" {
			return true
		}
	}
	return false
}

// open begins to read the bytes, which may be as many as MaxGrowth says.
func (c *container) open() (io.Reader, error) {
	raw := io.NewSectionReader(c.src, 0, c.src.file.Size())
	var expanded io.Reader
	var err error
	switch c.kind {
	case "":
		return raw, nil
	case "gzip":
		expanded, err = gzip.NewReader(bufio.NewReaderSize(raw, 64<<10))
	case "Zstandard":
		expanded, err = zstd.NewReader(bufio.NewReaderSize(raw, 64<<10),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
	default:
		expanded, err = c.file.Open()
	}
	r := &expandedReader{c: c, from: expanded, growth: growth{part: "The expanded bytes", file: c.src.file.Size()}}
	return r, r.problem(ended(err))
}

// expandedReader is the bytes of a container.
type expandedReader struct {
	growth
	c    *container
	from io.Reader
}

// Read implements io.Reader.
func (r *expandedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if grown := r.add(int64(n)); grown != nil {
		return 0, grown
	}
	return n, r.problem(err)
}

func (r *expandedReader) problem(err error) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF && r.c.src.fault == nil: //nolint:errorlint // readers return it as it is
		return err
	case errors.Is(err, zip.ErrAlgorithm):
		return &UnusableError{"The ZIP file is compressed in a way that few programs read. Make it with Deflate, as most do."}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &UnusableError{"The Zstandard file refers back farther than 32 MiB. Compress it without --long and --ultra."}
	}
	return r.c.src.problem(err, "The "+r.c.kind+" file is damaged.")
}

// section is the bytes of a container that is read in any order. They are in a spill, which is to be closed.
func (c *container) section() (*io.SectionReader, *spill, error) {
	from, err := c.open()
	if err != nil {
		return nil, nil, err
	}
	kept := &spill{}
	if _, err := io.Copy(struct{ io.Writer }{kept}, from); err != nil {
		kept.close()
		return nil, nil, err
	}
	return io.NewSectionReader(kept, 0, kept.size), kept, nil
}
