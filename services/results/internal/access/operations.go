package access

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Caller is who calls an operation, and the digest of the key.
type Caller struct {
	store.Caller
	Digest contract.KeyDigest
}

// Handlers are those of the declared operations.
type Handlers = api.Handlers[Caller]

// Handle is the handler of an operation that needs no more than the caller's account and role.
func Handle[In, Out any](
	op api.Op[In, Out], fn func(ctx context.Context, c store.Caller, in In) (Out, error),
) api.Handler[Caller] {
	return api.Handle(op, func(ctx context.Context, c Caller, in In) (Out, error) { return fn(ctx, c.Caller, in) })
}

// Encoded is Handle of an operation that encodes its response itself.
func Encoded[In, Out any](
	op api.Op[In, Out], fn func(ctx context.Context, c store.Caller, in In) ([]byte, error),
) api.Handler[Caller] {
	return api.HandleEncoded(op, func(ctx context.Context, c Caller, in In) ([]byte, error) { return fn(ctx, c.Caller, in) })
}

// Change is the handler of an operation that changes something. fn takes the account, and who changes it when.
func Change[In, Out any](
	s *Access, op api.Op[In, Out], fn func(ctx context.Context, account prism.AccountID, by store.By, in In) (Out, error),
) api.Handler[Caller] {
	return Handle(op, func(ctx context.Context, c store.Caller, in In) (out Out, err error) {
		by, err := s.By(c.Actor())
		if err != nil {
			return out, err
		}
		return fn(ctx, c.Account, by, in)
	})
}
