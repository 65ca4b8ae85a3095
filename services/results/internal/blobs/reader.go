package blobs

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Source is the bytes of a file, or of a copy, in parts of contract.PartBytes.
type Source struct {
	blobs Blobs
	file  store.FileOwner
	bytes int64
	name  func(number int64) string // of a part, or "" if the part is not known; the first has the number 1
}

// Whole is the bytes of a file. Only those of the given parts can be read, which are in order and without a gap.
func Whole(b Blobs, file store.FileOwner, bytes int64, parts []store.Part) Source {
	return Source{b, file, bytes, func(n int64) string {
		if len(parts) == 0 || n < int64(parts[0].Number) || n >= int64(parts[0].Number)+int64(len(parts)) {
			return ""
		}
		p := parts[n-int64(parts[0].Number)]
		return Part(p.Number, p.SHA256)
	}}
}

// Copied is the bytes of a copy.
func Copied(b Blobs, file store.FileOwner, c store.Copy) Source {
	return Source{b, file, c.Bytes, func(n int64) string { return copyPart(c.ID, n) }}
}

// errRange: the range is outside of the bytes, or a content is shorter than its part.
var errRange = errors.New("blobs: a range of a file is missing")

// Range reads a range without reading the rest of its parts.
func (s Source) Range(ctx context.Context, offset, bytes int64) ([]byte, error) {
	if offset < 0 || bytes < 0 || offset > s.bytes-bytes {
		return nil, errRange
	}
	var found []byte
	for int64(len(found)) < bytes {
		at := offset + int64(len(found))
		n := min(bytes-int64(len(found)), contract.PartBytes-at%contract.PartBytes)
		name := s.name(at/contract.PartBytes + 1)
		if name == "" {
			return nil, errRange
		}
		content, err := s.blobs.Get(ctx, s.file, name, at%contract.PartBytes, n)
		if err != nil {
			return nil, err
		}
		if int64(len(content)) != n {
			return nil, errRange
		}
		if n == bytes { // the range is of one part
			return content, nil
		}
		if found == nil {
			found = make([]byte, 0, bytes)
		}
		found = append(found, content...)
	}
	return found, nil
}

// How many parts a Reader keeps.
const (
	// InOrder is for bytes that are read in order.
	InOrder = 1
	// AnyOrder is for readers of columns, which go back and forth between a few places.
	AnyOrder = 8
)

// Reader reads bytes in any order. It keeps the parts that were read last. Not for concurrent use.
type Reader struct {
	ctx    context.Context //nolint:containedctx // io.ReaderAt has none
	source Source
	keeps  int
	kept   []keptPart // the part that was used last is the last one
}

type keptPart struct {
	number  int64
	content []byte
}

// Section is the bytes as an io.SectionReader, which can be read until ctx ends. keeps is InOrder or AnyOrder.
func (s Source) Section(ctx context.Context, keeps int) *io.SectionReader {
	return io.NewSectionReader(&Reader{ctx: ctx, source: s, keeps: keeps}, 0, s.bytes)
}

// ReadAt implements io.ReaderAt.
func (r *Reader) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errRange
	}
	for n < len(p) {
		at := offset + int64(n)
		if at >= r.source.bytes {
			return n, io.EOF
		}
		content, err := r.part(at/contract.PartBytes + 1)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], content[at%contract.PartBytes:])
	}
	return n, nil
}

// part is a part of the bytes, as a whole.
func (r *Reader) part(number int64) ([]byte, error) {
	if i := slices.IndexFunc(r.kept, func(k keptPart) bool { return k.number == number }); i >= 0 {
		k := r.kept[i]
		r.kept = append(slices.Delete(r.kept, i, i+1), k)
		return k.content, nil
	}
	if len(r.kept) == r.keeps {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	first := (number - 1) * contract.PartBytes
	content, err := r.source.Range(r.ctx, first, min(contract.PartBytes, r.source.bytes-first))
	if err != nil {
		return nil, err
	}
	r.kept = append(r.kept, keptPart{number, content})
	return content, nil
}

// Writer writes a copy of a file in parts.
type Writer struct {
	ctx   context.Context //nolint:containedctx // io.Writer has none
	blobs Blobs
	file  store.FileOwner
	copy  store.Copy
	part  []byte // what is not stored yet
	begun bool
}

// NewWriter writes a copy with an id that no other copy of the file has.
func NewWriter(ctx context.Context, b Blobs, file store.FileOwner, id prism.UUID) *Writer {
	return &Writer{ctx: ctx, blobs: b, file: file, copy: store.Copy{ID: id}}
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (n int, err error) {
	for n < len(p) {
		take := min(len(p)-n, contract.PartBytes-len(w.part))
		w.part = append(w.part, p[n:n+take]...)
		if len(w.part) == contract.PartBytes {
			if err := w.store(); err != nil {
				return n, err
			}
		}
		n += take
	}
	return n, nil
}

// End stores what is left, and returns the copy: the zero value if nothing was written.
func (w *Writer) End() (store.Copy, error) {
	if len(w.part) > 0 {
		if err := w.store(); err != nil {
			return store.Copy{}, err
		}
	}
	if w.copy.Bytes == 0 {
		return store.Copy{}, nil
	}
	return w.copy, nil
}

func (w *Writer) store() error {
	w.begun = true
	number := w.copy.Bytes/contract.PartBytes + 1
	if err := w.blobs.Put(w.ctx, w.file, copyPart(w.copy.ID, number), w.part); err != nil {
		return err
	}
	w.copy.Bytes += int64(len(w.part))
	w.part = w.part[:0]
	return nil
}

// Discard deletes what was stored.
func (w *Writer) Discard(ctx context.Context) error {
	if !w.begun {
		return nil
	}
	err := w.blobs.Delete(ctx, w.file, CopyOf(w.copy.ID))
	w.begun = err != nil
	return err
}
