package service

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// ticks is how many ids a process makes in a millisecond before they run ahead of its clock.
const ticks = 1 << 12

// OrderedIDs makes ids of accounts, prisms, keys and entries of the audit that sort in the order in which this process makes
// them, and among processes with one clock too: the 12 bits behind the milliseconds are the part of the millisecond that has
// passed (RFC 9562, section 6.2, method 3). After a clock that was set back by more than a second, ids begin with the new time.
func OrderedIDs(now func() time.Time) func() (prism.UUID, error) {
	var (
		mu   sync.Mutex
		last int64
	)
	return func() (prism.UUID, error) {
		mu.Lock()
		defer mu.Unlock()
		at := now()
		tick := at.UnixMilli()*ticks + int64(at.Nanosecond())%int64(time.Millisecond)*ticks/int64(time.Millisecond)
		if behind := last - tick; behind >= 0 && behind < 1000*ticks {
			tick = last + 1
		}
		last = tick
		id, err := prism.NewUUID(time.UnixMilli(tick/ticks), rand.Reader)
		if err != nil {
			return prism.UUID{}, err
		}
		binary.BigEndian.PutUint16(id[6:], 0x7000|uint16(tick%ticks)) //nolint:gosec // 12 bits, behind the version
		return id, nil
	}
}
