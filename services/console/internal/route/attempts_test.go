package route

import (
	"net/netip"
	"testing"
	"time"
)

// Whoever has many addresses takes no more memory than that of 10,000.
//
// spec: sign-in-attempts
func TestTenThousandAddressesAreRemembered(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	a, err := newAttempts(func() time.Time { return now }, 1, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	address := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}) }
	const most = 10_000
	for n := range most {
		a.take(address(n))
	}
	if a.left(address(1)) <= 0 {
		t.Error("an address is forgotten before there are too many")
	}
	a.take(address(most)) // address 1 was looked up later than address 0
	if a.left(address(0)) > 0 || a.left(address(most)) <= 0 || a.free.Len() != most {
		t.Errorf("%d addresses are remembered, and not the last ones", a.free.Len())
	}
}
