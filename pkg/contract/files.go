package contract

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
)

// FileFormat is the format of an uploaded file.
type FileFormat string

// The formats of files.
const (
	FileCSV     FileFormat = "csv"
	FileTSV     FileFormat = "tsv"
	FileJSONL   FileFormat = "jsonl"
	FileXLSX    FileFormat = "xlsx"
	FileParquet FileFormat = "parquet"
)

// FileFormats are all formats of files in the order in which error messages list them.
func FileFormats() []FileFormat {
	return []FileFormat{FileCSV, FileTSV, FileJSONL, FileXLSX, FileParquet}
}

// PartBytes is the size of every part of a file but the last, which is what remains.
const PartBytes = 1 << 20

// MaxFileBytes bounds a file (spec: file-limits).
const MaxFileBytes = 5 << 30

// Files keeps the files of runs. Every method checks the API key and its role first, as those of Results do.
type Files interface {
	// CreateFile begins the upload of a file.
	CreateFile(ctx context.Context, key KeyDigest, f NewFile) (Response, error)
	// PutPart stores a part: apierr.FileNotFound, apierr.PartConflict, apierr.Invalid if its number or length is not one of the
	// file's. The same part again is stored once.
	PutPart(ctx context.Context, key KeyDigest, p FilePart) (Response, error)
	// CompleteFile has the file read: apierr.PartsMissing, apierr.FileDiffers. Completing twice is completing once.
	CompleteFile(ctx context.Context, key KeyDigest, id prism.FileID) (Response, error)
	// ListFiles is a page of the account's files, newest first: {data, next_cursor}.
	ListFiles(ctx context.Context, key KeyDigest, p Page) (Response, error)
	// File is a file: apierr.FileNotFound. Like every response that has a file, it shows sha256 (null if it was not sent), by which a
	// caller finds an upload to continue.
	File(ctx context.Context, key KeyDigest, id prism.FileID) (Response, error)
	// FileRows is a preview, {data}: the rows of a ready file from an offset on, each an object in column order. apierr.FileNotReady.
	FileRows(ctx context.Context, key KeyDigest, id prism.FileID, q FileRows) (Response, error)
	// DeleteFile deletes a file: apierr.FileNotFound, apierr.FileUsed. The response has no body.
	DeleteFile(ctx context.Context, key KeyDigest, id prism.FileID) (Response, error)
}

// NewFile is a file to upload.
type NewFile struct {
	Name   string
	Format FileFormat
	Bytes  int64     // 1 to MaxFileBytes
	SHA256 *[32]byte `json:",omitzero"` // of the whole file; nil: not checked
}

// FilePart is a part of a file; the first has the number 1.
type FilePart struct {
	File   prism.FileID
	Number int32
	Data   []byte
}

// FileRows selects rows of a file; the first has the offset 0.
type FileRows struct {
	Offset int64
	Limit  int // 1 to 100
}
