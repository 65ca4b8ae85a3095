package service

import (
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// CreateKey implements contract.Results.
func (s *Service) CreateKey(ctx context.Context, key contract.KeyDigest, name string) (contract.Response, error) {
	return s.manage(ctx, key, nil, func(account prism.AccountID) (any, error) {
		created, text, err := s.MakeKey(ctx, account, name)
		body := newKeyBody(created, nil)
		body.Key = text
		return body, err
	})
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
		return store.APIKey{}, "", translate(err, nil)
	}
	return k, key.Text, nil
}

// ListKeys implements contract.Results.
func (s *Service) ListKeys(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
	return s.manage(ctx, key, nil, func(account prism.AccountID) (any, error) {
		keys, err := s.Store.ListKeys(ctx, account)
		list := struct {
			Data []keyBody `json:"data"`
		}{}
		for _, k := range keys {
			list.Data = append(list.Data, newKeyBody(k, s.usage.last(k.ID, k.LastUsedAt)))
		}
		return list, err
	})
}

// RevokeKey implements contract.Results.
func (s *Service) RevokeKey(ctx context.Context, key contract.KeyDigest, id prism.KeyID) (contract.Response, error) {
	return s.manage(ctx, key, apierr.KeyNotFound(), func(account prism.AccountID) (any, error) {
		k, err := s.Store.RevokeKey(ctx, account, id, prism.Now(s.Now))
		return newKeyBody(k, s.usage.last(k.ID, k.LastUsedAt)), err
	})
}
