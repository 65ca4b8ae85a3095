package service

import (
	"context"
	"fmt"
	"time"

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
		change(s, api.DeleteResult, s.deleteResult),
		change(s, api.DeleteResults, s.deleteResults),
		api.Handle(api.RetryResults, s.retryResults),
		api.HandleEncoded(api.ListPrisms, s.listPrisms),
		api.Handle(api.ReadPrism, s.readPrism),
		change(s, api.RenamePrism, s.renamePrism),
		api.HandleEncoded(api.ListVersions, s.listVersions),
		api.Handle(api.ReadVersion, s.readVersion),
		change(s, api.SetRetention, s.setRetention),
		change(s, api.ArchivePrism, s.archivePrism(true)),
		change(s, api.UnarchivePrism, s.archivePrism(false)),
		change(s, api.CreateCalibration, s.createCalibration),
		api.HandleEncoded(api.ListCalibrations, s.listCalibrations),
		api.Handle(api.ReadCalibration, s.readCalibration),
		api.HandleEncoded(api.PinCalibrations, s.pinCalibrations),
		api.HandleEncoded(api.ReadPinnedCalibrations, s.readPinnedCalibrations),
		api.Handle(api.ReadDrift, s.readDrift),
		change(s, api.SetDrift, s.setDrift),
		change(s, api.CreateKey, s.createKey),
		api.HandleEncoded(api.ListKeys, s.listKeys),
		change(s, api.RevokeKey, s.revokeKey),
		api.HandleEncoded(api.ReadUsage, s.readUsage),
		api.Handle(api.CreateFile, s.createFile),
		api.HandleEncoded(api.ListFiles, s.listFiles),
		api.Handle(api.ReadFile, s.readFile),
		change(s, api.DeleteFile, s.deleteFile),
		api.Handle(api.CompleteFile, s.completeFile),
		api.HandleEncoded(api.ListFileRows, s.listFileRows),
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
	body, encoded := response.([]byte)
	if !encoded {
		body, err = strictjson.Marshal(response)
	}
	return contract.Response{ContentType: format.ContentType(contract.JSON), Body: body}, err
}

// bound is a time of a request that bounds something, as the times of results are: in whole milliseconds. Nil bounds nothing, and
// is the zero time.
func bound(t *time.Time) time.Time {
	switch {
	case t == nil:
		return time.Time{}
	case t.IsZero():
		return wholeMillisecond(t.Add(1)) // no result was saved between the two
	}
	return wholeMillisecond(*t)
}
