package service_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/service"
)

// spec: audit-entry-members
func TestIDsSortInTheOrderOfTheirMaking(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_800_000_000_000)
	newID := service.OrderedIDs(func() time.Time { return at })
	next := func() prism.UUID {
		t.Helper()
		id, err := newID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := next()
	for range 100 {
		id := next()
		if bytes.Compare(before[:], id[:]) >= 0 {
			t.Fatalf("%s follows %s", id, before)
		}
		before = id
	}
	for _, jump := range []time.Duration{-time.Minute, time.Hour} {
		at = at.Add(jump)
		id, first, end := next(), prism.FirstUUID(at), prism.FirstUUID(at.Add(time.Millisecond))
		if bytes.Compare(id[:], first[:]) < 0 || bytes.Compare(id[:], end[:]) >= 0 {
			t.Errorf("after a jump of %s the id is %s, want one of %s", jump, id, at)
		}
	}
}

// spec: audit-list
func TestIDsOfProcessesSortByTheirTime(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_800_000_000_000)
	now := func() time.Time { return at }
	busy, idle := service.OrderedIDs(now), service.OrderedIDs(now)
	var before prism.UUID
	for range 100 { // of the same millisecond
		for range 9 {
			if _, err := busy(); err != nil {
				t.Fatal(err)
			}
		}
		for _, newID := range []func() (prism.UUID, error){busy, idle} {
			at = at.Add(5 * time.Microsecond)
			id, err := newID()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Compare(before[:], id[:]) >= 0 {
				t.Fatalf("%s follows %s", id, before)
			}
			before = id
		}
	}
}
