package client

import (
	"context"
	"net/http"
)

// CreateKey creates an API key for the account of the client's key. Only this response has the new key's text.
func (c *Client) CreateKey(ctx context.Context, name string) (CreatedAPIKey, error) {
	return fetch[CreatedAPIKey](ctx, c, request("createKey", http.MethodPost, "keys").creating(map[string]string{"name": name}))
}

// keyList is all keys of an account, in one page.
type keyList struct {
	Data []APIKey `json:"data"`
}

// ListKeys returns all keys of the account, newest first, also revoked ones, without their texts.
func (c *Client) ListKeys(ctx context.Context) ([]APIKey, error) {
	list, err := fetch[keyList](ctx, c, request("listKeys", http.MethodGet, "keys"))
	return list.Data, err
}

// RevokeKey revokes a key at once. The call is idempotent.
func (c *Client) RevokeKey(ctx context.Context, id string) (APIKey, error) {
	return fetch[APIKey](ctx, c, request("revokeKey", http.MethodPost, "keys", id, "revoke").idempotent())
}
