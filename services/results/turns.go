package results

import (
	"context"
	"sync"
	"time"
)

const (
	// turnPatience is how long a database may take to say whether it has work before the next one is asked.
	turnPatience = 200 * time.Millisecond
	// turnLimit bounds a question to a database that nobody waits for any more.
	turnLimit = 5 * time.Second
	// keptChunk is how long a chunk that came late waits for somebody to take it. Then its lease ends by itself. The events of webhooks are
	// not kept, as their bodies may not grow old (spec: event-body).
	keptChunk = 2 * time.Second
)

// turns asks databases for work that is leased, one after the other, and begins with another one each time. A database that does not answer
// in turnPatience is asked again when it has answered, so it delays nobody else; work that it leased meanwhile is for the next who asks.
type turns[T any] struct {
	keptLate time.Duration

	mu   sync.Mutex
	next int
	slow map[*database]int // questions that nobody waits for
	late []lateWork[T]
}

// lateWork is work that was leased when nobody waited for it any more.
type lateWork[T any] struct {
	work *T
	at   time.Time
}

// take returns work of some database, or nil if none has any. Errors of databases count only if every one had an error.
func (t *turns[T]) take(
	ctx context.Context, databases []*database, ask func(context.Context, *database) (*T, error),
) (*T, error) {
	if len(databases) == 1 {
		return ask(ctx, databases[0])
	}
	begin, work := t.begin()
	if work != nil {
		return work, nil
	}
	var failed error
	answered := false
	for i := range databases {
		db := databases[(begin+i)%len(databases)]
		if t.isSlow(db) {
			continue
		}
		work, known, err := t.question(ctx, db, ask)
		switch {
		case work != nil:
			return work, nil
		case err != nil:
			failed = err
		case known:
			answered = true
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if answered {
		return nil, nil
	}
	return nil, failed
}

// begin returns where to begin, or late work.
func (t *turns[T]) begin() (int, *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	for len(t.late) > 0 {
		first := t.late[0]
		t.late = t.late[1:]
		if time.Since(first.at) < t.keptLate {
			return 0, first.work
		}
	}
	return t.next, nil
}

func (t *turns[T]) isSlow(db *database) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.slow[db] > 0
}

// question asks a database, and waits for turnPatience. known tells whether it answered.
func (t *turns[T]) question(
	ctx context.Context, db *database, ask func(context.Context, *database) (*T, error),
) (work *T, known bool, err error) {
	type answer struct {
		work *T
		err  error
	}
	var (
		answered = make(chan answer, 1)
		waiting  = true // until the caller leaves
	)
	go func() {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), turnLimit)
		defer cancel()
		work, err := ask(asking, db)
		t.mu.Lock()
		defer t.mu.Unlock()
		if waiting {
			answered <- answer{work, err}
			return
		}
		t.slow[db]--
		if work != nil {
			t.late = append(t.late, lateWork[T]{work, time.Now()})
		}
	}()
	patience := time.NewTimer(turnPatience)
	defer patience.Stop()
	select {
	case a := <-answered:
		return a.work, true, a.err
	case <-patience.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case a := <-answered: // just now
		return a.work, true, a.err
	default:
	}
	waiting = false
	if t.slow == nil {
		t.slow = map[*database]int{}
	}
	t.slow[db]++
	return nil, false, nil
}
