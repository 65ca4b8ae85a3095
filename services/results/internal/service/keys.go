package service

import (
	"cmp"
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// CreateKey implements contract.Results.
func (s *Service) CreateKey(ctx context.Context, key contract.KeyDigest, n contract.NewKey) (contract.Response, error) {
	return s.alter(ctx, key, createKey, nil, func(account prism.AccountID, by store.By) (any, error) {
		created, text, err := s.MakeKey(ctx, account, n, by)
		body := newKeyBody(created, nil)
		body.Key = text
		return body, err
	})
}

// MakeKey creates and stores an API key of an account, and returns its text, which is not stored.
func (s *Service) MakeKey(
	ctx context.Context, account prism.AccountID, n contract.NewKey, by store.By,
) (store.APIKey, string, error) {
	id, err := s.NewID()
	if err != nil {
		return store.APIKey{}, "", err
	}
	key, err := s.NewKey()
	if err != nil {
		return store.APIKey{}, "", err
	}
	k := store.APIKey{
		ID: prism.KeyID{UUID: id}, Name: n.Name, Prefix: key.Prefix, Role: cmp.Or(n.Role, prism.Owner),
		CreatedAt: by.At, ExpiresAt: n.ExpiresAt,
	}
	if err := s.Store.CreateKey(ctx, account, k, key.Digest, store.MaxActiveKeys, by); err != nil {
		return store.APIKey{}, "", translate(err, nil)
	}
	return k, key.Text, nil
}

// ListKeys implements contract.Results.
func (s *Service) ListKeys(ctx context.Context, key contract.KeyDigest, p contract.Page) (contract.Response, error) {
	return s.manage(ctx, key, listKeys, nil, func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfKeys, p)
		if err != nil {
			return nil, err
		}
		keys, more, err := s.Store.ListKeys(ctx, account, page)
		if err != nil {
			return nil, err
		}
		return newListBody(ctx, contract.ListOfKeys, keys, more,
			func(k store.APIKey) (strictjson.Value, error) {
				return strictjson.Marshal(newKeyBody(k, s.lastUses.last(k.ID, k.LastUsedAt)))
			},
			func(k store.APIKey) prism.UUID { return k.ID.UUID })
	})
}

// RevokeKey implements contract.Results.
func (s *Service) RevokeKey(ctx context.Context, key contract.KeyDigest, id prism.KeyID) (contract.Response, error) {
	return s.alter(ctx, key, revokeKey, apierr.KeyNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		k, err := s.Store.RevokeKey(ctx, account, id, by)
		return newKeyBody(k, s.lastUses.last(k.ID, k.LastUsedAt)), err
	})
}
