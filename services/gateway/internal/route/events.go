package route

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

const (
	// eventPause is the least time between two events of a stream, and between two looks at what it follows (spec: run-events, event-stream).
	eventPause = 500 * time.Millisecond
	// eventSilence is how long a stream is silent at most, so that a client that has left is noticed.
	eventSilence = 15 * time.Second
)

// events is what a caller follows as server-sent events, until it is over, the key is refused, what follows is not kept, or the service
// stops. Each stream looks by itself, with the key of its caller, so a key that is revoked sees nothing more.
type events struct {
	look     func() (looked, error)
	silent   string          // the comment of a silence
	stopping context.Context //nolint:containedctx // the life of the service
	out      []byte          // not yet read
	over     bool            // behind out
}

// looked is what a look has found: events to send, whether there may be more at once, and whether these are the last.
type looked struct {
	out        []byte
	more, over bool
}

func (e *events) Read(p []byte) (int, error) {
	if len(e.out) == 0 && !e.over {
		e.await()
	}
	if len(e.out) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// await waits for the next events, or makes a comment of the silence.
func (e *events) await() {
	ticks := time.NewTicker(eventPause)
	defer ticks.Stop()
	silence := time.NewTimer(eventSilence)
	defer silence.Stop()
	atOnce := make(chan time.Time)
	close(atOnce)
	next := ticks.C
	for {
		select {
		case <-e.stopping.Done():
			e.over = true
			return
		case <-silence.C:
			e.out = []byte(": " + e.silent + "\n\n")
			return
		case <-next:
		}
		l, err := e.look()
		refused, ok := errors.AsType[*apierr.Error](err)
		e.out, e.over = l.out, l.over || ok && refused.Status != apierr.Unavailable().Status // results that are away may come back
		if len(e.out) > 0 || e.over {
			return
		}
		next = ticks.C
		if l.more { // what was looked through was not wanted
			next = atOnce
		}
	}
}

func (e *events) Close() error { return nil }

// newEvents follows a run: it is sent at once, and again when it has changed, until it is over.
func newEvents(stopping context.Context, first []byte, read func() (contract.Response, error)) *events {
	last := first
	look := func() (looked, error) {
		run, err := read()
		if err != nil || bytes.Equal(run.Body, last) {
			return looked{}, err
		}
		last = run.Body
		return eventOfRun(last), nil
	}
	begin := eventOfRun(first)
	return &events{look: look, silent: "no change", stopping: stopping, out: begin.out, over: begin.over}
}

// eventOfRun is the event of a run, which is the last one when the run is over.
func eventOfRun(run []byte) looked {
	// JSON has no line break but between its tokens.
	out := append(append([]byte("event: run\ndata: "), bytes.ReplaceAll(run, []byte("\n"), nil)...), "\n\n"...)
	var r struct {
		Status prism.RunStatus `json:"status"`
	}
	over := strictjson.Unmarshal(run, &r) != nil || r.Status == prism.RunFinished || r.Status == prism.RunCancelled
	return looked{out: out, over: over}
}
