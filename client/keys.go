package client

import (
	"context"
	"net/http"
)

// CreateKey makes an API key for the account of the key that asks. Its text is in this answer and nowhere else.
func (c *Client) CreateKey(ctx context.Context, name string) (CreatedAPIKey, error) {
	return document[CreatedAPIKey](ctx, c, call{
		operation: "createKey", method: http.MethodPost, path: "/keys", body: map[string]string{"name": name},
		want: http.StatusCreated, timeout: Timeout,
	})
}

// keyList is all keys of an account: there is one page.
type keyList struct {
	Data []APIKey `json:"data"`
}

// ListKeys are all keys of the account, newest first, revoked ones too, without their texts.
func (c *Client) ListKeys(ctx context.Context) ([]APIKey, error) {
	list, err := document[keyList](ctx, c, call{
		operation: "listKeys", method: http.MethodGet, path: "/keys",
		want: http.StatusOK, timeout: Timeout, repeatable: true,
	})
	return list.Data, err
}

// RevokeKey refuses a key from then on. Doing it twice is the same as once.
func (c *Client) RevokeKey(ctx context.Context, id string) (APIKey, error) {
	return document[APIKey](ctx, c, call{
		operation: "revokeKey", method: http.MethodPost, path: "/keys/" + segment(id) + "/revoke",
		want: http.StatusOK, timeout: Timeout, repeatable: true,
	})
}
