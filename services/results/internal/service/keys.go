package service

import (
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// CreateKey implements contract.Results.
func (a *Service) CreateKey(ctx context.Context, key contract.KeyDigest, name string) (contract.Response, error) {
	account, err := a.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	made, text, err := a.MakeKey(ctx, account, name)
	if err != nil {
		return contract.Response{}, err
	}
	body := newKeyBody(made, nil)
	body.Key = text
	return document(body)
}

// MakeKey makes and stores a key of an account. The text is nowhere else.
func (a *Service) MakeKey(ctx context.Context, account prism.AccountID, name string) (store.APIKey, string, error) {
	id, err := a.NewID()
	if err != nil {
		return store.APIKey{}, "", err
	}
	made, err := a.NewKey()
	if err != nil {
		return store.APIKey{}, "", err
	}
	k := store.APIKey{ID: prism.KeyID{UUID: id}, Name: name, Prefix: made.Prefix, CreatedAt: prism.Now(a.Now)}
	if err := a.Store.CreateKey(ctx, account, k, made.Digest); err != nil {
		return store.APIKey{}, "", public(err)
	}
	return k, made.Text, nil
}

// ListKeys implements contract.Results.
func (a *Service) ListKeys(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
	account, err := a.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	keys, err := a.Store.ListKeys(ctx, account)
	if err != nil {
		return contract.Response{}, public(err)
	}
	list := struct {
		Data []strictjson.Value `json:"data"`
	}{Data: []strictjson.Value{}}
	for _, k := range keys {
		value, err := strictjson.Marshal(newKeyBody(k, a.usage.last(k.ID, k.LastUsedAt)))
		if err != nil {
			return contract.Response{}, err
		}
		list.Data = append(list.Data, value)
	}
	return document(list)
}

// RevokeKey implements contract.Results.
func (a *Service) RevokeKey(ctx context.Context, key contract.KeyDigest, id prism.KeyID) (contract.Response, error) {
	account, err := a.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	k, err := a.Store.RevokeKey(ctx, account, id, prism.Now(a.Now))
	if err != nil {
		return contract.Response{}, missing(err, apierr.KeyNotFound())
	}
	return document(newKeyBody(k, a.usage.last(k.ID, k.LastUsedAt)))
}
