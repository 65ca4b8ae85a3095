package service

import (
	"cmp"
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

func (s *Service) createKey(ctx context.Context, account prism.AccountID, by store.By, in api.CreateKeyRequest) (api.CreatedAPIKey, error) {
	created, text, err := s.MakeKey(ctx, account, in.NewKey, by)
	return api.CreatedAPIKey{APIKey: newKeyBody(created, nil), Key: text}, err
}

// MakeKey creates and stores an API key of an account, and returns its text, which is not stored.
func (s *Service) MakeKey(
	ctx context.Context, account prism.AccountID, n api.NewKey, by store.By,
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
		CreatedAt: by.At,
	}
	if n.ExpiresAt != nil {
		k.ExpiresAt = new(n.ExpiresAt.Truncate(time.Millisecond))
	}
	if err := s.Store.CreateKey(ctx, account, k, key.Digest, store.MaxActiveKeys, by); err != nil {
		return store.APIKey{}, "", access.Translate(err, nil)
	}
	return k, key.Text, nil
}

func (s *Service) listKeys(ctx context.Context, c store.Caller, in api.ListKeysRequest) ([]byte, error) {
	page, err := bodies.StorePage(contract.ListOfKeys, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	keys, more, err := s.Store.ListKeys(ctx, c.Account, page)
	if err != nil {
		return nil, err
	}
	return bodies.NewList(contract.ListOfKeys, keys, more,
		func(k store.APIKey) (strictjson.Value, error) {
			return strictjson.Marshal(newKeyBody(k, s.LastUse(k.ID, k.LastUsedAt)))
		},
		func(k store.APIKey) prism.UUID { return k.ID.UUID })
}

func (s *Service) revokeKey(ctx context.Context, account prism.AccountID, by store.By, in api.RevokeKeyRequest) (api.APIKey, error) {
	k, err := s.Store.RevokeKey(ctx, account, in.Key, by)
	return newKeyBody(k, s.LastUse(k.ID, k.LastUsedAt)), err
}
