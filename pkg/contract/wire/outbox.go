package wire

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// keptBytes is the largest buffer that an outbox keeps for its next write.
	keptBytes = 256 << 10
	// loneBytes is the largest frame that is written by who adds it. A connection without other calls has room for it, so
	// the write does not wait for the other side.
	loneBytes = 4 << 10
)

// outbox writes frames. Those that are added while a write is under way, or by whoever else is about to run, share the
// next one: a system call and a wake-up of the other side cost more than all else about a small call.
type outbox struct {
	to     io.WriteCloser
	before func() error // unless nil, may refuse a write
	wake   chan struct{}
	more   atomic.Bool // there are frames that the next write takes

	mu      sync.Mutex
	frames  []byte
	after   []func() // of the frames
	last    uint32   // id of the last frame
	written uint32   // id of the last frame of which a part may have been sent
	writing bool
	closed  bool

	// Of who writes.
	spareFrames []byte
	spareAfter  []func()
}

func newOutbox(to io.WriteCloser, before func() error) *outbox {
	return &outbox{to: to, before: before, wake: make(chan struct{}, 1)}
}

// add takes a frame; after, unless nil, is called when it is out, or can no longer be sent. It returns whether the caller
// shall flush: when its call is the only one, nobody is there to share a write with.
func (o *outbox) add(p preamble, head, body []byte, alone bool, after func()) (flush bool) {
	p.head, p.body = len(head), len(body)
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		if after != nil {
			after()
		}
		return false
	}
	o.frames = append(append(p.append(o.frames), head...), body...)
	o.last = p.id
	if after != nil {
		o.after = append(o.after, after)
	}
	if alone && !o.writing && len(o.frames) <= loneBytes {
		o.writing = true
		o.mu.Unlock()
		return true
	}
	o.more.Store(true)
	o.mu.Unlock()
	o.rouse()
	return false
}

func (o *outbox) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes until the outbox is closed or a write fails, and closes both then.
func (o *outbox) run() error {
	for range o.wake {
		runtime.Gosched() // who is about to add a frame does it now
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			return nil
		}
		if o.writing { // by somebody who calls again if there is more
			o.mu.Unlock()
			continue
		}
		o.writing = true
		o.mu.Unlock()
		if err := o.flush(); err != nil {
			return err
		}
	}
	return nil
}

// flush writes what is there. Only who set writing calls it.
func (o *outbox) flush() (err error) {
	o.mu.Lock()
	frames, after, last := o.frames, o.after, o.last
	o.frames, o.after = o.spareFrames, o.spareAfter
	o.more.Store(false)
	o.mu.Unlock()
	if len(frames) > 0 {
		err = o.write(frames, last)
	}
	for _, f := range after {
		f()
	}
	clear(after)
	if cap(frames) > keptBytes {
		frames = nil
	}
	o.mu.Lock()
	o.spareFrames, o.spareAfter = frames[:0], after[:0]
	o.writing = false
	more := len(o.frames) > 0
	o.mu.Unlock()
	if err != nil {
		o.close()
	} else if more {
		o.rouse()
	}
	return err
}

func (o *outbox) write(frames []byte, last uint32) error {
	if o.before != nil {
		if err := o.before(); err != nil {
			return err
		}
	}
	o.mu.Lock()
	o.written = last
	o.mu.Unlock()
	_, err := o.to.Write(frames)
	return err
}

// close lets go of what was not written, and closes the connection. It returns the id of the last frame of which a part
// may have been sent.
func (o *outbox) close() (written uint32) {
	o.mu.Lock()
	after := o.after
	o.closed, o.frames, o.after = true, nil, nil
	written = o.written
	o.mu.Unlock()
	for _, f := range after {
		f()
	}
	_ = o.to.Close()
	o.rouse()
	return written
}
