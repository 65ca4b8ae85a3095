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

func TestKeptDefinitionsTakeAtMost64MiB(t *testing.T) {
	t.Parallel()
	c := newKept[int]()
	for n := range keptDefinitions + 1 {
		c.Add(n, kept{})
	}
	if c.Len() != keptDefinitions || keptDefinitions*keptSize > 64<<20 {
		t.Errorf("%d definitions of %d bytes", c.Len(), keptSize)
	}
}
