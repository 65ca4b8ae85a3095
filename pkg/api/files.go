package api

import (
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateFile begins the upload of a file (spec: file-requests).
var CreateFile = Op[CreateFileRequest, File]{Declaration{
	Name: "createFile", Method: http.MethodPost, Path: "/v1/files", Tag: "Files", Role: prism.Caller, Class: Keyed,
	Status: http.StatusCreated, Errors: []*apierr.Error{apierr.TooManyUploads(20), apierr.NoRoom(50 << 30)},
}}

// CreateFileRequest is the request of CreateFile.
type CreateFileRequest struct{ NewFile }

// NewFile is a file to upload.
type NewFile struct {
	// What people call it.
	Name string `json:"name" min:"1" max:"200"`
	// How the file is read.
	Format FileFormat `json:"format"`
	// The size of the file: up to 5 GiB.
	Bytes int64 `json:"bytes" min:"1" max:"5368709120"`
	// The SHA-256 of the file in hexadecimal, in any letter case. Null or not sent: not checked.
	SHA256 *SHA256 `json:"sha256,omitzero"`
}

// FileFormat is the format of a file of rows.
type FileFormat = prism.FileFormat

// SHA256 is a digest. Its text is in hexadecimal.
type SHA256 [32]byte

// MarshalText writes the digits in lower case.
func (d SHA256) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText reads digits in any letter case.
func (d *SHA256) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return errors.New("api: a SHA-256 has 64 hexadecimal digits")
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// ListFiles reads a page of the account's files, newest first.
var ListFiles = Op[ListFilesRequest, Page[File]]{Declaration{
	Name: "listFiles", Method: http.MethodGet, Path: "/v1/files", Tag: "Files", Role: prism.Reader, Class: Listing,
}}

// ListFilesRequest is the request of ListFiles.
type ListFilesRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"files"`
}

// ReadFile reads a file. By its sha256 a caller finds an upload to continue.
var ReadFile = Op[FileRequest, File]{Declaration{
	Name: "readFile", Method: http.MethodGet, Path: "/v1/files/{file_id}", Tag: "Files", Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.FileNotFound()},
}}

// FileRequest is the request of an operation that needs a file alone.
type FileRequest struct {
	File prism.FileID `path:"file_id"`
}

// StoreWait is how long a caller waits for what writes or deletes content, which an object store may keep.
const StoreWait = 15 * time.Second

// DeleteFile deletes a file that no run needs.
var DeleteFile = Op[FileRequest, None]{Declaration{
	Name: "deleteFile", Method: http.MethodDelete, Path: "/v1/files/{file_id}", Tag: "Files", Role: prism.Caller, Class: Keyed,
	Status: http.StatusNoContent, Wait: StoreWait, Errors: []*apierr.Error{apierr.FileNotFound(), apierr.FileUsed()},
}}

// CompleteFile has the file read. Completing twice is completing once (spec: file-upload).
var CompleteFile = Op[FileRequest, File]{Declaration{
	Name: "completeFile", Method: http.MethodPost, Path: "/v1/files/{file_id}/complete", Tag: "Files", Role: prism.Caller, Class: Scanning,
	Status: http.StatusAccepted, Wait: 55 * time.Second, Repeatable: true,
	Errors: []*apierr.Error{apierr.FileNotFound(), apierr.PartsMissing([]int32{2}, 1), apierr.FileDiffers(), apierr.ContentMissing()},
}}

// ReadFileAgain has a file read in another way (spec: file-read-again).
var ReadFileAgain = Op[ReadFileAgainRequest, File]{Declaration{
	Name: "readFileAgain", Method: http.MethodPost, Path: "/v1/files/{file_id}/read", Tag: "Files", Role: prism.Caller, Class: Keyed,
	Status: http.StatusAccepted, Repeatable: true,
	Errors: []*apierr.Error{apierr.FileNotFound(), apierr.FileNotReady(), apierr.FileUsed()},
}}

// ReadFileAgainRequest is the request of ReadFileAgain.
type ReadFileAgainRequest struct {
	FileRequest
	FileOptions
}

// FileOptions say how a file is read. What is not sent is found out.
type FileOptions struct {
	// The encoding of csv, tsv or jsonl; `auto` or not sent: UTF-8, or else a guess.
	Encoding Encoding `json:"encoding,omitzero"`
	// The row of csv, tsv or xlsx that has the names of the columns; the first is 1. Not sent: the first row that is not empty.
	HeaderRow int64 `json:"header_row,omitzero" min:"1" max:"10000000"`
	// The sheet of xlsx, by its name or its number; the first is 1. Not sent: the first that is not hidden.
	Sheet string `json:"sheet,omitzero" min:"1" max:"100"`
	// What separates the cells of csv or tsv: one of comma, semicolon, tab, vertical bar and colon.
	Delimiter CellDelimiter `json:"delimiter,omitzero"`
	// What becomes of a row that cannot be read. Not sent: `invalid`.
	OnBadRow OnBadRow `json:"on_bad_row,omitzero"`
}

// Encoding is the encoding of a file of text.
type Encoding = prism.Encoding

// CellDelimiter is what separates the cells of a row.
type CellDelimiter = prism.CellDelimiter

// OnBadRow is what becomes of a row that cannot be read: it is invalid in runs, or the file is unusable.
type OnBadRow = prism.OnBadRow

// ListFileRows reads rows of a ready file.
var ListFileRows = Op[ListFileRowsRequest, FileRows]{Declaration{
	Name: "listFileRows", Method: http.MethodGet, Path: "/v1/files/{file_id}/rows", Tag: "Files", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.FileNotFound(), apierr.FileNotReady(), apierr.ContentMissing()},
}}

// ListFileRowsRequest is the request of ListFileRows.
type ListFileRowsRequest struct {
	FileRequest
	// How many rows to skip.
	Offset int64 `query:"offset" min:"0" max:"10000000" default:"0"`
	PageRequest
}

// File is a file of rows. Members that do not apply are null.
type File struct {
	// Names the file.
	ID string `json:"id" form:"uuid"`
	// What people call it.
	Name string `json:"name"`
	// How it is read.
	Format FileFormat `json:"format"`
	// Its size.
	Bytes int64 `json:"bytes" min:"0"`
	// The SHA-256 that was sent, or null.
	SHA256 *string `json:"sha256"`
	// Its state.
	Status FileStatus `json:"status"`
	// The size of every part but the last, which is what remains.
	PartBytes int64 `json:"part_bytes" min:"0"`
	// How many parts it has.
	Parts int `json:"parts" min:"0"`
	// The numbers of the first 1,000 parts that were not sent, while it is uploading; then null. The first part is 1.
	Missing Nullable[int] `json:"missing" null:"true"`
	// How many rows it has, once it is ready.
	Rows *int64 `json:"rows"`
	// Its columns in order, once it is ready.
	Columns Nullable[FileColumn] `json:"columns" null:"true"`
	// What separates the cells of a csv or tsv file that is ready.
	Delimiter *string `json:"delimiter"`
	// The encoding in which a csv, tsv or jsonl file was read.
	Encoding *string `json:"encoding"`
	// Whether the encoding is known: a guess that may be wrong has false.
	EncodingSure *bool `json:"encoding_sure"`
	// The row of a csv, tsv or xlsx file that has the names of the columns.
	HeaderRow *int64 `json:"header_row"`
	// The row that looks like the header, if that is another one, as when a title is above it.
	ProposedHeaderRow *int64 `json:"proposed_header_row"`
	// The sheet of an xlsx file that was read.
	Sheet *string `json:"sheet"`
	// How many rows cannot be read, once it is ready. They are invalid in runs.
	BadRows *int64 `json:"bad_rows"`
	// What was done to it when it was read, a sentence each.
	Notes Nullable[string] `json:"notes" null:"true"`
	// Why it is unusable, or null.
	Error *string `json:"error"`
	// When it was created.
	CreatedAt Time `json:"created_at"`
	// When it is deleted, unless a run uses it.
	ExpiresAt Time `json:"expires_at"`
}

// FileStatus is the state of a file.
type FileStatus = prism.FileStatus

// FileColumn is a column of a file.
type FileColumn struct {
	// Its name.
	Name string `json:"name"`
	// How many of its cells are not empty.
	Filled int64 `json:"filled" min:"0"`
	// The characters of its longest cell.
	Longest int64 `json:"longest" min:"0"`
}

// FileRows is rows of a file.
type FileRows struct {
	// The rows, each an object in the order of the columns, with null for what a row of `jsonl` lacks.
	Data []map[string]*string `json:"data"`
}

// PutPart stores a part of a file. The same part again is stored once (spec: file-upload).
var PutPart = Op[PutPartRequest, FilePart]{Declaration{
	Name: "putPart", Method: http.MethodPut, Path: "/v1/files/{file_id}/parts/{n}", Tag: "Files", Role: prism.Caller, Class: Keyed,
	ByGateway: true, Wait: StoreWait, Errors: []*apierr.Error{apierr.FileNotFound(), apierr.PartConflict(2)},
}}

// PutPartRequest is the request of PutPart.
type PutPartRequest struct {
	FileRequest
	// The number of the part; the first is 1.
	Part    int32  `path:"n" min:"1" max:"5120" example:"1"`
	Content []byte `octets:"body"`
}

// FilePart is a part that is stored.
type FilePart struct {
	// Its number.
	Part int `json:"part" min:"1" max:"5120"`
	// Its size.
	Bytes int64 `json:"bytes" min:"0"`
	// Its SHA-256 in hexadecimal.
	SHA256 string `json:"sha256"`
}
