package stack

import "sync"

// Goroutines run functions, each beside what follows. One whose function has ended waits for the next function, which so finds a large
// stack: that of a new goroutine is small, and the runtime makes a large one anew each time. nil starts a goroutine for each function,
// as go does.
type Goroutines struct {
	next chan func() // to one that waits
	end  chan struct{}
	once sync.Once
}

// Waiting are goroutines that wait for functions until Close. There are as many as functions have run at the same time.
func Waiting() *Goroutines { return &Goroutines{next: make(chan func()), end: make(chan struct{})} }

// Go runs f, at once and with a large stack.
func (g *Goroutines) Go(f func()) {
	if g == nil {
		go func() {
			Grow()
			f()
		}()
		return
	}
	select {
	case g.next <- f:
	default:
		go g.run(f)
	}
}

func (g *Goroutines) run(f func()) {
	for {
		Grow() // the garbage collector makes stacks small that wait
		f()
		select {
		case f = <-g.next:
		case <-g.end:
			return
		}
	}
}

// Close has the goroutines end that wait, and the others when their functions have ended.
func (g *Goroutines) Close() {
	if g != nil {
		g.once.Do(func() { close(g.end) })
	}
}
