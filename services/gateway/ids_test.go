package gateway

import (
	"bytes"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: one-clock
func TestAnIDBeginsWithTheTimeOfResults(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-time.Minute, time.Hour} {
		at := time.Now().Add(ahead)
		id, err := newResultID(at)
		if first := prism.FirstUUID(at); err != nil || !bytes.Equal(id.UUID[:6], first[:6]) {
			t.Errorf("at %s: got %s, %v", at, id, err)
		}
	}
}
