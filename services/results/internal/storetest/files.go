package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/store"
)

// upload is a file of mine that is uploading.
func (f *fixture) upload(t *testing.T) files.File {
	t.Helper()
	file := files.File{
		ID: prism.FileID{UUID: f.id()}, Name: "tickets “März”.csv", Format: prism.FileCSV, Bytes: prism.MaxFileBytes,
		SHA256: &[32]byte{1, 31: 2}, Status: prism.FileUploading, CreatedAt: moment(1), ExpiresAt: moment(1).Add(files.UploadTime),
	}
	succeeds(t, f.CreateFile(t.Context(), f.mine.account, file))
	return file
}

func (f *fixture) file(t *testing.T, id prism.FileID) files.File {
	t.Helper()
	file, err := f.File(t.Context(), f.mine.account, id)
	succeeds(t, err)
	return file
}

// reading is a file of mine that is leased until an hour after moment(2).
func (f *fixture) reading(t *testing.T) files.Lease {
	t.Helper()
	file := f.upload(t)
	succeeds(t, f.SetReading(t.Context(), f.mine.account, file.ID, moment(2)))
	l, err := f.TakeReading(t.Context(), f.ownedFile(file.ID), f.id(), moment(2), moment(2).Add(time.Hour))
	succeeds(t, err)
	return l
}

func (f *fixture) ownedFile(id prism.FileID) store.FileOwner {
	return store.FileOwner{Account: f.mine.account, ID: id}
}

// chunks are n chunks of two rows each, from a number on.
func chunks(from, n int32) (some []store.FileChunk) {
	for i := from; i < from+n; i++ {
		some = append(some, store.FileChunk{
			Number: i, FirstRow: int64(2*i) + 1, Rows: 2, Offset: prism.MaxFileBytes + int64(i), Bytes: 1 << 20, Line: int64(i) + 3,
		})
	}
	return some
}

// read is a file of mine that is ready, with so many chunks.
func (f *fixture) read(t *testing.T, n int32) files.File {
	t.Helper()
	l := f.reading(t)
	succeeds(t, f.RenewReading(t.Context(), l, moment(3).Add(time.Hour), chunks(0, n)))
	l.File.Status, l.File.Rows, l.File.Chunks, l.File.Layout = prism.FileReady, int64(2*n), n, []byte(`{"columns":[]}`)
	l.File.Copy = store.Copy{ID: l.Token, Bytes: 9}
	succeeds(t, f.EndReading(t.Context(), l, l.File))
	return l.File
}

func part(number int32, content byte) store.Part {
	return store.Part{Number: number, Bytes: contract.PartBytes, SHA256: [32]byte{content, 31: 1}}
}

// spec: file-states, file-parts
func fileTests() []test {
	return []test{
		{"a file is found as it was stored, by its account alone", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			same(t, f.file(t, file.ID), file)
			_, err := f.File(t.Context(), f.theirs.account, file.ID)
			failsWith(t, err, store.ErrNotFound)
			_, err = f.File(t.Context(), f.mine.account, prism.FileID{UUID: f.id()})
			failsWith(t, err, store.ErrNotFound)
		}},
		{"a list has the files of an account, newest first, in pages", func(t *testing.T, f *fixture) {
			first, second, third := f.upload(t), f.upload(t), f.upload(t)
			got, more, err := f.ListFiles(t.Context(), f.mine.account, store.Page{Limit: 2})
			succeeds(t, err)
			same(t, got, []files.File{third, second})
			same(t, more, true)
			got, more, err = f.ListFiles(t.Context(), f.mine.account, store.Page{Limit: 2, After: second.ID.UUID})
			succeeds(t, err)
			same(t, got, []files.File{first})
			same(t, more, false)
			got, _, err = f.ListFiles(t.Context(), f.theirs.account, store.Page{Limit: 2})
			succeeds(t, err)
			same(t, len(got), 0)
		}},
		{"a part is stored once, and its first content stays", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			for _, p := range []store.Part{part(7, 1), part(7, 1), part(7, 2), part(2, 3)} {
				digest, err := f.PutPart(t.Context(), f.mine.account, file.ID, p)
				succeeds(t, err)
				same(t, digest == p.SHA256, p != part(7, 2))
			}
			parts, err := f.Parts(t.Context(), f.mine.account, file.ID, 1, 9)
			succeeds(t, err)
			same(t, parts, []store.Part{part(2, 3), part(7, 1)})
			parts, err = f.Parts(t.Context(), f.mine.account, file.ID, 3, 7)
			succeeds(t, err)
			same(t, parts, []store.Part{part(7, 1)})
			parts, err = f.Parts(t.Context(), f.mine.account, file.ID, 1, 6)
			succeeds(t, err)
			same(t, parts, []store.Part{part(2, 3)})
			_, err = f.PutPart(t.Context(), f.theirs.account, file.ID, part(1, 1))
			failsWith(t, err, store.ErrNotFound)
			parts, err = f.Parts(t.Context(), f.theirs.account, file.ID, 1, 9)
			succeeds(t, err)
			same(t, len(parts), 0)
		}},
		{"of calls that send a part with different contents at once one content is stored", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			var digests [8][32]byte
			for _, err := range together(len(digests), func(i int) (err error) {
				digests[i], err = f.PutPart(t.Context(), f.mine.account, file.ID, part(1, byte(i/2)))
				return err
			}) {
				succeeds(t, err)
			}
			parts, err := f.Parts(t.Context(), f.mine.account, file.ID, 1, 9)
			succeeds(t, err)
			same(t, len(parts), 1)
			for _, digest := range digests {
				same(t, digest, parts[0].SHA256)
			}
		}},
		{"a file that is read takes no new part, and knows those that it has", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			_, err := f.PutPart(t.Context(), f.mine.account, file.ID, part(1, 1))
			succeeds(t, err)
			succeeds(t, f.SetReading(t.Context(), f.mine.account, file.ID, moment(2)))
			digest, err := f.PutPart(t.Context(), f.mine.account, file.ID, part(1, 2))
			succeeds(t, err)
			same(t, digest, part(1, 1).SHA256)
			_, err = f.PutPart(t.Context(), f.mine.account, file.ID, part(2, 2))
			failsWith(t, err, store.ErrFileState)
		}},
		// spec: file-read-again
		{"a file that was read is read again with what says how, and its chunks go", func(t *testing.T, f *fixture) {
			layout := []byte(`{"options":{"header_row":2}}`)
			file := f.read(t, 2)
			succeeds(t, f.ReadAgain(t.Context(), f.mine.account, file.ID, layout, moment(4)))
			got := f.file(t, file.ID)
			same(t, got.Status, prism.FileReading)
			same(t, string(got.Layout), string(layout))
			same(t, got.Copy, store.Copy{})
			l, err := f.TakeReading(t.Context(), f.ownedFile(file.ID), f.id(), moment(5), moment(6))
			succeeds(t, err)
			same(t, string(l.File.Layout), string(layout))
			succeeds(t, f.RenewReading(t.Context(), l, moment(7), chunks(0, 3)))
			succeeds(t, f.RenewReading(t.Context(), l, moment(7), chunks(0, 1))) // the reading began anew
			succeeds(t, f.ReadAgain(t.Context(), f.mine.account, file.ID, layout, moment(8)))
			failsWith(t, f.RenewReading(t.Context(), l, moment(9), nil), store.ErrNotFound)
			again, err := f.TakeReading(t.Context(), f.ownedFile(file.ID), f.id(), moment(9), moment(10))
			succeeds(t, err)
			succeeds(t, f.RenewReading(t.Context(), again, moment(10), chunks(0, 3)))
			succeeds(t, f.RenewReading(t.Context(), again, moment(10), chunks(0, 1)))
			again.File.Status, again.File.Rows, again.File.Chunks = prism.FileReady, 2, 1
			succeeds(t, f.EndReading(t.Context(), again, again.File))
			_, err = f.FileChunk(t.Context(), f.mine.account, file.ID, 0)
			succeeds(t, err)
			_, err = f.FileChunk(t.Context(), f.mine.account, file.ID, 1)
			failsWith(t, err, store.ErrNotFound)
		}},
		{"a file that is uploading, or of another account, is not read again", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			failsWith(t, f.ReadAgain(t.Context(), f.mine.account, file.ID, []byte("{}"), moment(2)), store.ErrFileState)
			failsWith(t, f.ReadAgain(t.Context(), f.theirs.account, file.ID, []byte("{}"), moment(2)), store.ErrNotFound)
		}},
		// spec: open-uploads
		{"an account has twenty files that are uploading at once, whoever asks at the same time", func(t *testing.T, f *fixture) {
			create := func(account prism.AccountID) error {
				return f.CreateFile(t.Context(), account, files.File{
					ID: prism.FileID{UUID: f.id()}, Name: "a", Format: prism.FileCSV, Bytes: 1, CreatedAt: moment(1), ExpiresAt: moment(9),
				})
			}
			ready, deleted := f.read(t, 1), f.upload(t)
			created := 0
			for _, err := range together(25, func(int) error { return create(f.mine.account) }) {
				if err == nil {
					created++
				} else {
					failsWith(t, err, store.ErrTooManyUploads)
				}
			}
			same(t, created, store.MaxUploads-1)
			succeeds(t, create(f.theirs.account))
			succeeds(t, f.DeleteFile(t.Context(), f.mine.account, ready.ID, f.by(moment(5))))
			failsWith(t, create(f.mine.account), store.ErrTooManyUploads)
			for _, free := range []func() error{
				func() error { return f.DeleteFile(t.Context(), f.mine.account, deleted.ID, f.by(moment(5))) },
				func() error {
					files, _, err := f.ListFiles(t.Context(), f.mine.account, store.Page{Limit: 1})
					succeeds(t, err)
					return f.SetReading(t.Context(), f.mine.account, files[0].ID, moment(5))
				},
			} {
				succeeds(t, free())
				succeeds(t, create(f.mine.account))
				failsWith(t, create(f.mine.account), store.ErrTooManyUploads)
			}
			failsWith(t, create(prism.AccountID{UUID: f.id()}), store.ErrNotFound)
		}},
		// spec: file-complete
		{"how far a file was hashed changes only from where it was", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			ten, nine := files.Hashed{Parts: 10, State: []byte("ten")}, files.Hashed{Parts: 9, State: []byte("nine")}
			succeeds(t, f.SetHashed(t.Context(), f.mine.account, file.ID, 0, ten))
			succeeds(t, f.SetHashed(t.Context(), f.mine.account, file.ID, 0, nine))
			succeeds(t, f.SetHashed(t.Context(), f.theirs.account, file.ID, 10, nine))
			same(t, f.file(t, file.ID).Hashed, ten)
		}},
		{"a file becomes reading once, and then lives longer", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			for _, at := range []time.Time{moment(2), moment(3)} {
				succeeds(t, f.SetReading(t.Context(), f.mine.account, file.ID, at))
			}
			file.Status, file.ExpiresAt = prism.FileReading, moment(2).Add(files.KeepTime)
			same(t, f.file(t, file.ID), file)
			failsWith(t, f.SetReading(t.Context(), f.theirs.account, file.ID, moment(2)), store.ErrNotFound)
		}},
		{"contents are kept by name, and deleted by the beginning of their names", func(t *testing.T, f *fixture) { f.contents(t) }},
	}
}

func (f *fixture) contents(t *testing.T) {
	t.Helper()
	file := store.FileOwner{Account: f.mine.account, ID: prism.FileID{UUID: f.id()}}
	other := store.FileOwner{Account: f.theirs.account, ID: file.ID}
	content := bytes.Repeat([]byte{0, 255, 'a', '\\'}, contract.PartBytes/4)
	succeeds(t, f.PutContent(t.Context(), file, "part-1", content))
	succeeds(t, f.PutContent(t.Context(), file, "part-1", []byte("later")))
	for i := range 70 { // more than one statement deletes
		succeeds(t, f.PutContent(t.Context(), file, fmt.Sprint("copy-", i), []byte{byte(i)}))
	}
	succeeds(t, f.PutContent(t.Context(), other, "copy-1", []byte("theirs")))
	for _, c := range []struct{ offset, bytes int64 }{{0, contract.PartBytes}, {1, 5}, {contract.PartBytes - 3, 9}, {contract.PartBytes, 1}} {
		got, err := f.Content(t.Context(), file, "part-1", c.offset, c.bytes)
		succeeds(t, err)
		if want := content[c.offset:min(c.offset+c.bytes, contract.PartBytes)]; !bytes.Equal(got, want) {
			t.Errorf("from %d there are %d bytes, want %d", c.offset, len(got), len(want))
		}
	}
	succeeds(t, f.DeleteContents(t.Context(), file, "copy-"))
	_, err := f.Content(t.Context(), file, "copy-69", 0, 1)
	failsWith(t, err, store.ErrNotFound)
	_, err = f.Content(t.Context(), file, "part-1", 0, 1)
	succeeds(t, err)
	succeeds(t, f.DeleteContents(t.Context(), file, ""))
	_, err = f.Content(t.Context(), file, "part-1", 0, 1)
	failsWith(t, err, store.ErrNotFound)
	got, err := f.Content(t.Context(), other, "copy-1", 0, 9)
	succeeds(t, err)
	same(t, string(got), "theirs")
}

// spec: file-reading
func readingTests() []test {
	return []test{
		{"a file that waits is leased to one worker at a time, each time with a new token", func(t *testing.T, f *fixture) {
			l := f.reading(t)
			same(t, l.Account, f.mine.account)
			same(t, l.File.Readings, 1)
			failsWith(t, second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(3), moment(4))), store.ErrNotFound)
			errs := together(4, func(int) error {
				return second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(2).Add(time.Hour), moment(2).Add(2*time.Hour)))
			})
			winner(t, errs, is(store.ErrNotFound))
			failsWith(t, f.RenewReading(t.Context(), l, moment(9), chunks(0, 1)), store.ErrNotFound)
			failsWith(t, f.EndReading(t.Context(), l, l.File), store.ErrNotFound)
			succeeds(t, f.ReturnReading(t.Context(), l, moment(0)))
			failsWith(t, second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(3), moment(4))), store.ErrNotFound)
			same(t, f.file(t, l.File.ID).Readings, 2)
		}},
		{"a renewed lease lasts longer, and a returned one is over", func(t *testing.T, f *fixture) {
			l := f.reading(t)
			succeeds(t, f.RenewReading(t.Context(), l, moment(2).Add(3*time.Hour), nil))
			failsWith(t, second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(2).Add(2*time.Hour), moment(4))), store.ErrNotFound)
			succeeds(t, f.ReturnReading(t.Context(), l, moment(5)))
			failsWith(t, second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(4), moment(9))), store.ErrNotFound)
			again, err := f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(5), moment(9))
			succeeds(t, err)
			same(t, again.File.Readings, 1)
			failsWith(t, f.RenewReading(t.Context(), l, moment(9), nil), store.ErrNotFound)
		}},
		{"the chunks of a ready file are found by their number and by any of their rows", func(t *testing.T, f *fixture) {
			const n = 120 // of which some are inserted in blocks
			file := f.read(t, n)
			want := chunks(0, n)
			for _, i := range []int32{0, 1, 49, 50, 99, 100, n - 1} {
				got, err := f.FileChunk(t.Context(), f.mine.account, file.ID, i)
				succeeds(t, err)
				same(t, got, want[i])
				for row := want[i].FirstRow; row < want[i].FirstRow+2; row++ {
					got, err = f.FileChunkOf(t.Context(), f.mine.account, file.ID, row)
					succeeds(t, err)
					same(t, got, want[i])
				}
			}
			for _, account := range []prism.AccountID{f.mine.account, f.theirs.account} {
				number, row := int32(n), int64(2*n)+1
				if account == f.theirs.account {
					number, row = 0, 1
				}
				failsWith(t, second(f.FileChunk(t.Context(), account, file.ID, number)), store.ErrNotFound)
				failsWith(t, second(f.FileChunkOf(t.Context(), account, file.ID, row)), store.ErrNotFound)
			}
			file.Readings = 1
			same(t, f.file(t, file.ID), file)
		}},
		{"the chunks of a worker that lost its lease are gone", func(t *testing.T, f *fixture) {
			l := f.reading(t)
			succeeds(t, f.RenewReading(t.Context(), l, moment(3), chunks(0, 3)))
			later, err := f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(4), moment(9))
			succeeds(t, err)
			succeeds(t, f.RenewReading(t.Context(), later, moment(9), chunks(0, 1)))
			later.File.Status = prism.FileReady
			succeeds(t, f.EndReading(t.Context(), later, later.File))
			failsWith(t, second(f.FileChunk(t.Context(), f.mine.account, later.File.ID, 1)), store.ErrNotFound)
			succeeds(t, second(f.FileChunk(t.Context(), f.mine.account, later.File.ID, 0)))
		}},
		{"an unusable file has its error and no chunks, and is not read again", func(t *testing.T, f *fixture) {
			l := f.reading(t)
			succeeds(t, f.RenewReading(t.Context(), l, moment(9), chunks(0, 2)))
			l.File.Status, l.File.Error = prism.FileUnusable, "Line 7: not UTF-8."
			succeeds(t, f.EndReading(t.Context(), l, l.File))
			same(t, f.file(t, l.File.ID), l.File)
			failsWith(t, second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(99), moment(100))), store.ErrNotFound)
		}},
		{"the queue has the files of each account that are not read to their end, and the one that waits longest", func(t *testing.T, f *fixture) {
			queue := func(at time.Time, want ...files.ReadingQueue) {
				t.Helper()
				got, err := f.ReadingQueue(t.Context(), at)
				succeeds(t, err)
				slices.SortFunc(got, func(a, b files.ReadingQueue) int { return a.Since.Compare(b.Since) })
				same(t, got, want)
			}
			waits := func(owner tenant, ms int) prism.FileID {
				file := files.File{
					ID: prism.FileID{UUID: f.id()}, Name: "a", Format: prism.FileCSV, Bytes: 1, Status: prism.FileUploading,
					CreatedAt: moment(1), ExpiresAt: moment(1).Add(files.UploadTime),
				}
				succeeds(t, f.CreateFile(t.Context(), owner.account, file))
				succeeds(t, f.SetReading(t.Context(), owner.account, file.ID, moment(ms)))
				return file.ID
			}
			queue(moment(9))
			f.upload(t)
			l := f.reading(t) // since moment(2)
			mine := files.ReadingQueue{Account: f.mine.account, Files: 1, Leased: 1, Since: moment(2)}
			queue(moment(9), mine)
			later, sooner := waits(f.mine, 7), waits(f.mine, 5)
			theirs := files.ReadingQueue{Account: f.theirs.account, Files: 1, Since: moment(6), Next: waits(f.theirs, 6)}
			mine.Files, mine.Next = 3, sooner
			queue(moment(9), mine, theirs)
			succeeds(t, f.ReturnReading(t.Context(), l, moment(8)))
			mine.Leased = 0
			queue(moment(9), mine, theirs)
			taken, err := f.TakeReading(t.Context(), f.ownedFile(sooner), f.id(), moment(9), moment(99))
			succeeds(t, err)
			mine.Leased, mine.Next = 1, later
			queue(moment(9), mine, theirs)
			taken.File.Status = prism.FileReady
			succeeds(t, f.EndReading(t.Context(), taken, taken.File))
			mine.Files, mine.Leased = 2, 0
			queue(moment(9), mine, theirs)
		}},
	}
}

func second[T any](_ T, err error) error { return err }

// spec: file-delete, file-expiry
func fileDeletionTests() []test {
	return []test{
		{"a deleted file is found by nothing but those who remove its content", func(t *testing.T, f *fixture) {
			l := f.reading(t)
			file, owner := l.File, store.FileOwner{Account: f.mine.account, ID: l.File.ID}
			failsWith(t, f.DeleteFile(t.Context(), f.theirs.account, file.ID, f.by(moment(5))), store.ErrNotFound)
			succeeds(t, f.DeleteFile(t.Context(), f.mine.account, file.ID, f.by(moment(5))))
			failsWith(t, f.DeleteFile(t.Context(), f.mine.account, file.ID, f.by(moment(5))), store.ErrNotFound)
			failsWith(t, second(f.File(t.Context(), f.mine.account, file.ID)), store.ErrNotFound)
			failsWith(t, second(f.PutPart(t.Context(), f.mine.account, file.ID, part(1, 1))), store.ErrNotFound)
			failsWith(t, f.SetReading(t.Context(), f.mine.account, file.ID, moment(6)), store.ErrNotFound)
			failsWith(t, f.RenewReading(t.Context(), l, moment(9), nil), store.ErrNotFound)
			failsWith(t, f.EndReading(t.Context(), l, file), store.ErrNotFound)
			failsWith(t, second(f.TakeReading(t.Context(), f.ownedFile(l.File.ID), f.id(), moment(2).Add(9*time.Hour), moment(9))), store.ErrNotFound)
			got, _, err := f.ListFiles(t.Context(), f.mine.account, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(got), 0)
			f.owners(t, f.ExpiredFiles, moment(2).Add(2*files.KeepTime))
			f.owners(t, f.deleted, moment(4))
			f.owners(t, f.deleted, moment(5), owner)
			succeeds(t, f.ForgetFile(t.Context(), owner))
			f.owners(t, f.deleted, moment(5))
		}},
		{"those who remove the content of a deleted file find its parts and its copy, and may put it off", func(t *testing.T, f *fixture) {
			l := f.reading(t)
			l.File.Status, l.File.Copy = prism.FileReady, store.Copy{ID: f.id(), Bytes: 7}
			succeeds(t, f.EndReading(t.Context(), l, l.File))
			owner := store.FileOwner{Account: f.mine.account, ID: l.File.ID}
			parts, err := f.Parts(t.Context(), owner.Account, owner.ID, 1, 9)
			succeeds(t, err)
			succeeds(t, f.PutOffRemoval(t.Context(), owner, moment(1)))
			f.owners(t, f.ExpiredFiles, moment(1)) // it is not deleted
			succeeds(t, f.DeleteFile(t.Context(), owner.Account, owner.ID, f.by(moment(5))))
			got, err := f.DeletedParts(t.Context(), owner)
			succeeds(t, err)
			same(t, got, parts)
			succeeds(t, f.PutOffRemoval(t.Context(), owner, moment(8)))
			f.owners(t, f.deleted, moment(7))
			deleted, err := f.DeletedFiles(t.Context(), moment(8), 9)
			succeeds(t, err)
			same(t, deleted, []files.DeletedFile{{FileOwner: owner, Copy: l.File.Copy}})
		}},
		{"the parts and chunks of a deleted file are not found, nor left behind", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			succeeds(t, second(f.PutPart(t.Context(), f.mine.account, file.ID, part(1, 1))))
			ready := f.read(t, 2)
			for _, id := range []prism.FileID{file.ID, ready.ID} {
				succeeds(t, f.DeleteFile(t.Context(), f.mine.account, id, f.by(moment(5))))
				parts, err := f.Parts(t.Context(), f.mine.account, id, 1, 9)
				succeeds(t, err)
				same(t, len(parts), 0)
				failsWith(t, second(f.FileChunk(t.Context(), f.mine.account, id, 0)), store.ErrNotFound)
				succeeds(t, f.ForgetFile(t.Context(), store.FileOwner{Account: f.mine.account, ID: id}))
			}
			succeeds(t, f.CreateFile(t.Context(), f.mine.account, file)) // the id is free
			parts, err := f.Parts(t.Context(), f.mine.account, file.ID, 1, 9)
			succeeds(t, err)
			same(t, len(parts), 0)
		}},
		{"a file that is not deleted is not forgotten", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			succeeds(t, f.ForgetFile(t.Context(), store.FileOwner{Account: f.mine.account, ID: file.ID}))
			f.file(t, file.ID)
		}},
		{"a file expires when its time is over", func(t *testing.T, f *fixture) {
			uploading, ready := f.upload(t), f.read(t, 1)
			a := store.FileOwner{Account: f.mine.account, ID: uploading.ID}
			b := store.FileOwner{Account: f.mine.account, ID: ready.ID}
			f.owners(t, f.ExpiredFiles, moment(0).Add(files.UploadTime))
			f.owners(t, f.ExpiredFiles, moment(1).Add(files.UploadTime), a)
			f.owners(t, f.ExpiredFiles, moment(2).Add(files.KeepTime), a, b)
		}},
		// spec: audit-actions, audit-changes-only
		{"a deletion is one entry of the audit, with the name of the file", func(t *testing.T, f *fixture) {
			file := f.upload(t)
			errs := together(4, func(int) error { return f.DeleteFile(t.Context(), f.mine.account, file.ID, f.by(moment(5))) })
			winner(t, errs, func(err error) bool { return errors.Is(err, store.ErrNotFound) })
			entries := f.entriesOf(t, store.FileDelete)
			same(t, len(entries), 1)
			same(t, entries[0].Object, store.Object{Kind: store.FileObject, ID: file.ID.UUID, Name: file.Name})
			same(t, string(entries[0].Detail), `{}`)
		}},
	}
}

// owners fails the test unless find finds these files.
// deleted is DeletedFiles.
func (f *fixture) deleted(ctx context.Context, before time.Time, limit int) (owners []store.FileOwner, err error) {
	files, err := f.DeletedFiles(ctx, before, limit)
	for _, d := range files {
		owners = append(owners, d.FileOwner)
	}
	return owners, err
}

func (f *fixture) owners(
	t *testing.T, find func(context.Context, time.Time, int) ([]store.FileOwner, error), at time.Time, want ...store.FileOwner,
) {
	t.Helper()
	got, err := find(t.Context(), at, 9)
	succeeds(t, err)
	same(t, got, want)
}
