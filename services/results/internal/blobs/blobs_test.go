package blobs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
)

// owner is a file of an account.
func owner(account, file byte) store.FileOwner {
	return store.FileOwner{
		Account: prism.AccountID{UUID: prism.UUID{account}}, ID: prism.FileID{UUID: prism.UUID{file}},
	}
}

// random is so many bytes, the same for the same number.
func random(n int) []byte {
	b := make([]byte, n)
	source := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = source.Read(b)
	return b
}

// suite is what every kind of Blobs passes. b is empty.
func suite(t *testing.T, b blobs.Blobs) {
	t.Helper()
	ctx, mine := t.Context(), owner(1, 1)
	content := random(contract.PartBytes)
	puts := func(f store.FileOwner, name string, content []byte) {
		t.Helper()
		if err := b.Put(ctx, f, name, content); err != nil {
			t.Fatal(err)
		}
	}
	has := func(f store.FileOwner, name string, want []byte) {
		t.Helper()
		got, err := b.Get(ctx, f, name, 0, contract.PartBytes)
		if want == nil && !errors.Is(err, store.ErrContentMissing) || want != nil && (err != nil || !bytes.Equal(got, want)) {
			t.Errorf("%s of %v has %d bytes, %v; want %d", name, f, len(got), err, len(want))
		}
	}
	has(mine, "part-1", nil)
	puts(mine, "part-1", content)
	puts(mine, "part-1", content)
	has(mine, "part-1", content)
	for _, r := range [][2]int64{{0, 1}, {5, 7}, {contract.PartBytes - 2, 9}, {0, contract.PartBytes + 9}, {contract.PartBytes, 3}} {
		got, err := b.Get(ctx, mine, "part-1", r[0], r[1])
		if want := content[r[0]:min(r[0]+r[1], contract.PartBytes)]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("the range %v has %d bytes, %v", r, len(got), err)
		}
	}
	// Names are of their file and account alone.
	puts(mine, "part-2", []byte("mine"))
	puts(owner(1, 2), "part-2", []byte("of another file"))
	puts(owner(2, 1), "part-2", []byte("theirs"))
	puts(mine, "copy-1", []byte("1"))
	puts(mine, "copy-2", []byte("2"))
	has(mine, "part-2", []byte("mine"))
	for range 2 {
		if _, err := b.Delete(ctx, mine, "copy-"); err != nil {
			t.Fatal(err)
		}
	}
	has(mine, "copy-1", nil)
	has(mine, "copy-2", nil)
	has(mine, "part-1", content)
	for range 2 {
		if _, err := b.Delete(ctx, mine, ""); err != nil {
			t.Fatal(err)
		}
	}
	has(mine, "part-1", nil)
	has(mine, "part-2", nil)
	has(owner(1, 2), "part-2", []byte("of another file"))
	has(owner(2, 1), "part-2", []byte("theirs"))
	// Calls that store a content at once all find it whole.
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			puts(mine, "part-9", content)
			has(mine, "part-9", content)
		})
	}
	group.Wait()
	sources(t, b)
}

// sources stores a file and a copy of a few parts, and reads them back in every way.
func sources(t *testing.T, b blobs.Blobs) {
	t.Helper()
	ctx, file := t.Context(), owner(3, 3)
	const size = 3*contract.PartBytes + 17
	content := random(size)
	var parts []store.Part
	for at := 0; at < size; at += contract.PartBytes {
		data := content[at:min(at+contract.PartBytes, size)]
		p := store.Part{Number: int32(len(parts)) + 1, SHA256: sha256.Sum256(data)}
		if err := b.Put(ctx, file, blobs.Part(p.Number, p.SHA256), data); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	w := blobs.NewWriter(ctx, b, file, prism.UUID{7})
	for rest := content; len(rest) > 0; {
		n, err := w.Write(rest[:min(len(rest), 700_000)])
		if err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	made, err := w.End()
	if err != nil || made != (store.Copy{ID: prism.UUID{7}, Bytes: size}) {
		t.Fatalf("the copy is %+v, %v", made, err)
	}
	for name, s := range map[string]blobs.Source{
		"file": blobs.Whole(b, file, size, parts), "copy": blobs.Copied(b, file, made),
	} {
		if got, err := io.ReadAll(s.Section(ctx, blobs.InOrder)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: read %d bytes, %v", name, len(got), err)
		}
		const border = contract.PartBytes - 9
		if err := iotest.TestReader(io.NewSectionReader(s.Section(ctx, blobs.InOrder), border, 20), content[border:][:20]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, r := range [][2]int64{{0, 0}, {0, size}, {border, 12}, {contract.PartBytes, contract.PartBytes}, {size - 1, 1}} {
			if got, err := s.Range(ctx, r[0], r[1]); err != nil || !bytes.Equal(got, content[r[0]:r[0]+r[1]]) {
				t.Errorf("%s: the range %v has %d bytes, %v", name, r, len(got), err)
			}
		}
		for _, r := range [][2]int64{{size, 1}, {-1, 1}, {0, size + 1}, {1, -1}} {
			if _, err := s.Range(ctx, r[0], r[1]); err == nil {
				t.Errorf("%s: the range %v is none of it", name, r)
			}
		}
	}
}

// spec: file-preview
func TestARangeIsReadWithTheFewPartsThatAreKnown(t *testing.T) {
	t.Parallel()
	b, file := blobs.InFolder(t.TempDir()), owner(1, 1)
	content := random(contract.PartBytes)
	known := []store.Part{{Number: 3, SHA256: [32]byte{3}}}
	if err := b.Put(t.Context(), file, blobs.Part(3, [32]byte{3}), content); err != nil {
		t.Fatal(err)
	}
	s := blobs.Whole(b, file, 9*contract.PartBytes, known)
	if got, err := s.Range(t.Context(), 2*contract.PartBytes+5, 7); err != nil || !bytes.Equal(got, content[5:12]) {
		t.Errorf("%v, %v", got, err)
	}
	for _, at := range []int64{0, 2*contract.PartBytes - 1, 3*contract.PartBytes - 1} {
		if _, err := s.Range(t.Context(), at, 2); err == nil {
			t.Errorf("the range from %d is of parts that are not known", at)
		}
	}
}

// spec: file-parts
func TestADatabaseKeepsContents(t *testing.T) {
	t.Parallel()
	suite(t, blobs.InDatabase(sqlitetest.New(t)))
}

// spec: file-parts
func TestAFolderKeepsContents(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	suite(t, blobs.InFolder(dir))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("%s is for others too: %s", path, info.Mode())
		}
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, fmt.Errorf("%s is left behind", path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWrittenKeepsNoHalfOfAContent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := blobs.InFolder(dir)
	err := b.Put(t.Context(), owner(1, 1), "part-1", []byte("content"))
	if err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}

// counting counts what is read.
type counting struct {
	blobs.Blobs
	reads, writes int
	fail          error
}

func (c *counting) Get(ctx context.Context, f store.FileOwner, name string, offset, n int64) ([]byte, error) {
	c.reads++
	return c.Blobs.Get(ctx, f, name, offset, n)
}

func (c *counting) Put(ctx context.Context, f store.FileOwner, name string, content []byte) error {
	c.writes++
	if c.fail != nil {
		return c.fail
	}
	return c.Blobs.Put(ctx, f, name, content)
}

// spec: file-reading
func TestAReaderReadsEachPartOnceWhileItGoesForthAndBack(t *testing.T) {
	t.Parallel()
	c := &counting{Blobs: blobs.InFolder(t.TempDir())}
	w := blobs.NewWriter(t.Context(), c, owner(1, 1), prism.UUID{1})
	const parts = 20
	if _, err := w.Write(random(parts * contract.PartBytes)); err != nil {
		t.Fatal(err)
	}
	made, err := w.End()
	if err != nil || c.writes != parts {
		t.Fatalf("%d parts, %v", c.writes, err)
	}
	section := blobs.Copied(c, owner(1, 1), made).Section(t.Context(), blobs.AnyOrder)
	small := make([]byte, 100)
	for at := int64(0); at < 2*contract.PartBytes; at += 50_000 {
		for _, place := range []int64{at, at + 10*contract.PartBytes, at + 15*contract.PartBytes} {
			if _, err := section.ReadAt(small, place); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.reads != 6 {
		t.Errorf("6 parts were read %d times", c.reads)
	}
	for at := range int64(parts) {
		if _, err := section.ReadAt(small, at*contract.PartBytes); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := section.ReadAt(small, 0); err != nil || c.reads < 6+parts-2 {
		t.Errorf("%d reads, %v: a reader keeps few parts", c.reads, err)
	}
}

func TestACopyThatCannotBeStoredIsAnError(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	w := blobs.NewWriter(t.Context(), &counting{fail: full}, owner(1, 1), prism.UUID{1})
	if _, err := w.Write(random(contract.PartBytes + 1)); !errors.Is(err, full) {
		t.Errorf("a write: %v", err)
	}
	w = blobs.NewWriter(t.Context(), &counting{fail: full}, owner(1, 1), prism.UUID{1})
	if _, err := w.Write([]byte("short")); err != nil {
		t.Error(err)
	}
	if _, err := w.End(); !errors.Is(err, full) {
		t.Errorf("the end: %v", err)
	}
}

func TestACopyOfNothingIsNone(t *testing.T) {
	t.Parallel()
	if made, err := blobs.NewWriter(t.Context(), &counting{}, owner(1, 1), prism.UUID{1}).End(); err != nil || made != (store.Copy{}) {
		t.Errorf("%+v, %v", made, err)
	}
}
