package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
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
		f := &follower{after: in.After, read: func(after string) (contract.Response, error) {
			return execute.LookUp(ctx, func(ctx context.Context) (contract.Response, error) {
				page := api.ListEventsRequest{EventFilter: in.EventFilter, After: after, Limit: followedAtOnce}
				return d.Results.Do(ctx, key, api.ListEvents, &page)
			})
		}}
		e, err := f.events(d.Stopping())
		if err != nil {
			leave(err)
			return err
		}
		return httpkit.SendEvents(c, leaving{e, leave})
	})
}

// follower reads what happens in an account (spec: event-stream).
type follower struct {
	read  func(after string) (contract.Response, error)
	after string // behind what was read
}

// events finds the place where the events begin, and follows them.
func (f *follower) events(stopping context.Context) (*events, error) {
	first, err := f.look()
	return &events{look: f.look, silent: "no event", stopping: stopping, out: first.out}, err
}

// look reads what follows.
func (f *follower) look() (l looked, err error) {
	response, err := f.read(f.after)
	if err != nil {
		return l, err
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
		return l, err
	}
	for _, e := range page.Data {
		l.out = append(append(append(append(l.out, "id: "...), e.ID...), "\nevent: "...), e.Type...)
		l.out = strictjson.AppendString(append(l.out, "\ndata: {\"type\":"...), e.Type)
		l.out = append(append(l.out, `,"timestamp":`...), e.Timestamp...)
		l.out = append(append(append(l.out, `,"data":`...), e.Data...), "}\n\n"...)
	}
	l.more = f.after != "" && page.Next != f.after
	f.after = page.Next
	return l, nil
}
