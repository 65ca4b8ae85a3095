package client

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// PlanTimeout is how long one attempt of a dry run of CreateRun may take: it checks rows for 20 s.
const PlanTimeout = time.Minute

// FollowRun streams a run as server-sent events, at most two a second, until it is over. WatchRun reads them. The caller
// closes the stream.
func (c *Client) FollowRun(ctx context.Context, id string, options ...CallOption) (io.ReadCloser, error) {
	return c.stream(ctx, declared(api.FollowRun, id), options, api.EventsMedia.Type)
}

// WatchRun follows a run until it is finished, cancelled or paused, and returns it. It reads the run's events. Where they do not
// arrive, such as behind a proxy that holds them back, it reads the run every 2 s. progress gets the run after each event and read,
// not concurrently; it may be nil. When the context ends, the run goes on; WatchRun returns it as it was last read, with the error.
func (c *Client) WatchRun(ctx context.Context, id string, progress func(Run)) (Run, error) {
	var r Run
	see := func(now Run) bool {
		if r = now; progress != nil {
			progress(r)
		}
		return r.Status.Settled()
	}
	for events, n := true, 1; ; n++ {
		if events {
			events = c.events(ctx, id, see)
		}
		if r.Status.Settled() {
			return r, nil
		}
		var now Run
		err := c.patiently(ctx, func() (_ bool, err error) {
			now, err = c.ReadRun(ctx, id)
			return false, err
		})
		switch {
		case err != nil:
			return r, err
		case see(now):
			return r, nil
		case !c.poll.wait(ctx, n, 0):
			return r, ended(ctx)
		}
	}
}

// events passes the events of a run to see, until see returns true or the stream ends. It tells whether events arrive.
func (c *Client) events(ctx context.Context, id string, see func(Run) bool) (arrive bool) {
	stream, err := c.FollowRun(ctx, id)
	if err != nil {
		return false
	}
	defer func() { _ = stream.Close() }()
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		var r Run
		if !ok || decode(data, &r) != nil { // an event's name, a comment, or the empty line behind an event
			continue
		}
		if arrive = true; see(r) {
			break
		}
	}
	return arrive
}

// RunFile uploads a file as UploadFile does, runs it through a prism, and follows the run as WatchRun does until it is finished,
// cancelled or paused. It sets r.FileID, and r.IdempotencyKey if that is empty. progress may be nil. An error after the run was
// created comes with the run, which goes on.
func (c *Client) RunFile(ctx context.Context, prism string, u Upload, r NewRun, progress func(Run)) (Run, error) {
	f, err := c.UploadFile(ctx, u)
	if err != nil {
		return Run{}, err
	}
	r.FileID = f.ID
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = NewIdempotencyKey()
	}
	var made Run
	err = c.patiently(ctx, func() (_ bool, err error) {
		made, err = c.CreateRun(ctx, prism, r)
		return false, err
	})
	if err != nil {
		return Run{}, err
	}
	now, err := c.WatchRun(ctx, made.ID, progress)
	if now.ID == "" {
		now = made
	}
	return now, err
}
