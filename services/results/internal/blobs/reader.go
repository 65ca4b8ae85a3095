package blobs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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
	part  func(number int64) part // the first has the number 1
}

// part is a part of a Source. It has no name if it is not known, and no digest in a copy.
type part struct {
	name   string
	digest *[sha256.Size]byte
}

// Whole is the bytes of a file. Only those of the given parts can be read, which are in order and without a gap.
func Whole(b Blobs, file store.FileOwner, bytes int64, parts []store.Part) Source {
	return Source{b, file, bytes, func(n int64) part {
		if len(parts) == 0 || n < int64(parts[0].Number) || n >= int64(parts[0].Number)+int64(len(parts)) {
			return part{}
		}
		p := &parts[n-int64(parts[0].Number)]
		return part{Part(p.Number, p.SHA256), &p.SHA256}
	}}
}

// Copied is the bytes of a copy.
func Copied(b Blobs, file store.FileOwner, c store.Copy) Source {
	return Source{b, file, c.Bytes, func(n int64) part { return part{name: copyPart(c.ID, n)} }}
}

var (
	// errRange: the range is outside of the bytes.
	errRange = errors.New("blobs: a range of a file is missing")
	// errContent: what has answered, or what is behind it, has cut off a content or changed it.
	errContent = fmt.Errorf("blobs: %w: a content is shorter than its part, or another one", store.ErrUnavailable)
)

// Range reads a range without reading the rest of its parts. A part that is read as a whole has its digest.
func (s Source) Range(ctx context.Context, offset, bytes int64) ([]byte, error) {
	if offset < 0 || bytes < 0 || offset > s.bytes-bytes {
		return nil, errRange
	}
	var data []byte
	for int64(len(data)) < bytes {
		at := offset + int64(len(data))
		n := min(bytes-int64(len(data)), contract.PartBytes-at%contract.PartBytes)
		p := s.part(at/contract.PartBytes + 1)
		if p.name == "" {
			return nil, errRange
		}
		content, err := s.blobs.Get(ctx, s.file, p.name, at%contract.PartBytes, n)
		if err != nil {
			return nil, err
		}
		whole := at%contract.PartBytes == 0 && n == min(contract.PartBytes, s.bytes-at)
		if int64(len(content)) != n || whole && p.digest != nil && sha256.Sum256(content) != *p.digest {
			return nil, errContent
		}
		if n == bytes { // the range is of one part
			return content, nil
		}
		if data == nil {
			data = make([]byte, 0, bytes)
		}
		data = append(data, content...)
	}
	return data, nil
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
	recent []keptPart // the part that was used last is the last one
}

type keptPart struct {
	number  int64
	content []byte
}

// Section is the bytes as an io.SectionReader, which can be read until ctx ends. keeps is InOrder or AnyOrder.
func (s Source) Section(ctx context.Context, keeps int) *io.SectionReader {
	return io.NewSectionReader(&Reader{ctx: ctx, source: s, keeps: keeps}, 0, s.bytes)
}

// faultError is the error of a storage. Within it there may be the end of a connection, io.EOF, by which readers would take the bytes that
// they have for all that there are.
type faultError struct{ err error }

func (f faultError) Error() string { return f.err.Error() }

// Is implements the interface of errors.Is.
func (f faultError) Is(target error) bool {
	return !errors.Is(target, io.EOF) && !errors.Is(target, io.ErrUnexpectedEOF) && errors.Is(f.err, target)
}

// As implements the interface of errors.As.
func (f faultError) As(target any) bool { return errors.As(f.err, target) }

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
			return n, faultError{err}
		}
		n += copy(p[n:], content[at%contract.PartBytes:])
	}
	return n, nil
}

// part is a part of the bytes, as a whole.
func (r *Reader) part(number int64) ([]byte, error) {
	if i := slices.IndexFunc(r.recent, func(k keptPart) bool { return k.number == number }); i >= 0 {
		k := r.recent[i]
		r.recent = append(slices.Delete(r.recent, i, i+1), k)
		return k.content, nil
	}
	if len(r.recent) == r.keeps {
		r.recent = slices.Delete(r.recent, 0, 1)
	}
	first := (number - 1) * contract.PartBytes
	content, err := r.source.Range(r.ctx, first, min(contract.PartBytes, r.source.bytes-first))
	if err != nil {
		return nil, err
	}
	r.recent = append(r.recent, keptPart{number, content})
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

// Discard deletes what was stored. What is not found now is deleted with the file.
func (w *Writer) Discard(ctx context.Context) error {
	if !w.begun {
		return nil
	}
	tried := store.Copy{ID: w.copy.ID, Bytes: w.copy.Bytes + 1}
	_, err := w.blobs.Delete(ctx, w.file, CopyOf(w.copy.ID), Known(nil, tried)...)
	w.begun = err != nil
	return err
}
