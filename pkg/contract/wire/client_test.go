package wire

import (
	"testing"
	"time"
)

// A client that kept idle connections for as long as the server would send requests into connections that are being closed.
func TestConnectionsAreRetiredBeforeTheServerClosesThem(t *testing.T) {
	t.Parallel()
	const serverKeeps = 75 * time.Second // the default of httpkit.Config.IdleTimeout
	h := newHost("results:8080", 1, dialer{})
	if h.MaxIdleConnDuration <= 0 || h.MaxIdleConnDuration > serverKeeps/2 {
		t.Errorf("idle connections are kept for %s", h.MaxIdleConnDuration)
	}
	if h.MaxConnDuration <= 0 || h.MaxConnDuration > time.Minute {
		t.Errorf("connections are used for %s, so new replicas get no calls", h.MaxConnDuration)
	}
}

func TestCachedDefinitionsTakeAtMost64MiB(t *testing.T) {
	t.Parallel()
	c := newDefinitionCache[int]()
	for n := range maxCached + 1 {
		c.Add(n, cachedDefinition{})
	}
	if c.Len() != maxCached || maxCached*maxCachedSize > 64<<20 {
		t.Errorf("%d definitions of %d bytes", c.Len(), maxCachedSize)
	}
}
