package service

import (
	"context"
	"fmt"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
)

type handlers = api.Handlers[store.Caller]

// handlers are those of the declared operations.
func (s *Service) handlersOfOperations() handlers {
	return api.NewHandlers(
		change(s, api.SetRetention, s.setRetention),
	)
}

// change is the handler of an operation that changes something. fn takes the account, and who changes it when.
func change[In, Out any](
	s *Service, op api.Op[In, Out], fn func(ctx context.Context, account prism.AccountID, by store.By, in In) (Out, error),
) api.Handler[store.Caller] {
	return api.Handle(op, func(ctx context.Context, c store.Caller, in In) (out Out, err error) {
		by, err := s.By(c.Actor())
		if err != nil {
			return out, err
		}
		return fn(ctx, c.Account, by, in)
	})
}

// Do implements contract.Results.
func (s *Service) Do(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Response, error) {
	declaration := op.Declared()
	handler, ok := s.handlers[declaration.Name]
	if !ok {
		return contract.Response{}, fmt.Errorf("service: no handler of %s", declaration.Name)
	}
	caller, leave, err := s.enter(ctx, key, contract.Operation(declaration.Name))
	if err != nil {
		return contract.Response{}, err
	}
	defer leave()
	response, err := handler.Call(ctx, caller, request)
	if err != nil {
		return contract.Response{}, translate(err, declaration.NotFound())
	}
	if response == nil {
		return contract.Response{}, nil
	}
	body, err := strictjson.Marshal(response)
	return contract.Response{ContentType: format.ContentType(contract.JSON), Body: body}, err
}
