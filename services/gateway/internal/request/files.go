package request

import (
	"math"
	"reflect"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// digest reads 64 hexadecimal digits.
func digest(r *reader, it item, to reflect.Value) {
	s, ok := r.str(it, 0, math.MaxInt)
	if ok && to.Addr().Interface().(*api.SHA256).UnmarshalText([]byte(s)) != nil {
		r.add(it.path, textSHA256)
	}
}

// maxParts is how many parts the largest file has.
const maxParts = prism.MaxFileBytes / contract.PartBytes

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
