package client

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/prism-results/prism/pkg/api"
)

// DeleteResult deletes a result for good, and frees its idempotency key. A result that is not there is ErrNotFound, also if it
// was deleted by an attempt of this call whose response was lost.
func (c *Client) DeleteResult(ctx context.Context, id string, options ...CallOption) error {
	return c.remove(ctx, declared(api.DeleteResult, id), options)
}

// remove makes a call whose response has no body.
func (c *Client) remove(ctx context.Context, k call, options []CallOption) error {
	k.want = http.StatusNoContent
	return c.do(ctx, k.with(options), func(b *body) error {
		_, err := b.all()
		return err
	})
}

// ResultDeletion selects the results of a prism to delete: those that match every member that is not nil or empty. At least one
// member is needed.
type ResultDeletion = api.ResultDeletion

// Deleting is how many results match, counted up to a million and for about a second.
type Deleting = api.Deleting

// DeleteResults deletes results of a prism that were saved before the call. The deletion begins at once; results younger than a
// minute follow after a minute. Results that were not counted are deleted too. A dry run only counts.
func (c *Client) DeleteResults(ctx context.Context, prism string, d ResultDeletion, options ...CallOption) (Deleting, error) {
	k := declared(api.DeleteResults, prism).sending(d)
	filter := d
	if filter.Expect = nil; reflect.ValueOf(filter).IsZero() {
		k.err = errors.New("client: deleteResults: a deletion needs a filter")
	}
	return fetch[Deleting](ctx, c, k, options)
}

// SetRetention has the results of a prism deleted, within an hour, when they are older than this many days; nil keeps
// them.
func (c *Client) SetRetention(ctx context.Context, prism string, days *int, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.SetRetention, prism).sending(api.Retention{Days: days}), options)
}
