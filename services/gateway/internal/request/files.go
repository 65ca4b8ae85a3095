package request

import (
	"encoding/hex"
	"math"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

var newFileShape = &shape{members: members("name", "format", "bytes", "sha256")}

// ParseNewFile reads POST /v1/files {name, format, bytes, sha256?} (spec: file-requests).
func ParseNewFile(body Body) (contract.NewFile, error) {
	sent, err := parseBody(body, newFileShape)
	if err != nil {
		return contract.NewFile{}, err
	}
	var r reader
	var f contract.NewFile
	if r.is(sent, kindObject) {
		f.Name, _ = r.str(sent.at("name"), 1, maxName)
		f.Format = oneOfStr(&r, sent.at("format"), contract.FileFormats())
		if n, ok := r.number(sent.at("bytes")); ok {
			f.Bytes = int64(r.integer("bytes", n, contract.MaxFileBytes))
		}
		f.SHA256 = r.sha256(sent.at("sha256"))
	}
	return f, r.err()
}

// sha256 reads 64 hexadecimal digits that may be absent or null, which is nil.
func (r *reader) sha256(it item) *[32]byte {
	if !it.given() {
		return nil
	}
	s, ok := r.str(it, 0, math.MaxInt)
	if !ok {
		return nil
	}
	digest := new([32]byte)
	if len(s) != hex.EncodedLen(len(digest)) {
		r.add(it.path, textSHA256)
		return nil
	}
	if _, err := hex.Decode(digest[:], []byte(s)); err != nil {
		r.add(it.path, textSHA256)
		return nil
	}
	return digest
}

// maxParts is how many parts the largest file has.
const maxParts = contract.MaxFileBytes / contract.PartBytes

// ParsePart reads PUT /v1/files/{file_id}/parts/{n}. The part keeps content.
func ParsePart(fileID, n string, content []byte) (contract.FilePart, error) {
	var r reader
	part := contract.FilePart{File: prism.FileID{UUID: r.uuidParam("file_id", fileID)}, Data: content}
	if f, ok := r.numeral("n", r.param("n", n)); ok {
		part.Number = int32(r.integer("n", f, maxParts)) //nolint:gosec // integer has checked the range
	}
	if len(content) == 0 && !r.malformed {
		r.add("body", textRequired)
	}
	return part, r.err()
}

// ParseFile reads GET /v1/files/{file_id}.
func ParseFile(fileID string) (prism.FileID, error) {
	var r reader
	id := prism.FileID{UUID: r.uuidParam("file_id", fileID)}
	return id, r.err()
}

// ParseFileAction reads POST /v1/files/{file_id}/complete and DELETE /v1/files/{file_id}. The body is ignored (spec: retry-body).
func ParseFileAction(fileID string, body Body) (prism.FileID, error) {
	if err := ignoreBody(body); err != nil {
		return prism.FileID{}, err
	}
	return ParseFile(fileID)
}

// ParseFileList reads GET /v1/files?limit&cursor.
func ParseFileList(q Query) (contract.Page, error) {
	var r reader
	page := r.page(q, contract.ListOfFiles)
	return page, r.err()
}

// ParseFileRows reads GET /v1/files/{file_id}/rows?offset&limit (spec: file-requests).
func ParseFileRows(fileID string, q Query) (prism.FileID, contract.FileRows, error) {
	var r reader
	id := prism.FileID{UUID: r.uuidParam("file_id", fileID)}
	rows := contract.FileRows{Offset: r.position(q, "offset"), Limit: r.limit(q)}
	return id, rows, r.err()
}

// maxRows is how many rows a file has at most (spec: file-limits).
const maxRows = 10_000_000

// position reads a query parameter that is a number of rows: 0 to maxRows, 0 if absent.
func (r *reader) position(q Query, name string) int64 {
	f, ok := r.optionalNumeral(q, name)
	if !ok {
		return 0
	}
	return int64(r.whole(name, f, 0, maxRows))
}
