package system

import (
	"sync"
	"time"
)

// watchEvery is the time between two samples of memory.
const watchEvery = 100 * time.Millisecond

// Memories are samples of the memory of each process of a system, until Stop.
type Memories struct {
	stop chan struct{}
	done sync.WaitGroup

	grown map[*Process]int64
	err   error
}

// Watch begins to sample.
func Watch(s *System) (*Memories, error) {
	m := &Memories{stop: make(chan struct{}), grown: map[*Process]int64{}}
	before := map[*Process]int64{}
	for _, p := range s.Processes {
		n, err := p.Memory()
		if err != nil {
			return nil, err
		}
		before[p], m.grown[p] = n, 0
	}
	m.done.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for m.err == nil {
			select {
			case <-tick.C:
			case <-m.stop:
				return
			}
			for p, least := range before {
				n, err := p.Memory()
				if err != nil {
					m.err = err
					break
				}
				m.grown[p] = max(m.grown[p], n-least)
			}
		}
	})
	return m, nil
}

// Stop ends the sampling. It returns by how many bytes each process grew at most.
func (m *Memories) Stop() (grown map[*Process]int64, err error) {
	close(m.stop)
	m.done.Wait()
	return m.grown, m.err
}
