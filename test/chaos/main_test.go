package chaos

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/chaos/internal/system"
)

// The flags of go build for the services of a system.
var (
	// histories are the services of the histories, which are about order: the race detector sees what many concurrent callers
	// and every fault do to a service, and nothing there is promised about time.
	histories = program.TestFlags()
	// shipped are the services as they are shipped, for the promises about time and memory.
	shipped = []string{}
	// armable are services that kill themselves at a step on demand.
	armable = []string{"-tags", system.CrashTag}
)

const (
	// startBudget is for building the services as well, on a busy machine.
	startBudget = 10 * time.Minute
	// recoveryBudget bounds the time from the end of the faults to the first success, on a machine of any load.
	recoveryBudget = 3 * time.Minute
	defaultLength  = 10 * time.Second

	// tries is the number of measurements that onceOf makes.
	tries = 5
)

// onceOf repeats a measurement of time, or of concurrent calls, until one measurement is not late. A mechanism that is
// missing or slow is late every time; a process that got no processor for a while is late once. Only a late measurement is
// repeated: what is wrong at any speed fails the test at once.
func onceOf(t *testing.T, measure func() (late string)) {
	t.Helper()
	for try := 1; ; try++ {
		late := measure()
		switch {
		case late == "", t.Failed():
			return
		case try == tries:
			t.Errorf("VIOLATION: each of %d times, at last: %s", tries, late)
			return
		}
		t.Logf("measured again, since %s", late)
	}
}

// length is the duration of the faults.
func length(t *testing.T) time.Duration {
	t.Helper()
	text, ok := os.LookupEnv("CHAOS")
	if !ok || text == "" {
		return defaultLength
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("CHAOS: %v", err)
	}
	return d
}

// seed is CHAOS_SEED, or a new seed.
func seed(t *testing.T) uint64 {
	t.Helper()
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("CHAOS_SEED: %v", err)
		}
		return n
	}
	var b [4]byte
	_, _ = rand.Read(b[:])
	return uint64(binary.BigEndian.Uint32(b[:]))
}

// startSystem starts a system that ends with the test.
func startSystem(t *testing.T, c system.Config) *system.System {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	if c.Flags == nil {
		c.Flags = histories
	}
	s, err := system.New(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, p := range s.Parts() {
				t.Log(strings.Join(p.Faults(), ""))
			}
		}
	})
	return s
}
