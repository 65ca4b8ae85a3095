package contract

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/prism-results/prism/pkg/prism"
)

// List is a list with pages, each of which is ordered by id. A cursor belongs to its list (spec: page-cursor).
type List uint64

// The lists.
const (
	ListOfPrisms List = 1 + iota
	ListOfResults
	ListOfKeys
	ListOfAudit
)

const cursorSize = 8 + 16

// Cursor is the opaque text that names a row of the list. Replicas of the previous release accept it for any list.
func (l List) Cursor(id prism.UUID) string {
	b := make([]byte, 0, cursorSize)
	b = binary.BigEndian.AppendUint64(b, uint64(l))
	b = append(b, id[:]...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor returns the id of the row that a cursor of the list names. It accepts no text but those of Cursor, of this
// release and of the previous one.
func (l List) ParseCursor(s string) (id prism.UUID, ok bool) {
	if len(s) != base64.RawURLEncoding.EncodedLen(cursorSize) { // the decoder skips line breaks
		return id, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != cursorSize {
		return id, false
	}
	// A cursor of the previous release has the milliseconds since 1970 at which the row was created, and belongs to every list.
	const firstTime, year10000 = 1 << 32, 253402300800000
	if of := List(binary.BigEndian.Uint64(b)); of != l && (of < firstTime || of >= year10000) {
		return id, false
	}
	copy(id[:], b[8:])
	return id, true
}
