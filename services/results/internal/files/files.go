// Package files keeps what is known of files, and which of their parts are there: package blobs keeps the content of parts, package reading reads
// files that are complete.
package files

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// Store keeps files.
type Store interface {
	// CreateFile stores a file that is uploading: ErrTooManyUploads, NoRoomError.
	CreateFile(ctx context.Context, account prism.AccountID, f File) error
	// File finds a file: ErrNotFound.
	File(ctx context.Context, account prism.AccountID, id prism.FileID) (File, error)
	// ListFiles is a page of files, newest first.
	ListFiles(ctx context.Context, account prism.AccountID, page store.Page) (files []File, more bool, err error)
	// PutPart records a part of a file that is uploading, and returns the stored digest, which differs from that of p if the part
	// was stored before with other content. It does so also when the upload is over. ErrNotFound, ErrFileState.
	PutPart(ctx context.Context, account prism.AccountID, id prism.FileID, p store.Part) (digest [32]byte, err error)
	// Parts are the stored parts of a file from one number to another, both included, in order.
	Parts(ctx context.Context, account prism.AccountID, id prism.FileID, from, to int32) ([]store.Part, error)
	// SetHashed replaces the hash state of a file, unless another caller has replaced it since it was that of from parts.
	SetHashed(ctx context.Context, account prism.AccountID, id prism.FileID, from int32, h Hashed) error
	// SetReading queues an uploading file to be read; a file in any other state stays as it is. ErrNotFound.
	SetReading(ctx context.Context, account prism.AccountID, id prism.FileID, at time.Time) error
	// ReadAgain queues a file that was read, or is being read, to be read anew with a layout that says how. ErrNotFound; ErrFileState if
	// the file is uploading; ErrFileUsed if a run has it, also one that is over.
	ReadAgain(ctx context.Context, account prism.AccountID, id prism.FileID, layout []byte, at time.Time) error
	// TakeReading leases a file that waits to be read until a time: ErrNotFound if it does not wait any more. Chunks of an earlier
	// lease are deleted.
	TakeReading(ctx context.Context, f store.FileOwner, token prism.UUID, now, until time.Time) (Lease, error)
	// RenewReading renews the lease, and stores chunks: ErrNotFound if the lease was lost. A first chunk with the number 0 replaces all
	// chunks that are stored.
	RenewReading(ctx context.Context, l Lease, until time.Time, chunks []store.FileChunk) error
	// ReturnReading ends the lease, so that the reading begins anew at a time. A lost lease stays lost.
	ReturnReading(ctx context.Context, l Lease, at time.Time) error
	// EndReading makes the file ready or unusable, as f says, and ends the lease: ErrNotFound if the lease was lost. Chunks of an
	// unusable file are deleted.
	EndReading(ctx context.Context, l Lease, f File) error
	// ReadingQueue is the accounts with files that wait to be read or are being read.
	ReadingQueue(ctx context.Context, now time.Time) ([]ReadingQueue, error)
	// FileChunk is the chunk of a file with this number, or that has this row: ErrNotFound.
	FileChunk(ctx context.Context, account prism.AccountID, id prism.FileID, number int32) (store.FileChunk, error)
	FileChunkOf(ctx context.Context, account prism.AccountID, id prism.FileID, row int64) (store.FileChunk, error)
	// DeleteFile deletes a file: no method but DeletedFiles finds it any more. ErrNotFound, ErrFileUsed.
	DeleteFile(ctx context.Context, account prism.AccountID, id prism.FileID, by store.By) error
	// ExpiredFiles are files that have expired and are not used by a run that is not over.
	ExpiredFiles(ctx context.Context, now time.Time, limit int) ([]store.FileOwner, error)
	// DeletedFiles are files that were deleted, or whose removal was put off, before a time; DeletedParts are the parts of one, in
	// order. ForgetFile removes what is left of one. PutOffRemoval has DeletedFiles find it as if it was deleted at a time.
	DeletedFiles(ctx context.Context, before time.Time, limit int) ([]DeletedFile, error)
	DeletedParts(ctx context.Context, f store.FileOwner) ([]store.Part, error)
	PutOffRemoval(ctx context.Context, f store.FileOwner, at time.Time) error
	ForgetFile(ctx context.Context, f store.FileOwner) error
}

const (
	// UploadTime is how long after its creation a file expires if it is not completed (spec: file-expiry).
	UploadTime = 24 * time.Hour
	// KeepTime is how long a file is kept after its completion, and after the end of each run of it.
	KeepTime = 30 * 24 * time.Hour
)

// File is a stored file.
type File struct {
	ID        prism.FileID
	Name      string
	Format    prism.FileFormat
	Bytes     int64
	SHA256    *[32]byte // of the whole file; nil: not checked
	Status    prism.FileStatus
	Error     string // why the file is unusable
	Rows      int64
	Chunks    int32
	Layout    []byte     // JSON of package tabular: columns with filled and longest, what was done to the file, and how it is to be read
	Copy      store.Copy // what chunks are ranges of, instead of the file itself
	CreatedAt time.Time
	ExpiresAt time.Time
	// Hashed is how far the content was hashed while its parts came.
	Hashed Hashed
	// Readings is how often the file was leased to be read and the lease was not returned.
	Readings int32
}

// errLayout drops the error of the JSON library, which may quote the layout.
var errLayout = errors.New("files: the layout of a file is not readable")

// ReadLayout is Layout.
func (f File) ReadLayout() (l tabular.Layout, err error) {
	if strictjson.Unmarshal(f.Layout, &l) != nil {
		err = errLayout
	}
	return l, err
}

// Hashed is the state of a SHA-256 of the first parts of a file.
type Hashed struct {
	Parts int32
	State []byte // of the standard library; nil at the start
}

// Parts is how many parts the file has.
func (f File) Parts() int32 { return int32((f.Bytes + contract.PartBytes - 1) / contract.PartBytes) } //nolint:gosec // at most 5,120

// PartBytes is the size of a part.
func (f File) PartBytes(number int32) int64 {
	return min(contract.PartBytes, f.Bytes-int64(number-1)*contract.PartBytes)
}

// DeletedFile is a file that was deleted, and whose content may be there.
type DeletedFile struct {
	store.FileOwner
	Copy store.Copy
}

// Lease is a file that is being read. Token is new with each lease.
type Lease struct {
	Account prism.AccountID
	File    File
	Token   prism.UUID
}

// ReadingQueue is the files of an account that wait to be read or are being read.
type ReadingQueue struct {
	Account prism.AccountID
	Files   int64
	Leased  int64        // those of Files that are being read
	Since   time.Time    // when the first of them was completed
	Next    prism.FileID // the one that has waited longest; zero if none may be leased now
}
