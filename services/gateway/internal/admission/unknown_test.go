package admission

import (
	"net/netip"
	"testing"
	"time"
)

func address(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// spec: unknown-keys
func TestCountedAddressesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := newLookUps(func() time.Time { return now })
	unknown := func(n uint32) bool {
		began, wait := s.begin(address(n))
		if wait != nil {
			t.Fatal("a look-up waits for none")
		}
		if began != nil {
			s.end(began, true)
		}
		return began != nil
	}
	for n := range uint32(maxAddresses) {
		if !unknown(n) {
			t.Fatalf("address %d was refused", n)
		}
	}
	beyond := 0
	for n := range uint32(2 * maxAddresses) {
		if unknown(maxAddresses + n) {
			beyond++
		}
	}
	if len(s.byAddress) != maxAddresses || beyond != unknownPerSecond {
		t.Errorf("%d addresses are counted, and those beyond looked up %d keys", len(s.byAddress), beyond)
	}
	if !unknown(1) {
		t.Error("an address with counts of its own was refused")
	}
	began, _ := s.begin(address(1)) // is still under way when all others make room
	now = now.Add(time.Second)
	if !unknown(5 * maxAddresses) {
		t.Error("a new address was refused in the next second")
	}
	if len(s.byAddress) != 2 || s.byAddress[address(1)] != began {
		t.Errorf("%d addresses are still counted", len(s.byAddress))
	}
}

// spec: unknown-keys
func TestALookUpCountsInTheSecondInWhichItEnds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := newLookUps(func() time.Time { return now })
	var looking []*addressCount
	for range unknownPerSecond {
		began, _ := s.begin(address(1))
		looking = append(looking, began)
	}
	now = now.Add(time.Second)
	began, wait := s.begin(address(1))
	if began != nil || wait == nil {
		t.Fatal("a look-up began while as many as may be unknown are under way")
	}
	s.end(looking[0], false)
	<-wait
	for _, l := range looking[1:] {
		s.end(l, true)
	}
	if began, _ = s.begin(address(1)); began == nil {
		t.Fatal("a known key was counted")
	}
	s.end(began, true)
	if began, wait = s.begin(address(1)); began != nil || wait != nil {
		t.Error("one unknown key too many")
	}
}
