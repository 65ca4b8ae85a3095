package client

import (
	"context"
	"iter"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// NewView is a view of results to save.
	NewView = api.NewView
	// ViewFilters are which results a view shows, as the list of results has them.
	ViewFilters = api.ViewFilters
	// View is a saved view of results, which its account shares.
	View = api.View
)

// CreateView saves a view. An account with 200 views is ErrConflict.
func (c *Client) CreateView(ctx context.Context, v NewView, options ...CallOption) (View, error) {
	return fetch[View](ctx, c, declared(api.CreateView).sending(v), options)
}

// ListViews returns one page of the account's views, newest first.
func (c *Client) ListViews(ctx context.Context, o PageOptions, options ...CallOption) (Page[View], error) {
	return fetch[Page[View]](ctx, c, declared(api.ListViews).where(o.query()), options)
}

// Views iterates over the account's views, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Views(ctx context.Context, options ...CallOption) iter.Seq2[View, error] {
	return pages(func(cursor string) (Page[View], error) {
		return c.ListViews(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ReplaceView replaces all of a view but its id.
func (c *Client) ReplaceView(ctx context.Context, id string, v NewView, options ...CallOption) (View, error) {
	return fetch[View](ctx, c, declared(api.ReplaceView, id).sending(v), options)
}

// DeleteView deletes a view.
func (c *Client) DeleteView(ctx context.Context, id string, options ...CallOption) error {
	return c.remove(ctx, declared(api.DeleteView, id), options)
}
