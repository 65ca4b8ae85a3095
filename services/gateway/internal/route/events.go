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
	// eventPause is the least time between two events of a stream, and between two looks at the run (spec: run-events).
	eventPause = 500 * time.Millisecond
	// eventSilence is how long a stream is silent at most, so that a client that has left is noticed.
	eventSilence = 15 * time.Second
)

// events is a run as server-sent events: the run at once, and again when it has changed, until it is over, the key is refused, or
// the service stops. Each stream looks by itself, with the key of its caller, so a key that is revoked sees nothing more.
type events struct {
	read     func() (contract.Response, error)
	stopping context.Context //nolint:containedctx // the life of the service
	last     []byte          // the run as it was sent last
	out      []byte          // not yet read
	over     bool            // behind out
}

func newEvents(stopping context.Context, first []byte, read func() (contract.Response, error)) *events {
	e := &events{read: read, stopping: stopping}
	e.send(first)
	return e
}

// send makes an event of a run.
func (e *events) send(run []byte) {
	e.last = run
	// JSON has no line break but between its tokens.
	e.out = append(append([]byte("event: run\ndata: "), bytes.ReplaceAll(run, []byte("\n"), nil)...), "\n\n"...)
	var r struct {
		Status prism.RunStatus `json:"status"`
	}
	e.over = strictjson.Unmarshal(run, &r) != nil || r.Status == prism.RunFinished || r.Status == prism.RunCancelled
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

// await waits for the next event, or makes a comment of the silence.
func (e *events) await() {
	ticks := time.NewTicker(eventPause)
	defer ticks.Stop()
	silence := time.NewTimer(eventSilence)
	defer silence.Stop()
	for {
		select {
		case <-e.stopping.Done():
			e.over = true
			return
		case <-silence.C:
			e.out = []byte(": no change\n\n")
			return
		case <-ticks.C:
		}
		run, err := e.read()
		var refused *apierr.Error
		switch {
		case err == nil && !bytes.Equal(run.Body, e.last):
			e.send(run.Body)
			return
		case errors.As(err, &refused) && refused.Status != apierr.Unavailable().Status:
			e.over = true
			return
		} // results that are away may come back
	}
}

func (e *events) Close() error { return nil }
