package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// randomSchedules compares the locker with a model: a queue for each name, whose first call holds the name.
func randomSchedules(t *testing.T, l Locker) {
	var schedules atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		// Each schedule has names of its own, so that one that fails doesn't disturb the next.
		m := &model{locker: l, schedule: schedules.Add(1), queues: map[string][]*Call{}}
		defer m.empty(t)
		t.Repeat(map[string]func(*rapid.T){
			"acquire": m.acquire,
			"release": m.release,
			"cancel":  m.cancel,
			"":        m.check,
		})
	})
}

type model struct {
	locker   Locker
	schedule int64
	names    []string           // of the queues, oldest first
	queues   map[string][]*Call // the first call holds the name, the others wait
}

func (m *model) acquire(t *rapid.T) {
	name := fmt.Sprintf("schedule %d, name %d", m.schedule, rapid.IntRange(0, 2).Draw(t, "name"))
	if len(m.queues[name]) == 0 {
		m.names = append(m.names, name)
	}
	m.queues[name] = append(m.queues[name], Start(t, m.locker, name))
	m.check(t) // the call waits before the next one begins
}

func (m *model) release(t *rapid.T) {
	if len(m.names) == 0 {
		t.Skip("nothing is held")
	}
	name := rapid.SampledFrom(m.names).Draw(t, "name")
	m.leave(name, 0).Lease(t).Release(t.Context())
}

func (m *model) cancel(t *rapid.T) {
	waiting := slices.DeleteFunc(slices.Clone(m.names), func(name string) bool { return len(m.queues[name]) < 2 })
	if len(waiting) == 0 {
		t.Skip("nobody waits")
	}
	name := rapid.SampledFrom(waiting).Draw(t, "name")
	place := rapid.IntRange(1, len(m.queues[name])-1).Draw(t, "place")
	call := m.leave(name, place)
	call.Cancel()
	if err := call.Err(t); !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled waiter got %v", err)
	}
}

// leave removes a call from its queue.
func (m *model) leave(name string, place int) *Call {
	call := m.queues[name][place]
	m.queues[name] = slices.Delete(m.queues[name], place, place+1)
	if len(m.queues[name]) == 0 {
		delete(m.queues, name)
		m.names = slices.DeleteFunc(m.names, func(n string) bool { return n == name })
	}
	return call
}

// check waits until every first call has its lease, and checks that no other call has one.
func (m *model) check(t *rapid.T) {
	waiting := 0
	for _, name := range m.names {
		queue := m.queues[name]
		queue[0].Lease(t)
		for _, call := range queue[1:] {
			if call.Returned() {
				t.Fatalf("a waiter returned: %v", call.err)
			}
		}
		waiting += len(queue) - 1
	}
	Waiters(t, m.locker, waiting)
}

func (m *model) empty(t *rapid.T) {
	for len(m.names) > 0 {
		m.leave(m.names[0], 0).Lease(t).Release(context.WithoutCancel(t.Context()))
	}
}
