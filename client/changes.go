package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// Changes is a page of changes. Next is After of the next page.
	Changes = api.Changes
	// Change is what happened to a result, and its number, which is above those of all changes before.
	Change = api.Change
	// ChangeType is what happened. A later release may have more types.
	ChangeType = api.ChangeType
)

// What happened to a result.
const (
	ChangeCreated  = api.ChangeCreated
	ChangeRetried  = api.ChangeRetried // another result is its retry
	ChangeLabelled = api.ChangeLabelled
	ChangeDeleted  = api.ChangeDeleted
)

// ChangeFilter selects changes.
type ChangeFilter struct {
	After int64         // the Seq behind which they begin; 0: the first that is kept
	Prism string        // the slug or id; of all prisms if empty
	Wait  time.Duration // how long a call waits for a change if there is none: at most 30 seconds, rounded up to whole ones
}

// ListChanges returns the changes behind f.After, at most limit, or 100 if limit is 0. ErrConflict: they are not kept any more.
func (c *Client) ListChanges(ctx context.Context, f ChangeFilter, limit int, options ...CallOption) (Changes, error) {
	q := url.Values{}
	seconds := int64((f.Wait + time.Second - 1) / time.Second) // a wait that is no whole second is one: Changes asks again at once
	for name, n := range map[string]int64{"after": f.After, "limit": int64(limit), "wait": seconds} {
		if n != 0 {
			q.Set(name, strconv.FormatInt(n, 10))
		}
	}
	set(q, "prism", f.Prism)
	k := declared(api.ListChanges).where(q)
	k.timeout += time.Duration(seconds) * time.Second
	return fetch[Changes](ctx, c, k, options)
}

// Changes iterates over the changes behind f.After, oldest first. With f.Wait it waits for further ones and ends only with an error, such
// as that of ctx; else it ends behind the last one. Who stores the Seq of the last change together with what it did about it, and goes on
// from there, misses nothing and does nothing twice.
func (c *Client) Changes(ctx context.Context, f ChangeFilter, options ...CallOption) iter.Seq2[Change, error] {
	const limit = 1000
	return func(yield func(Change, error) bool) {
		for {
			page, err := c.ListChanges(ctx, f, limit, options...)
			if err != nil {
				yield(Change{}, err)
				return
			}
			for _, change := range page.Data {
				if !yield(change, nil) {
					return
				}
			}
			if page.Next == f.After && f.Wait == 0 {
				return
			}
			f.After = page.Next
		}
	}
}
