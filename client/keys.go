package client

import (
	"context"
	"iter"

	"github.com/prism-results/prism/pkg/api"
)

// CreateKey creates an API key for the account of the client's key. Only this response has the new key's text. An account
// with 1000 active keys is ErrConflict.
func (c *Client) CreateKey(ctx context.Context, k NewKey, options ...CallOption) (CreatedAPIKey, error) {
	return fetch[CreatedAPIKey](ctx, c, declared(api.CreateKey).sending(k), options)
}

// ListKeys returns one page of the account's keys, newest first, also revoked ones, without their texts.
func (c *Client) ListKeys(ctx context.Context, o PageOptions, options ...CallOption) (Page[APIKey], error) {
	return fetch[Page[APIKey]](ctx, c, declared(api.ListKeys).where(o.query()), options)
}

// Keys iterates over the account's keys, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Keys(ctx context.Context, options ...CallOption) iter.Seq2[APIKey, error] {
	return pages(func(cursor string) (Page[APIKey], error) {
		return c.ListKeys(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// RevokeKey revokes a key at once. The call is idempotent.
func (c *Client) RevokeKey(ctx context.Context, id string, options ...CallOption) (APIKey, error) {
	return fetch[APIKey](ctx, c, declared(api.RevokeKey, id), options)
}
