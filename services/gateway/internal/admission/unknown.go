package admission

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// unknownPerSecond is how many unknown keys of one address are looked up in a second (spec: unknown-keys).
	unknownPerSecond = 20
	// maxAddresses bounds the addresses that are counted each by itself: some 2 MB. Beyond, all others count as one.
	maxAddresses = 10_000
)

// lookUps counts the look-ups of keys whose account is not remembered, by the address of the client.
type lookUps struct {
	now func() time.Time

	mu        sync.Mutex
	byAddress map[netip.Addr]*addressCount
	others    *addressCount // addresses beyond maxAddresses
	swept     int64         // the second of the last sweep
}

// addressCount is one address. Look-ups under way count like unknown keys until it is known how they end, so that no more than
// unknownPerSecond of them end as unknown in a second.
type addressCount struct {
	second  int64 // of unknown
	unknown int   // keys of this second
	looking int
	ended   chan struct{} // closed when a look-up ends; nil while nobody waits
}

func newLookUps(now func() time.Time) *lookUps {
	return &lookUps{now: now, byAddress: map[netip.Addr]*addressCount{}, others: &addressCount{}}
}

// begin starts a look-up for an address; end ends it. If unknownPerSecond keys of the address were unknown in this second, begin
// returns nil, nil. If that depends on look-ups under way, begin returns a channel, which is closed when one of them ends.
func (s *lookUps) begin(address netip.Addr) (began *addressCount, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	second := s.now().Unix()
	count := s.countFor(address, second)
	count.startSecond(second)
	switch {
	case count.unknown+count.looking < unknownPerSecond:
		count.looking++
		return count, nil
	case count.unknown >= unknownPerSecond:
		return nil, nil
	}
	if count.ended == nil {
		count.ended = make(chan struct{})
	}
	return nil, count.ended
}

// end ends a look-up. unknown tells whether the key was unknown.
func (s *lookUps) end(count *addressCount, unknown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count.looking--
	count.startSecond(s.now().Unix())
	if unknown {
		count.unknown++
	}
	if count.ended != nil {
		close(count.ended)
		count.ended = nil
	}
}

// countFor finds the counts of an address. Counts without anything of this second make room for others.
func (s *lookUps) countFor(address netip.Addr, second int64) *addressCount {
	if count, ok := s.byAddress[address]; ok {
		return count
	}
	if len(s.byAddress) >= maxAddresses && s.swept != second {
		s.swept = second
		for address, count := range s.byAddress {
			if count.looking == 0 && count.second != second {
				delete(s.byAddress, address)
			}
		}
	}
	if len(s.byAddress) >= maxAddresses {
		return s.others
	}
	count := &addressCount{second: second}
	s.byAddress[address] = count
	return count
}

// startSecond forgets the unknown keys of another second.
func (s *addressCount) startSecond(second int64) {
	if s.second != second {
		s.second, s.unknown = second, 0
	}
}
