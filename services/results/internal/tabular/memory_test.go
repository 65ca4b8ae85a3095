package tabular_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// repeated is a file of a header and a block that comes again and again.
type repeated struct{ header, block []byte }

func (f repeated) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(f.header)) {
		n = copy(p, f.header[at:])
	}
	for n < len(p) {
		from := (at + int64(n) - int64(len(f.header))) % int64(len(f.block))
		n += copy(p[n:], f.block[from:])
	}
	return n, nil
}

// repeatedCSV is a csv of many blocks of a megabyte, each of whole rows.
func repeatedCSV(blocks int64) (file *io.SectionReader, rows int64) {
	var block bytes.Buffer
	each := int64(0)
	for ; block.Len() < 1<<20; each++ {
		fmt.Fprintf(&block, "%d,\"Where, I ask \"\"you\"\",\nis my card?\",plain text as long as a ticket may be,%d\r\n", each, each%7)
	}
	f := repeated{[]byte("\ufeffid,text,note,n\r\n"), block.Bytes()}
	return io.NewSectionReader(f, 0, int64(len(f.header))+blocks*int64(block.Len())), blocks * each
}

// spec: file-memory
func TestReadingALargeFileTakesLittleMemory(t *testing.T) { // not parallel: it measures the heap
	const blocks = 128
	src, want := repeatedCSV(blocks)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	_, rows, err := tabular.Read(t.Context(), prism.FileCSV, tabular.Options{}, src, io.Discard, func(c store.FileChunk) error {
		if c.Number%500 == 0 {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		return nil
	})
	if err != nil || rows != want {
		t.Fatalf("%d rows of %d: %v", rows, want, err)
	}
	runtime.ReadMemStats(&now)
	if allocated := now.TotalAlloc - before.TotalAlloc; most > before.HeapAlloc+4<<20 || allocated > 4<<20 {
		t.Errorf("%d MB took %d KiB of heap and allocated %d KiB", src.Size()>>20, (most-before.HeapAlloc)>>10, allocated>>10)
	}
}

// What reading may take of the heap, whatever the file says: the parts of a reader that have bounds of their own, together.
const (
	mostGrowth = 96 << 20
	lookEvery  = 16 << 20 // allocated bytes after which the heap is looked at
	mostCopied = 8 << 20  // that a test keeps
)

// errLargeCopy: the rows are more than a test keeps. They were read to the end.
var errLargeCopy = errors.New("a large copy")

// heap measures how far the heap grows.
type heap struct {
	before, allocated, most uint64
	copied                  int64
}

func heapNow() (live, allocated uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

// look collects garbage and measures what is left, if enough was allocated since it last did.
func (h *heap) look() {
	_, allocated := heapNow()
	if allocated-h.allocated < lookEvery {
		return
	}
	runtime.GC()
	live, allocated := heapNow()
	h.allocated = allocated
	if live > h.before {
		h.most = max(h.most, live-h.before)
	}
}

// heapFile and heapCopy look at the heap whenever something is read from a file, and written to the copy.
type heapFile struct {
	io.ReaderAt
	heap *heap
}

func (f heapFile) ReadAt(p []byte, at int64) (int, error) {
	f.heap.look()
	return f.ReaderAt.ReadAt(p, at)
}

type heapCopy struct {
	io.Writer
	heap *heap
}

func (c heapCopy) Write(p []byte) (int, error) {
	c.heap.look()
	if c.heap.copied += int64(len(p)); c.heap.copied > mostCopied {
		return len(p), nil
	}
	return c.Writer.Write(p)
}

// measured is a reader that tells how far the heap grew. It fails with errLargeCopy if the copy is too large to compare.
func measured(by reader, grown *uint64) reader {
	return func(
		ctx context.Context, format prism.FileFormat, options tabular.Options, src *io.SectionReader, copied io.Writer, note func(store.FileChunk) error,
	) (tabular.Layout, int64, error) {
		var h heap
		if h.before, h.allocated = heapNow(); h.before > lookEvery { // some of it may be garbage
			runtime.GC()
			h.before, h.allocated = heapNow()
		}
		src = io.NewSectionReader(heapFile{src, &h}, 0, src.Size())
		layout, rows, err := by(ctx, format, options, src, heapCopy{copied, &h}, func(c store.FileChunk) error {
			h.look()
			return note(c)
		})
		h.look()
		*grown = h.most
		if err == nil && h.copied > mostCopied {
			err = errLargeCopy
		}
		return layout, rows, err
	}
}

// spec: file-memory
func TestWhatAReaderTakesOfTheHeapIsMeasured(t *testing.T) { // not parallel: it measures the heap
	const taken = 2 * mostGrowth
	hoarder := func(
		_ context.Context, _ prism.FileFormat, _ tabular.Options, src *io.SectionReader, _ io.Writer, _ func(store.FileChunk) error,
	) (layout tabular.Layout, rows int64, err error) {
		hoard := make([]byte, taken)
		_, err = src.ReadAt(make([]byte, 1), 0)
		runtime.KeepAlive(hoard)
		return layout, rows, err
	}
	var grown uint64
	if _, _, err := measured(hoarder, &grown)(t.Context(), prism.FileCSV, tabular.Options{}, section([]byte("a")), io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if grown < taken-lookEvery || grown > taken+lookEvery { // there may be garbage before
		t.Errorf("%d MiB of %d", grown>>20, taken>>20)
	}
}

// The bytes of an operation are the same for 8 MiB and for 64 MiB.
func BenchmarkRead(b *testing.B) {
	for _, blocks := range []int64{8, 64} {
		b.Run(fmt.Sprintf("csv/%dMiB", blocks), func(b *testing.B) {
			src, _ := repeatedCSV(blocks)
			b.SetBytes(src.Size())
			b.ReportAllocs()
			for b.Loop() {
				again := io.NewSectionReader(src, 0, src.Size())
				_, _, err := tabular.Read(b.Context(), prism.FileCSV, tabular.Options{}, again, io.Discard, func(store.FileChunk) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRows parses the rows of one chunk.
func BenchmarkRows(b *testing.B) {
	src, _ := repeatedCSV(1)
	var chunk store.FileChunk
	layout, _, err := tabular.Read(b.Context(), prism.FileCSV, tabular.Options{}, src, io.Discard, func(c store.FileChunk) error {
		if c.Number == 0 {
			chunk = c
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, chunk.Bytes)
	if _, err := src.ReadAt(data, chunk.Offset); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(chunk.Bytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := layout.Rows(prism.FileCSV, chunk, data); err != nil {
			b.Fatal(err)
		}
	}
}
