package store

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// ErrFileState: the file is not in the state that the call needs.
var ErrFileState = errors.New("store: the file is in another state")

// ErrFileUsed: a run that is not over uses the file.
var ErrFileUsed = errors.New("store: file used")

// Files keeps what is known of files, and which of their parts are there. The content of parts is kept by package blobs.
type Files interface {
	// CreateFile stores a file.
	CreateFile(ctx context.Context, account prism.AccountID, f File) error
	// File finds a file: ErrNotFound.
	File(ctx context.Context, account prism.AccountID, id prism.FileID) (File, error)
	// ListFiles is a page of files, newest first.
	ListFiles(ctx context.Context, account prism.AccountID, page Page) ([]File, error)
	// PutPart records a part of a file that is uploading, and returns the digest that is stored: another one than p's if the part
	// is there with other content. ErrNotFound, ErrFileState.
	PutPart(ctx context.Context, account prism.AccountID, id prism.FileID, p Part) (digest [32]byte, err error)
	// Parts are the parts of a file that are there, in order.
	Parts(ctx context.Context, account prism.AccountID, id prism.FileID) ([]Part, error)
	// SetReading has an uploading file read; a file that is reading or was read stays as it is. ErrNotFound.
	SetReading(ctx context.Context, account prism.AccountID, id prism.FileID, at time.Time) error
	// TakeReading leases a file that waits to be read until a time: ErrNotFound if there is none.
	TakeReading(ctx context.Context, now, until time.Time) (FileLease, error)
	// RenewReading renews the lease, and stores chunks: ErrNotFound if the lease was lost.
	RenewReading(ctx context.Context, l FileLease, until time.Time, chunks []FileChunk) error
	// EndReading makes the file ready or unusable, as f says, and ends the lease: ErrNotFound if the lease was lost. Chunks of an
	// unusable file are deleted.
	EndReading(ctx context.Context, l FileLease, f File) error
	// FileChunk is the chunk of a file with this number, or that has this row: ErrNotFound.
	FileChunk(ctx context.Context, account prism.AccountID, id prism.FileID, number int32) (FileChunk, error)
	FileChunkOf(ctx context.Context, account prism.AccountID, id prism.FileID, row int64) (FileChunk, error)
	// DeleteFile deletes what is known of a file, and returns it, so that its content can be deleted: ErrNotFound, ErrFileUsed.
	DeleteFile(ctx context.Context, account prism.AccountID, id prism.FileID, by By) (File, error)
	// ExpiredFiles are files whose time is over and that no run uses that is not over.
	ExpiredFiles(ctx context.Context, now time.Time, limit int) ([]FileOwner, error)
}

// FileStatus is the state of a file (spec: file-states).
type FileStatus string

// The states.
const (
	FileUploading FileStatus = "uploading"
	FileReading   FileStatus = "reading"
	FileReady     FileStatus = "ready"
	FileUnusable  FileStatus = "unusable"
)

// File is a stored file.
type File struct {
	ID        prism.FileID
	Name      string
	Format    contract.FileFormat
	Bytes     int64
	SHA256    *[32]byte // of the whole file; nil: not checked
	Status    FileStatus
	Error     string // why the file is unusable
	Rows      int64
	Chunks    int32
	Layout    []byte // JSON: columns with filled and longest, delimiter, and where the copy that chunks name is (package tabular)
	CreatedAt time.Time
	ExpiresAt time.Time
}

// FileOwner names a file of any account.
type FileOwner struct {
	Account prism.AccountID
	ID      prism.FileID
}

// FileLease is a file that is being read. Token is new with each lease.
type FileLease struct {
	Account prism.AccountID
	File    File
	Token   prism.UUID
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
