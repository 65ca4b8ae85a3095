package httpkit

import (
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/fair"
)

// streamPatience is how long the client of a stream may take nothing before another account can get the stream's place.
const streamPatience = 5 * time.Second

// streamPlaces are the places of a kind of streams. take takes one until give, and reports whether there was one.
type streamPlaces interface {
	take(o *outgoing) bool
	give(o *outgoing)
}

// eventStreams are the places of SendEvents (spec: event-streams). Whoever follows something takes each event at once, for as long
// as it goes on: so no stream makes room for another one, and accounts share the places as they share the requests in flight.
type eventStreams struct{ *fair.Bound }

func (e eventStreams) take(o *outgoing) bool { return e.Take(o.account, fair.Preferred) }
func (e eventStreams) give(o *outgoing)      { e.Give(o.account) }
func (e eventStreams) count() int64          { return int64(e.Taken()) }

// streams are the places of streamed responses (spec: export-limits). A stream can take hours, so accounts cannot wait until
// those that hold more have drained to their share. Instead, no account holds more than maxOfAccount places, and when all
// places are held, a stalled stream makes room for an account that holds less.
type streams struct {
	max, maxOfAccount int
	now               func() time.Time

	mu        sync.Mutex
	live      map[*outgoing]struct{}
	byAccount map[string]int // only accounts that hold a place
}

func newStreams(cfg Config, now func() time.Time) *streams {
	return &streams{
		max: cfg.MaxStreams, maxOfAccount: cfg.MaxStreamsOfAccount, now: now,
		live: map[*outgoing]struct{}{}, byAccount: map[string]int{},
	}
}

func (s *streams) take(o *outgoing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byAccount[o.account] >= s.maxOfAccount {
		return false
	}
	if len(s.live) >= s.max {
		stalled := s.stalled(s.byAccount[o.account] + 1)
		if stalled == nil {
			return false
		}
		stalled.cut()
		s.remove(stalled)
	}
	s.live[o] = struct{}{}
	s.byAccount[o.account]++
	return true
}

// stalled returns the stream whose client has taken nothing for longest, at least for streamPatience, among the accounts that
// hold more than that number of places; nil if there is none.
func (s *streams) stalled(places int) (stalest *outgoing) {
	oldest := s.now().Add(-streamPatience).UnixNano()
	for o := range s.live {
		if since := o.idle.Load(); since != 0 && since <= oldest && s.byAccount[o.account] > places {
			stalest, oldest = o, since
		}
	}
	return stalest
}

// give gives back the place of a stream, unless another stream has it.
func (s *streams) give(o *outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(o)
}

func (s *streams) remove(o *outgoing) {
	if _, ok := s.live[o]; !ok {
		return
	}
	delete(s.live, o)
	if s.byAccount[o.account]--; s.byAccount[o.account] == 0 {
		delete(s.byAccount, o.account)
	}
}

func (s *streams) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.live))
}
