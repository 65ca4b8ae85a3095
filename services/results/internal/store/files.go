package store

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// ErrFileState tells that the file is not in the state that the call needs.
var ErrFileState = errors.New("store: the file is in another state")

// ErrFileUsed tells that a run that is not over uses the file.
var ErrFileUsed = errors.New("store: file used")

// ErrTooManyUploads tells that the account has MaxUploads files that are uploading.
var ErrTooManyUploads = errors.New("store: too many uploads")

// Files keeps what is known of files, and which of their parts are there. The content of parts is kept by package blobs.
type Files interface {
	// CreateFile stores a file that is uploading: ErrTooManyUploads, NoRoomError.
	CreateFile(ctx context.Context, account prism.AccountID, f File) error
	// File finds a file: ErrNotFound.
	File(ctx context.Context, account prism.AccountID, id prism.FileID) (File, error)
	// ListFiles is a page of files, newest first.
	ListFiles(ctx context.Context, account prism.AccountID, page Page) (files []File, more bool, err error)
	// PutPart records a part of a file that is uploading, and returns the stored digest, which differs from that of p if the part
	// was stored before with other content. It does so also when the upload is over. ErrNotFound, ErrFileState.
	PutPart(ctx context.Context, account prism.AccountID, id prism.FileID, p Part) (digest [32]byte, err error)
	// Parts are the stored parts of a file from one number to another, both included, in order.
	Parts(ctx context.Context, account prism.AccountID, id prism.FileID, from, to int32) ([]Part, error)
	// SetHashed replaces the hash state of a file, unless another caller has replaced it since it was that of from parts.
	SetHashed(ctx context.Context, account prism.AccountID, id prism.FileID, from int32, h Hashed) error
	// SetReading queues an uploading file to be read; a file in any other state stays as it is. ErrNotFound.
	SetReading(ctx context.Context, account prism.AccountID, id prism.FileID, at time.Time) error
	// ReadAgain queues a file that was read, or is being read, to be read anew with a layout that says how. ErrNotFound; ErrFileState if
	// the file is uploading; ErrFileUsed if a run has it, also one that is over.
	ReadAgain(ctx context.Context, account prism.AccountID, id prism.FileID, layout []byte, at time.Time) error
	// TakeReading leases a file that waits to be read until a time: ErrNotFound if it does not wait any more. Chunks of an earlier
	// lease are deleted.
	TakeReading(ctx context.Context, f FileOwner, token prism.UUID, now, until time.Time) (FileLease, error)
	// RenewReading renews the lease, and stores chunks: ErrNotFound if the lease was lost. A first chunk with the number 0 replaces all
	// chunks that are stored.
	RenewReading(ctx context.Context, l FileLease, until time.Time, chunks []FileChunk) error
	// ReturnReading ends the lease, so that the reading begins anew at a time. A lost lease stays lost.
	ReturnReading(ctx context.Context, l FileLease, at time.Time) error
	// EndReading makes the file ready or unusable, as f says, and ends the lease: ErrNotFound if the lease was lost. Chunks of an
	// unusable file are deleted.
	EndReading(ctx context.Context, l FileLease, f File) error
	// ReadingQueue is the accounts with files that wait to be read or are being read.
	ReadingQueue(ctx context.Context, now time.Time) ([]ReadingQueue, error)
	// FileChunk is the chunk of a file with this number, or that has this row: ErrNotFound.
	FileChunk(ctx context.Context, account prism.AccountID, id prism.FileID, number int32) (FileChunk, error)
	FileChunkOf(ctx context.Context, account prism.AccountID, id prism.FileID, row int64) (FileChunk, error)
	// DeleteFile deletes a file: no method but DeletedFiles finds it any more. ErrNotFound, ErrFileUsed.
	DeleteFile(ctx context.Context, account prism.AccountID, id prism.FileID, by By) error
	// ExpiredFiles are files that have expired and are not used by a run that is not over.
	ExpiredFiles(ctx context.Context, now time.Time, limit int) ([]FileOwner, error)
	// DeletedFiles are files that were deleted, or whose removal was put off, before a time; DeletedParts are the parts of one, in
	// order. ForgetFile removes what is left of one. PutOffRemoval has DeletedFiles find it as if it was deleted at a time.
	DeletedFiles(ctx context.Context, before time.Time, limit int) ([]DeletedFile, error)
	DeletedParts(ctx context.Context, f FileOwner) ([]Part, error)
	PutOffRemoval(ctx context.Context, f FileOwner, at time.Time) error
	ForgetFile(ctx context.Context, f FileOwner) error
}

// Contents keeps the content of files in the database, for package blobs. A content never changes.
type Contents interface {
	// PutContent stores a content; one that is there stays.
	PutContent(ctx context.Context, f FileOwner, name string, content []byte) error
	// Content is a range of a content, which ends where the content ends: ErrNotFound.
	Content(ctx context.Context, f FileOwner, name string, offset, bytes int64) ([]byte, error)
	// DeleteContents deletes the contents whose names begin with prefix.
	DeleteContents(ctx context.Context, f FileOwner, prefix string) error
}

const (
	// UploadTime is how long after its creation a file expires if it is not completed (spec: file-expiry).
	UploadTime = day
	// FileTime is how long a file is kept after its completion, and after the end of each run of it.
	FileTime = 30 * day
	// MaxUploads is how many files of an account are uploading at once (spec: open-uploads).
	MaxUploads = 20
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
	Layout    []byte // JSON of package tabular: columns with filled and longest, what was done to the file, and how it is to be read
	Copy      Copy   // what chunks are ranges of, instead of the file itself
	CreatedAt time.Time
	ExpiresAt time.Time
	// Hashed is how far the content was hashed while its parts came.
	Hashed Hashed
	// Readings is how often the file was leased to be read and the lease was not returned.
	Readings int32
}

// Copy is where the canonical copy of a file is in package blobs; the zero value is no copy.
type Copy struct {
	ID    prism.UUID // the token of the lease that wrote it
	Bytes int64
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

// FileOwner names a file of any account.
type FileOwner struct {
	Account prism.AccountID
	ID      prism.FileID
}

// DeletedFile is a file that was deleted, and whose content may be there.
type DeletedFile struct {
	FileOwner
	Copy Copy
}

// FileLease is a file that is being read. Token is new with each lease.
type FileLease struct {
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

// Part is a part of a file; the first has the number 1.
type Part struct {
	Number int32
	Bytes  int32
	SHA256 [32]byte
}

// FileChunk says where rows of a file are. The first chunk has the number 0, the first row the number 1.
type FileChunk struct {
	Number   int32
	FirstRow int64
	Rows     int32
	Offset   int64 // of the first byte
	Bytes    int64
	Line     int64 // of the first byte; the first line is 1
}
