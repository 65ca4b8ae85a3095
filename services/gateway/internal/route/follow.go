package route

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// followedAtOnce is how many events a look of a stream reads at most.
const followedAtOnce = 100

// followEvents finds the place where the stream begins, and sends what happens behind it.
func (d Deps) followEvents(c *fiber.Ctx, sent request.Parsed, err error) error {
	return d.operate(c, err, func(ctx context.Context, key contract.KeyDigest, leave func(error)) error {
		in := *sent.Request.(*api.FollowEventsRequest) //nolint:forcetypeassert // of the parser of the operation
		f := &follower{stopping: d.Stopping(), after: in.After, read: func(after string) (contract.Response, error) {
			return execute.LookUp(ctx, func(ctx context.Context) (contract.Response, error) {
				page := api.ListEventsRequest{EventFilter: in.EventFilter, After: after, Limit: followedAtOnce}
				return d.Results.Do(ctx, key, api.ListEvents, &page)
			})
		}}
		if _, err := f.look(); err != nil {
			leave(err)
			return err
		}
		return httpkit.SendEvents(c, leaving{f, leave})
	})
}

// follower is what happens in an account as server-sent events, until the key is refused, what follows is not kept, or the service stops
// (spec: event-stream). Each look has the key of the caller, as those of the events of a run.
type follower struct {
	read     func(after string) (contract.Response, error)
	stopping context.Context //nolint:containedctx // the life of the service
	after    string          // behind what was read
	out      []byte          // not yet sent
	over     bool            // behind out
}

// look reads what follows, and reports whether there may be more.
func (f *follower) look() (more bool, err error) {
	response, err := f.read(f.after)
	if err != nil {
		return false, err
	}
	var page struct {
		Data []struct {
			ID        string           `json:"id"`
			Type      string           `json:"type"`
			Timestamp strictjson.Value `json:"timestamp"`
			Data      strictjson.Value `json:"data"`
		} `json:"data"`
		Next string `json:"next"`
	}
	if err := strictjson.Unmarshal(response.Body, &page); err != nil {
		return false, err
	}
	for _, e := range page.Data {
		f.out = append(append(append(append(f.out, "id: "...), e.ID...), "\nevent: "...), e.Type...)
		f.out = strictjson.AppendString(append(f.out, "\ndata: {\"type\":"...), e.Type)
		f.out = append(append(f.out, `,"timestamp":`...), e.Timestamp...)
		f.out = append(append(append(f.out, `,"data":`...), e.Data...), "}\n\n"...)
	}
	more = f.after != "" && page.Next != f.after
	f.after = page.Next
	return more, nil
}

func (f *follower) Read(p []byte) (int, error) {
	if len(f.out) == 0 && !f.over {
		f.await()
	}
	if len(f.out) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// await waits for the next events, or makes a comment of the silence.
func (f *follower) await() {
	ticks := time.NewTicker(eventPause)
	defer ticks.Stop()
	silence := time.NewTimer(eventSilence)
	defer silence.Stop()
	atOnce := make(chan time.Time)
	close(atOnce)
	next := ticks.C
	for {
		select {
		case <-f.stopping.Done():
			f.over = true
			return
		case <-silence.C:
			f.out = []byte(": no event\n\n")
			return
		case <-next:
		}
		more, err := f.look()
		if len(f.out) > 0 {
			return
		}
		next = ticks.C
		if more { // what was looked through was not wanted
			next = atOnce
		}
		refused, ok := errors.AsType[*apierr.Error](err)
		if ok && refused.Status != apierr.Unavailable().Status {
			f.over = true
			return
		} // results that are away may come back
	}
}

func (f *follower) Close() error { return nil }
