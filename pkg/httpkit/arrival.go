package httpkit

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// The least rate of a body (spec: arriving-bodies).
const (
	leastRate = 1 << 10         // bytes a second on average
	rateGrace = 2 * time.Second // that a body may be behind that rate
)

// errArrivals is a body that may not arrive because too many arrive already.
var errArrivals = errors.New("too many bodies arrive")

// arrivals counts the requests whose body is still arriving, in total and by client address.
type arrivals struct {
	max, maxOfAddress int

	mu        sync.Mutex
	arriving  int
	byAddress map[netip.Addr]int
}

func newArrivals(limit int, oneCaller bool) *arrivals {
	a := &arrivals{max: limit, maxOfAddress: max(limit/10, 1), byAddress: map[netip.Addr]int{}}
	if oneCaller {
		a.maxOfAddress = limit
	}
	return a
}

// take counts a request of the address until give, or tells why the request is refused.
func (a *arrivals) take(address netip.Addr) shedReason {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.arriving >= a.max:
		return shedArriving
	case a.byAddress[address] >= a.maxOfAddress:
		return shedAddress
	}
	a.arriving++
	a.byAddress[address]++
	return notShed
}

func (a *arrivals) give(address netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arriving--
	if a.byAddress[address]--; a.byAddress[address] == 0 {
		delete(a.byAddress, address)
	}
}

func (a *arrivals) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return int64(a.arriving)
}

// arrival is the rest of a body, which had not arrived with the headers. The zero value waits for nothing yet.
type arrival struct {
	address netip.Addr // valid while arrivals counts the request
	began   time.Time  // when the headers had arrived
	ends    time.Time  // Config.ReadTimeout after the first byte of the request
	arrived int        // bytes of the body, with the framing of chunks
	refused shedReason // why the body is not read
}

// deadline is when the average falls below the least rate, or the whole request has taken too long.
func (a *arrival) deadline() time.Time {
	free := a.began.Add(rateGrace + time.Duration(a.arrived)*time.Second/leastRate)
	if free.After(a.ends) {
		return a.ends
	}
	return free
}

// awaitBody runs before the connection waits for more of a body.
func (x *exchange) awaitBody() error {
	a := &x.arrival
	if a.refused != notShed {
		return errArrivals
	}
	if !a.address.IsValid() {
		t := x.server.tracker
		address := x.client()
		if a.refused = t.arrivals.take(address); a.refused != notShed {
			return errArrivals
		}
		*a = arrival{
			address: address, began: x.fctx.Time(), ends: x.conn.began.Add(x.server.cfg.ReadTimeout), arrived: x.body.read,
		}
	}
	return x.conn.SetReadDeadline(a.deadline())
}

// arrivalEnds gives back the place among the arriving bodies, if the request has one.
func (x *exchange) arrivalEnds() {
	if x.arrival.address.IsValid() {
		x.server.tracker.arrivals.give(x.arrival.address)
		x.arrival.address = netip.Addr{}
	}
}
