package keys

import (
	"cmp"
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of accounts and keys.
type Handlers struct {
	store interface {
		Store
		LimitStore
	}
	access *access.Access
	newID  func() (prism.UUID, error)
	newKey func() (Secret, error)
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s interface {
	Store
	LimitStore
}, a *access.Access, newID func() (prism.UUID, error), newKey func() (Secret, error),
) *Handlers {
	return &Handlers{store: s, access: a, newID: newID, newKey: newKey}
}

// Operations are the operations of accounts and keys.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(s.access, api.CreateKey, s.createKey),
		access.Encoded(api.ListKeys, s.listKeys),
		access.Change(s.access, api.RevokeKey, s.revokeKey),
		access.Handle(api.ReadAccount, func(ctx context.Context, c store.Caller, _ api.ReadAccountRequest) (api.Account, error) {
			return s.store.Account(ctx, c.Account)
		}),
	}
}

func (s *Handlers) createKey(ctx context.Context, account prism.AccountID, by store.By, in api.CreateKeyRequest) (api.CreatedAPIKey, error) {
	created, text, err := s.MakeKey(ctx, account, in.NewKey, by)
	return api.CreatedAPIKey{APIKey: newKeyBody(created, nil), Key: text}, err
}

// MakeKey creates and stores an API key of an account, and returns its text, which is not stored.
func (s *Handlers) MakeKey(
	ctx context.Context, account prism.AccountID, n api.NewKey, by store.By,
) (APIKey, string, error) {
	id, err := s.newID()
	if err != nil {
		return APIKey{}, "", err
	}
	key, err := s.newKey()
	if err != nil {
		return APIKey{}, "", err
	}
	k := APIKey{
		ID: prism.KeyID{UUID: id}, Name: n.Name, Prefix: key.Prefix, Role: cmp.Or(n.Role, prism.Owner),
		CreatedAt: by.At,
	}
	if n.ExpiresAt != nil {
		k.ExpiresAt = new(n.ExpiresAt.Truncate(time.Millisecond))
	}
	if err := s.store.CreateKey(ctx, account, k, key.Digest, MaxActiveKeys, by); err != nil {
		return APIKey{}, "", access.Translate(err, nil)
	}
	return k, key.Text, nil
}

func (s *Handlers) listKeys(ctx context.Context, c store.Caller, in api.ListKeysRequest) ([]byte, error) {
	return bodies.List(contract.ListOfKeys, in.Limit, in.Cursor,
		func(page store.Page) ([]APIKey, bool, error) { return s.store.ListKeys(ctx, c.Account, page) },
		func(k APIKey) (api.APIKey, error) { return newKeyBody(k, s.access.LastUse(k.ID, k.LastUsedAt)), nil },
		func(k APIKey) prism.UUID { return k.ID.UUID })
}

func (s *Handlers) revokeKey(ctx context.Context, account prism.AccountID, by store.By, in api.RevokeKeyRequest) (api.APIKey, error) {
	k, err := s.store.RevokeKey(ctx, account, in.Key, by)
	return newKeyBody(k, s.access.LastUse(k.ID, k.LastUsedAt)), err
}

func newKeyBody(k APIKey, lastUsed *time.Time) api.APIKey {
	return api.APIKey{
		ID: k.ID.String(), Name: k.Name, Prefix: k.Prefix, Role: k.Role, CreatedAt: api.Time{Time: k.CreatedAt},
		ExpiresAt: bodies.Time(k.ExpiresAt), LastUsedAt: bodies.Time(lastUsed), RevokedAt: bodies.Time(k.RevokedAt),
	}
}
