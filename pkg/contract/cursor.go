package contract

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Position is the place of a row in a list, which is ordered by ID. Callers see it as an opaque cursor (spec: page-cursor).
// At is the row's time of creation: replicas of the previous release order lists by it.
type Position struct {
	At time.Time
	ID prism.UUID
}

const positionSize = 8 + 16

// Cursor is the position's opaque text.
func (p Position) Cursor() string {
	b := make([]byte, 0, positionSize)
	b = binary.BigEndian.AppendUint64(b, uint64(p.At.UnixMilli()))
	b = append(b, p.ID[:]...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads a cursor that Cursor wrote, and accepts no other text.
func ParseCursor(s string) (Position, bool) {
	if len(s) != base64.RawURLEncoding.EncodedLen(positionSize) { // the decoder skips line breaks
		return Position{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != positionSize {
		return Position{}, false
	}
	ms := int64(binary.BigEndian.Uint64(b)) //nolint:gosec // see Cursor
	const year10000 = 253402300800000
	if ms < 0 || ms >= year10000 {
		return Position{}, false
	}
	p := Position{At: time.UnixMilli(ms).UTC()}
	copy(p.ID[:], b[8:])
	return p, true
}
