package fair

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// worked is for how long the clock ran while so many pieces of work were busy for 50 ms each, in steps of a length.
func worked(pieces int, step time.Duration) time.Duration {
	processors = queueOfSlices{} // the clock of a test begins anew
	began := time.Now()
	var group sync.WaitGroup
	for range pieces {
		group.Go(func() {
			var work Work
			for range 50 * time.Millisecond / step {
				work.Step()
				<-time.After(step)
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// spec: turns-of-work
func TestWorkTakesHalfOfTheProcessors(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces int
		step   time.Duration
		least  time.Duration
		most   time.Duration
	}{
		{"one pauses after each millisecond", 1, 100 * time.Microsecond, 54 * time.Millisecond, 56 * time.Millisecond},
		{"a long step is a slice", 1, 5 * time.Millisecond, 50 * time.Millisecond, 52 * time.Millisecond},
		{"as many as processors for work run at once", Processors(), time.Millisecond, 53 * time.Millisecond, 56 * time.Millisecond},
		{"four times as many take four times as long", 4 * Processors(), time.Millisecond, 4 * 50 * time.Millisecond, 4 * 56 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := worked(c.pieces, c.step); took < c.least || took > c.most {
					t.Errorf("%d pieces of work took %v, want %v to %v", c.pieces, took, c.least, c.most)
				}
			})
		})
	}
}

// spec: turns-of-work
func TestWaitingIsNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var work Work
		for range 10 {
			<-time.After(time.Second)
			work.Begin()
			<-time.After(50 * time.Microsecond)
			work.End()
		}
		if took, want := time.Since(began), 10*(time.Second+50*time.Microsecond); took != want {
			t.Errorf("work of half a millisecond took %v, want %v without a pause", took, want)
		}
	})
}
