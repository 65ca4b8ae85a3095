package admission

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// unknownPerSecond is how many unknown keys of one address are looked up in a second (spec: unknown-keys).
	unknownPerSecond = 20
	// maxStrangers bounds the addresses that are counted each by itself: some 2 MB. Beyond, all others count as one.
	maxStrangers = 10_000
)

// strangers counts the look-ups of keys whose account is not remembered, by the address of the client.
type strangers struct {
	now func() time.Time

	mu        sync.Mutex
	byAddress map[netip.Addr]*stranger
	others    *stranger // addresses beyond maxStrangers
	swept     int64     // the second of the last sweep
}

// stranger is one address. Look-ups under way count like unknown keys until it is known how they end, so that no more than
// unknownPerSecond of them end as unknown in a second.
type stranger struct {
	second  int64 // of unknown
	unknown int   // keys of this second
	looking int
	settled chan struct{} // closed when a look-up ends; nil while nobody waits
}

func newStrangers(now func() time.Time) *strangers {
	return &strangers{now: now, byAddress: map[netip.Addr]*stranger{}, others: &stranger{}}
}

// take begins a look-up for an address, which settle ends. When the address has had its unknown keys of this second, take
// returns nothing. When look-ups under way decide about that, take returns a channel that is closed when one of them ends.
func (s *strangers) take(address netip.Addr) (began *stranger, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	second := s.now().Unix()
	of := s.of(address, second)
	of.turn(second)
	switch {
	case of.unknown+of.looking < unknownPerSecond:
		of.looking++
		return of, nil
	case of.unknown >= unknownPerSecond:
		return nil, nil
	}
	if of.settled == nil {
		of.settled = make(chan struct{})
	}
	return nil, of.settled
}

// settle ends a look-up: whether the key was unknown.
func (s *strangers) settle(of *stranger, unknown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.looking--
	of.turn(s.now().Unix())
	if unknown {
		of.unknown++
	}
	if of.settled != nil {
		close(of.settled)
		of.settled = nil
	}
}

// of finds the counts of an address. Counts without anything of this second make room for others.
func (s *strangers) of(address netip.Addr, second int64) *stranger {
	if of, ok := s.byAddress[address]; ok {
		return of
	}
	if len(s.byAddress) >= maxStrangers && s.swept != second {
		s.swept = second
		for address, of := range s.byAddress {
			if of.looking == 0 && of.second != second {
				delete(s.byAddress, address)
			}
		}
	}
	if len(s.byAddress) >= maxStrangers {
		return s.others
	}
	of := &stranger{second: second}
	s.byAddress[address] = of
	return of
}

// turn forgets the unknown keys of another second.
func (s *stranger) turn(second int64) {
	if s.second != second {
		s.second, s.unknown = second, 0
	}
}
