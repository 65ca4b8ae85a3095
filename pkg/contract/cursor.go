package contract

import (
	"encoding/base64"
	"encoding/binary"
	"math"

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
	ListOfVersions
	ListOfFiles
	ListOfRuns
	ListOfRunResults // the results of one run, in row order
	ListOfMembers
	ListOfLabels
	ListOfRandom    // results to label, by labels.RandomPosition
	ListOfUncertain // results to label, the most uncertain first
	ListOfCalibrations
	ListOfFound // the results of a search, by a number and then by id
	ListOfViews
	ListOfComments
	ListOfAssignees
	ListOfWebhooks
	ListOfDeliveries
)

const cursorSize = 8 + 16

// cursorBytes is the size of the list's cursors.
func (l List) cursorBytes() int {
	if l == ListOfFound {
		return cursorSize + 16 + 4 + 8
	}
	return cursorSize
}

// Cursor is the opaque text that names a row of the list.
func (l List) Cursor(id prism.UUID) string {
	b := make([]byte, 0, cursorSize)
	b = binary.BigEndian.AppendUint64(b, uint64(l))
	b = append(b, id[:]...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor returns the id of the row that a cursor of the list names. It accepts no text but those of Cursor.
func (l List) ParseCursor(s string) (id prism.UUID, ok bool) {
	b, ok := l.decode(s)
	if !ok {
		return id, false
	}
	copy(id[:], b[8:])
	return id, l != ListOfVersions || VersionAt(id) > 0
}

// decode is the bytes of a cursor of the list.
func (l List) decode(s string) (b []byte, ok bool) {
	if len(s) != base64.RawURLEncoding.EncodedLen(l.cursorBytes()) { // the decoder skips line breaks
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return b, err == nil && len(b) == l.cursorBytes() && List(binary.BigEndian.Uint64(b)) == l
}

// FoundRow is a row of ListOfFound: the result with an id, behind those whose numbers come before its own. Number is NaN for a result
// without one. Upto is up to which id the first page has looked. Search is a hash of what was searched for: a cursor belongs to its
// search (spec: search-cursor).
type FoundRow struct {
	ID, Upto prism.UUID
	Number   float32
	Search   uint64
}

// Cursor is the opaque text that names the row.
func (r FoundRow) Cursor() string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, ListOfFound.cursorBytes()), uint64(ListOfFound))
	b = append(append(b, r.ID[:]...), r.Upto[:]...)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.Number))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(b, r.Search))
}

// ParseFoundRow is the row that a cursor of ListOfFound names.
func ParseFoundRow(cursor string) (r FoundRow, ok bool) {
	b, ok := ListOfFound.decode(cursor)
	if !ok {
		return r, false
	}
	copy(r.ID[:], b[8:])
	rest := b[cursorSize:]
	copy(r.Upto[:], rest)
	r.Number, r.Search = math.Float32frombits(binary.BigEndian.Uint32(rest[16:])), binary.BigEndian.Uint64(rest[20:])
	return r, true
}

// VersionRow is the row of a version in ListOfVersions, which has no ids.
func VersionRow(number int32) (id prism.UUID) {
	binary.BigEndian.PutUint32(id[12:], uint32(number)) //nolint:gosec // a version is 1 or more
	return id
}

// RowPosition is the position of a result of a run's row in ListOfRunResults, which is ordered by row and then by id: three bytes of
// the row, which is less than 2^24, and the first 13 bytes of the id.
func RowPosition(row int64, id prism.ResultID) (position prism.UUID) {
	position[0], position[1], position[2] = byte(row>>16), byte(row>>8), byte(row) //nolint:gosec // see above
	copy(position[3:], id.UUID[:])
	return position
}

// ParseRowPosition is the row of a position, and the last id that the position stands for.
func ParseRowPosition(position prism.UUID) (row int64, last prism.ResultID) {
	row = int64(position[0])<<16 | int64(position[1])<<8 | int64(position[2])
	copy(last.UUID[:], position[3:])
	last.UUID[13], last.UUID[14], last.UUID[15] = 0xff, 0xff, 0xff
	return row, last
}

// VersionAt is the version of a row of ListOfVersions, or 0.
func VersionAt(id prism.UUID) int32 {
	number := int32(binary.BigEndian.Uint32(id[12:])) //nolint:gosec // checked below
	if number < 0 || VersionRow(number) != id {
		return 0
	}
	return number
}
