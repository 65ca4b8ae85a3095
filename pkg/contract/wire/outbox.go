package wire

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// keptBytes is the largest buffer that an outbox keeps for its next write.
const keptBytes = 256 << 10

// outbox writes frames. Those that are added while a write is under way, or by whoever else is about to run, share the
// next one: a system call and a wake-up of the other side cost more than all else about a small call.
type outbox struct {
	to   io.WriteCloser
	wake chan struct{}
	more atomic.Bool // there are frames that the next write takes

	mu      sync.Mutex
	frames  []byte
	after   []func() // of the frames
	last    uint32   // id of the last frame
	written uint32   // id of the last frame of which a part may have been sent
	closed  bool
}

func newOutbox(to io.WriteCloser) *outbox {
	return &outbox{to: to, wake: make(chan struct{}, 1)}
}

// add takes a frame; after, unless nil, is called when it is out, or can no longer be sent.
func (o *outbox) add(p preamble, head, body []byte, after func()) {
	p.head, p.body = len(head), len(body)
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		if after != nil {
			after()
		}
		return
	}
	o.frames = append(append(p.append(o.frames), head...), body...)
	o.last = p.id
	o.more.Store(true)
	if after != nil {
		o.after = append(o.after, after)
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes until the outbox is closed or a write fails, and closes both then. Before, unless nil, may refuse a write.
func (o *outbox) run(before func() error) error {
	var frames []byte
	var after []func()
	for range o.wake {
		runtime.Gosched() // who is about to add a frame does it now
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			return nil
		}
		frames, o.frames = o.frames, frames[:0]
		after, o.after = o.after, after[:0]
		last := o.last
		o.more.Store(false)
		o.mu.Unlock()
		if len(frames) == 0 {
			continue
		}
		var err error
		if before != nil {
			err = before()
		}
		if err == nil {
			o.mu.Lock()
			o.written = last
			o.mu.Unlock()
			_, err = o.to.Write(frames)
		}
		for _, f := range after {
			f()
		}
		clear(after)
		if cap(frames) > keptBytes {
			frames = nil
		}
		if err != nil {
			o.close()
			return err
		}
	}
	return nil
}

// close lets go of what was not written, and closes the connection. It returns the id of the last frame of which a part
// may have been sent.
func (o *outbox) close() (written uint32) {
	o.mu.Lock()
	after := o.after
	if o.closed {
		after = nil
	}
	o.closed, o.frames, o.after = true, nil, nil
	written = o.written
	o.mu.Unlock()
	for _, f := range after {
		f()
	}
	_ = o.to.Close()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return written
}
