package storetest

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The changes of a fixture are made by an operator. The tests of the audit call the methods of the store itself.

// by is a change at a time, by an operator. Entries have ids of their own: those of id number the results.
func (f *fixture) by(at time.Time) store.By {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries++
	return store.By{Entry: NumberedID(f.entries), At: at, Actor: operator()}
}

// By is a change by an operator at the beginning of 1970. Its entry has a random id.
func By() store.By {
	at := time.UnixMilli(0)
	id, err := prism.NewUUID(at, rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return store.By{Entry: id, At: at, Actor: operator()}
}

func operator() store.Actor { return store.Actor{Kind: store.OperatorActor, Name: "opera “tor”"} }

func (f *fixture) CreateAccount(ctx context.Context, id prism.AccountID, name string, at time.Time) error {
	return f.Store.CreateAccount(ctx, id, name, f.by(at))
}

func (f *fixture) SetLimits(ctx context.Context, account prism.AccountID, c keys.LimitsChange) (prism.Limits, error) {
	return f.Store.SetLimits(ctx, account, c, f.by(moment(0)))
}

func (f *fixture) CreateKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest,
) error {
	return f.Store.CreateKey(ctx, account, k, digest, keys.MaxActiveKeys, f.by(k.CreatedAt))
}

func (f *fixture) RevokeKey(
	ctx context.Context, account prism.AccountID, id prism.KeyID, at time.Time,
) (keys.APIKey, error) {
	return f.Store.RevokeKey(ctx, account, id, f.by(at))
}

func (f *fixture) RevokeAnyKey(ctx context.Context, id prism.KeyID, at time.Time) (keys.APIKey, error) {
	return f.Store.RevokeAnyKey(ctx, id, f.by(at))
}

func (f *fixture) CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism) error {
	return f.Store.CreatePrism(ctx, account, p, f.by(p.CreatedAt))
}

func (f *fixture) AddVersion(ctx context.Context, account prism.AccountID, p prism.Prism) error {
	return f.Store.AddVersion(ctx, account, p, nil, f.by(p.Latest.CreatedAt))
}

func (f *fixture) PutLens(
	ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens,
) error {
	return f.Store.PutLens(ctx, account, id, latest, l, nil, f.by(moment(1)))
}

func (f *fixture) Rename(ctx context.Context, account prism.AccountID, id prism.PrismID, name string) error {
	return f.Store.Rename(ctx, account, id, name, f.by(moment(1)))
}

// SetArchived archives at a time, or unarchives if there is none.
func (f *fixture) SetArchived(
	ctx context.Context, account prism.AccountID, id prism.PrismID, at *time.Time,
) (*time.Time, error) {
	if at == nil {
		return f.Store.SetArchived(ctx, account, id, false, f.by(moment(1)))
	}
	return f.Store.SetArchived(ctx, account, id, true, f.by(*at))
}
