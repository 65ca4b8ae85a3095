package store

import (
	"errors"

	"github.com/prism-results/prism/pkg/prism"
)

// ErrFileState tells that the file is not in the state that the call needs.
var ErrFileState = errors.New("store: the file is in another state")

// ErrFileUsed tells that a run that is not over uses the file.
var ErrFileUsed = errors.New("store: file used")

// ErrContentMissing tells that a content which the store knows is not there.
var ErrContentMissing = errors.New("store: a content is missing")

// ErrTooManyUploads tells that the account has MaxUploads files that are uploading.
var ErrTooManyUploads = errors.New("store: too many uploads")

// MaxUploads is how many files of an account are uploading at once (spec: open-uploads).
const MaxUploads = 20

// FileOwner names a file of any account.
type FileOwner struct {
	Account prism.AccountID
	ID      prism.FileID
}

// Copy is where the canonical copy of a file is in package blobs; the zero value is no copy.
type Copy struct {
	ID    prism.UUID // the token of the lease that wrote it
	Bytes int64
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
