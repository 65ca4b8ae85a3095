package tabular_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
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
