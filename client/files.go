package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

type (
	// File is an uploaded file, or one that is being uploaded.
	File = api.File
	// FileFormat is the format of a file of rows.
	FileFormat = api.FileFormat
	// FileStatus is the state of a file.
	FileStatus = api.FileStatus
	// FileColumn is a column of a file.
	FileColumn = api.FileColumn
	// FilePart is a part of a file that Prism has.
	FilePart = api.FilePart
	// FileOptions say how a file is read. What is empty is found out.
	FileOptions = api.FileOptions
	// Encoding is the encoding of a file of text.
	Encoding = api.Encoding
	// OnBadRow is what becomes of a row that cannot be read.
	OnBadRow = api.OnBadRow
	// CellDelimiter is what separates the cells of a row.
	CellDelimiter = api.CellDelimiter
)

// The formats of files.
const (
	FileCSV     = prism.FileCSV
	FileTSV     = prism.FileTSV
	FileJSONL   = prism.FileJSONL
	FileXLSX    = prism.FileXLSX // the first sheet
	FileParquet = prism.FileParquet
)

// The states of files.
const (
	FileUploading = prism.FileUploading // until it is completed
	FileReading   = prism.FileReading   // Prism reads its rows
	FileReady     = prism.FileReady     // runs can use it
	FileUnusable  = prism.FileUnusable  // Error says why
)

// What becomes of a row that cannot be read.
const (
	InvalidBadRow = prism.InvalidBadRow // it is invalid in runs
	RefuseBadRow  = prism.RefuseBadRow  // the file is unusable
)

// FileFormatOf is the format that the extension of a file's name stands for, below that of a compression. It returns false if that is no
// format.
func FileFormatOf(name string) (FileFormat, bool) {
	name = strings.ToLower(name)
	for _, compressed := range []string{".gz", ".zst", ".zip"} {
		if strings.HasSuffix(name, compressed) {
			name = strings.TrimSuffix(name, compressed)
			break
		}
	}
	f := FileFormat(strings.TrimPrefix(filepath.Ext(name), "."))
	switch f {
	case "ndjson":
		f = FileJSONL
	case "xlsm":
		f = FileXLSX
	default:
	}
	return f, slices.Contains(prism.FileFormats(), f)
}

// NewFile is a file to upload.
type NewFile struct {
	Name   string     `json:"name"`
	Format FileFormat `json:"format"`
	Bytes  int64      `json:"bytes"`
	SHA256 string     `json:"sha256,omitempty"` // of the whole file, in hex; not checked when empty
}

// FileRows are rows of a file.
type FileRows struct {
	Data []FileRow `json:"data"`
}

// FileRow is the cells of a row, in column order.
type FileRow []FileCell

// FileCell is one cell.
type FileCell struct {
	Column string
	Value  *string // nil for what the row of a jsonl file lacks
}

func fileMember(c *FileCell) (*string, any) { return &c.Column, &c.Value }

// UnmarshalJSON keeps the order.
func (r *FileRow) UnmarshalJSON(b []byte) (err error) {
	*r, err = api.ReadMembers(b, fileMember)
	return err
}

// MarshalJSON writes an object in order.
func (r FileRow) MarshalJSON() ([]byte, error) { return api.WriteMembers(r, fileMember) }

var _ json.Marshaler = FileRow{}

// PartTimeout is how long one attempt to send a part may take.
const PartTimeout = 2 * time.Minute

// CreateFile begins an upload. UploadFile does all of it.
func (c *Client) CreateFile(ctx context.Context, f NewFile, options ...CallOption) (File, error) {
	return fetch[File](ctx, c, declared(api.CreateFile).sending(f), options)
}

// PutPart sends a part of a file; the first has the number 1. The call is idempotent, and other content for a part is
// ErrConflict. The data must not be changed, also after an error.
func (c *Client) PutPart(ctx context.Context, file string, number int, data []byte, options ...CallOption) (FilePart, error) {
	k := declared(api.PutPart, file, strconv.Itoa(number))
	k.octets, k.timeout = data, PartTimeout
	return fetch[FilePart](ctx, c, k, options)
}

// CompleteFile ends an upload and makes Prism read the file. The call is idempotent. It is ErrConflict while parts are missing,
// or if the SHA-256 of the content is not that of the NewFile.
func (c *Client) CompleteFile(ctx context.Context, file string, options ...CallOption) (File, error) {
	return fetch[File](ctx, c, declared(api.CompleteFile, file), options)
}

// ReadFileAgain has a file read in another way. It is ErrConflict if a run has the file.
func (c *Client) ReadFileAgain(ctx context.Context, file string, o FileOptions, options ...CallOption) (File, error) {
	return fetch[File](ctx, c, declared(api.ReadFileAgain, file).sending(o), options)
}

// ListFiles returns one page of the account's files, newest first.
func (c *Client) ListFiles(ctx context.Context, o PageOptions, options ...CallOption) (Page[File], error) {
	return fetch[Page[File]](ctx, c, declared(api.ListFiles).where(o.query()), options)
}

// Files iterates over the account's files, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Files(ctx context.Context, options ...CallOption) iter.Seq2[File, error] {
	return pages(func(cursor string) (Page[File], error) {
		return c.ListFiles(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ReadFile reads what is known of a file.
func (c *Client) ReadFile(ctx context.Context, file string, options ...CallOption) (File, error) {
	return fetch[File](ctx, c, declared(api.ReadFile, file), options)
}

// ListFileRows reads rows of a ready file: at most limit, 1 to 100, behind the first offset rows.
func (c *Client) ListFileRows(ctx context.Context, file string, offset int64, limit int, options ...CallOption) (FileRows, error) {
	q := url.Values{"offset": {strconv.FormatInt(offset, 10)}, "limit": {strconv.Itoa(limit)}}
	return fetch[FileRows](ctx, c, declared(api.ListFileRows, file).where(q), options)
}

// DeleteFile deletes a file. It is ErrConflict while a run that is not over uses the file.
func (c *Client) DeleteFile(ctx context.Context, file string, options ...CallOption) error {
	return c.remove(ctx, declared(api.DeleteFile, file), options)
}
