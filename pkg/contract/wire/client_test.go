package wire

import (
	"testing"
	"time"
)

// A client that kept idle connections for as long as the server would send requests into connections that are being closed.
func TestConnectionsAreRetiredBeforeTheServerClosesThem(t *testing.T) {
	t.Parallel()
	const serverKeeps = 75 * time.Second // the default of httpkit.Config.IdleTimeout
	h := newHost("results:8080", 1)
	if h.MaxIdleConnDuration <= 0 || h.MaxIdleConnDuration > serverKeeps/2 {
		t.Errorf("idle connections are kept for %s", h.MaxIdleConnDuration)
	}
	if h.MaxConnDuration <= 0 || h.MaxConnDuration > time.Minute {
		t.Errorf("connections are used for %s, so new replicas get no calls", h.MaxConnDuration)
	}
}

func TestKeptDefinitionsAreBoundedByTheirBytes(t *testing.T) {
	t.Parallel()
	d := newDefinitions[int]()
	for n := range 100 {
		d.add(n, kept{size: keptBytes / 10})
		d.add(n, kept{size: keptBytes / 10}) // the same again counts once
	}
	if d.lru.Len() != 10 || d.bytes != 10*(keptBytes/10) {
		t.Errorf("%d definitions of %d bytes", d.lru.Len(), d.bytes)
	}
	d.add(100, kept{size: keptBytes + 1})
	if d.bytes != 0 {
		t.Errorf("a definition above the bound leaves %d bytes", d.bytes)
	}
	for n := range keptDefinitions + 1 {
		d.add(n, kept{size: 1})
	}
	if d.lru.Len() != keptDefinitions {
		t.Errorf("%d definitions", d.lru.Len())
	}
}
