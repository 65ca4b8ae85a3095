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

// caller is who calls an operation, and the digest of the key.
type caller struct {
	store.Caller
	digest contract.KeyDigest
}

type handlers = api.Handlers[caller]

// handlers are those of the declared operations.
func (s *Service) handlersOfOperations() handlers {
	return api.NewHandlers(
		encoded(api.ListResults, s.listResults),
		encoded(api.ReadRecord, s.readRecord),
		change(s, api.DeleteResult, s.deleteResult),
		change(s, api.DeleteResults, s.deleteResults),
		handle(api.RetryResults, s.retryResults),
		change(s, api.CreatePrism, s.createPrism),
		change(s, api.CreateVersion, s.createVersion),
		change(s, api.ReplaceLens, s.replaceLens),
		encoded(api.PreviewLens, s.previewLens),
		encoded(api.ListPrisms, s.listPrisms),
		handle(api.ReadPrism, s.readPrism),
		change(s, api.RenamePrism, s.renamePrism),
		encoded(api.ListVersions, s.listVersions),
		handle(api.ReadVersion, s.readVersion),
		change(s, api.SetRetention, s.setRetention),
		change(s, api.ArchivePrism, s.archivePrism(true)),
		change(s, api.UnarchivePrism, s.archivePrism(false)),
		handle(api.ReadQuality, s.readQuality),
		handle(api.ReadThresholds, s.readThresholds),
		handle(api.CompareVersions, s.compareVersions),
		change(s, api.CreateCalibration, s.createCalibration),
		encoded(api.ListCalibrations, s.listCalibrations),
		handle(api.ReadCalibration, s.readCalibration),
		encoded(api.PinCalibrations, s.pinCalibrations),
		encoded(api.ReadPinnedCalibrations, s.readPinnedCalibrations),
		handle(api.ReadDrift, s.readDrift),
		change(s, api.SetDrift, s.setDrift),
		change(s, api.CreateKey, s.createKey),
		encoded(api.ListKeys, s.listKeys),
		change(s, api.RevokeKey, s.revokeKey),
		encoded(api.ReadUsage, s.readUsage),
		handle(api.ReadAccount, func(ctx context.Context, c store.Caller, _ api.ReadAccountRequest) (api.Account, error) {
			return s.Store.Account(ctx, c.Account)
		}),
		encoded(api.ListAudit, s.listAudit),
		change(s, api.AddMember, s.addMember),
		encoded(api.ListMembers, s.listMembers),
		change(s, api.ChangeMember, s.changeMember),
		change(s, api.RemoveMember, s.removeMember),
		change(s, api.LinkMember, s.linkMember),
		api.HandleEncoded(api.PutLabels, s.putLabels),
		api.HandleEncoded(api.ReadLabels, s.readLabels),
		handle(api.AddLabels, s.addLabels),
		encoded(api.ListLabels, s.listLabels),
		encoded(api.ListLabelQueue, s.listLabelQueue),
		handle(api.CreateFile, s.createFile),
		encoded(api.ListFiles, s.listFiles),
		handle(api.ReadFile, s.readFile),
		change(s, api.DeleteFile, s.deleteFile),
		handle(api.CompleteFile, s.completeFile),
		encoded(api.ListFileRows, s.listFileRows),
		handle(api.CreateRun, s.createRun),
		encoded(api.ListRuns, s.listRuns),
		handle(api.ReadRun, s.readRun),
		change(s, api.PauseRun, s.actOnRun(store.RunPause)),
		change(s, api.ResumeRun, s.actOnRun(store.RunResume)),
		change(s, api.CancelRun, s.actOnRun(store.RunCancel)),
		change(s, api.RetryRun, s.actOnRun(store.RunRetry)),
		change(s, api.SetRunLimits, s.setRunLimits),
	)
}

// handle is the handler of an operation that needs no more than the caller's account and role.
func handle[In, Out any](
	op api.Op[In, Out], fn func(ctx context.Context, c store.Caller, in In) (Out, error),
) api.Handler[caller] {
	return api.Handle(op, func(ctx context.Context, c caller, in In) (Out, error) { return fn(ctx, c.Caller, in) })
}

// encoded is handle of an operation that encodes its response itself.
func encoded[In, Out any](
	op api.Op[In, Out], fn func(ctx context.Context, c store.Caller, in In) ([]byte, error),
) api.Handler[caller] {
	return api.HandleEncoded(op, func(ctx context.Context, c caller, in In) ([]byte, error) { return fn(ctx, c.Caller, in) })
}

// change is the handler of an operation that changes something. fn takes the account, and who changes it when.
func change[In, Out any](
	s *Service, op api.Op[In, Out], fn func(ctx context.Context, account prism.AccountID, by store.By, in In) (Out, error),
) api.Handler[caller] {
	return handle(op, func(ctx context.Context, c store.Caller, in In) (out Out, err error) {
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
	if in, ok := request.(*api.ResultInFormat); ok && declaration.Name == api.ReadResult.Name {
		return s.readResult(ctx, key, *in)
	}
	handler, ok := s.handlers[declaration.Name]
	if !ok {
		return contract.Response{}, fmt.Errorf("service: no handler of %s", declaration.Name)
	}
	found, leave, err := s.enter(ctx, key, contract.Operation(declaration.Name))
	if err != nil {
		return contract.Response{}, err
	}
	defer leave()
	response, err := handler.Call(ctx, caller{found, key}, request)
	if err != nil {
		return contract.Response{}, translate(err, declaration.NotFound())
	}
	if response == nil {
		return contract.Response{}, nil
	}
	body, encoded := response.([]byte)
	if !encoded {
		body, err = strictjson.Marshal(response, strictjson.Numbers)
	}
	return contract.Response{ContentType: format.ContentType(contract.JSON), Body: body}, err
}

// Open implements contract.Results.
func (s *Service) Open(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Stream, error) {
	c, err := s.authenticate(ctx, key, contract.Operation(op.Declared().Name))
	if err != nil {
		return contract.Stream{}, err
	}
	var stream contract.Stream
	switch in := request.(type) {
	case *api.ExportResultsRequest:
		stream, err = s.exportResults(ctx, c, *in)
	case *api.ListRunRowsRequest:
		stream, err = s.listRunRows(ctx, c, *in)
	default:
		err = fmt.Errorf("service: %s is no stream", op.Declared().Name)
	}
	return stream, translate(err, op.Declared().NotFound())
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
