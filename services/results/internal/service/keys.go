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
func (s *Service) CreateKey(ctx context.Context, key contract.KeyDigest, name string) (contract.Response, error) {
	account, err := s.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	created, text, err := s.MakeKey(ctx, account, name)
	if err != nil {
		return contract.Response{}, err
	}
	body := newKeyBody(created, nil)
	body.Key = text
	return respond(body)
}

// MakeKey creates and stores an API key of an account, and returns its text, which is not stored.
func (s *Service) MakeKey(ctx context.Context, account prism.AccountID, name string) (store.APIKey, string, error) {
	id, err := s.NewID()
	if err != nil {
		return store.APIKey{}, "", err
	}
	key, err := s.NewKey()
	if err != nil {
		return store.APIKey{}, "", err
	}
	k := store.APIKey{ID: prism.KeyID{UUID: id}, Name: name, Prefix: key.Prefix, CreatedAt: prism.Now(s.Now)}
	if err := s.Store.CreateKey(ctx, account, k, key.Digest); err != nil {
		return store.APIKey{}, "", translate(err)
	}
	return k, key.Text, nil
}

// ListKeys implements contract.Results.
func (s *Service) ListKeys(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
	account, err := s.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	keys, err := s.Store.ListKeys(ctx, account)
	if err != nil {
		return contract.Response{}, translate(err)
	}
	list := struct {
		Data []strictjson.Value `json:"data"`
	}{Data: []strictjson.Value{}}
	for _, k := range keys {
		value, err := strictjson.Marshal(newKeyBody(k, s.usage.last(k.ID, k.LastUsedAt)))
		if err != nil {
			return contract.Response{}, err
		}
		list.Data = append(list.Data, value)
	}
	return respond(list)
}

// RevokeKey implements contract.Results.
func (s *Service) RevokeKey(ctx context.Context, key contract.KeyDigest, id prism.KeyID) (contract.Response, error) {
	account, err := s.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	k, err := s.Store.RevokeKey(ctx, account, id, prism.Now(s.Now))
	if err != nil {
		return contract.Response{}, missing(err, apierr.KeyNotFound())
	}
	return respond(newKeyBody(k, s.usage.last(k.ID, k.LastUsedAt)))
}
