package service_test

import (
	"cmp"
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/service"
)

// facade has a method for each declared operation that several tests call.
type facade struct{ *service.Service }

// ask makes a call of an operation with a zero request.
func ask(ctx context.Context, r contract.Results, k contract.KeyDigest, op api.Operation) (err error) {
	if op.Declared().Class == api.Streamed {
		_, err = r.Open(ctx, k, op, op.NewRequest())
	} else {
		_, err = r.Do(ctx, k, op, op.NewRequest())
	}
	return err
}

type (
	key      = contract.KeyDigest
	response = contract.Response
)

func (c facade) Read(ctx context.Context, k key, id prism.ResultID, f api.Format) (response, error) {
	return contract.Do(ctx, c, k, api.ReadResult, api.ResultInFormat{ResultRequest: api.ResultRequest{Result: id}, Format: f})
}

func (c facade) Record(ctx context.Context, k key, id prism.ResultID) (response, error) {
	return contract.Do(ctx, c, k, api.ReadRecord, api.ResultRequest{Result: id})
}

func (c facade) ListResults(ctx context.Context, k key, in api.ListResultsRequest) (response, error) {
	return contract.Do(ctx, c, k, api.ListResults, in)
}

func (c facade) Export(ctx context.Context, k key, ref prism.Ref, in api.ExportResultsRequest) (contract.Stream, error) {
	in.Prism = ref
	return contract.Open(ctx, c, k, api.ExportResults, in)
}

func (c facade) CreatePrism(ctx context.Context, k key, p api.NewPrism) (response, error) {
	return contract.Do(ctx, c, k, api.CreatePrism, api.CreatePrismRequest{NewPrism: p})
}

func (c facade) AddVersion(ctx context.Context, k key, ref prism.Ref, v api.NewVersion) (response, error) {
	return contract.Do(ctx, c, k, api.CreateVersion, api.CreateVersionRequest{PrismRequest: api.PrismRequest{Prism: ref}, NewVersion: v})
}

func (c facade) PutLens(ctx context.Context, k key, ref prism.Ref, l prism.Lens) (response, error) {
	return contract.Do(ctx, c, k, api.ReplaceLens, api.ReplaceLensRequest{
		PrismRequest: api.PrismRequest{Prism: ref}, NewLens: api.NewLens{Lens: l},
	})
}

func (c facade) PreviewLens(ctx context.Context, k key, ref prism.Ref, p api.LensPreview) (response, error) {
	return contract.Do(ctx, c, k, api.PreviewLens, api.PreviewLensRequest{PrismRequest: api.PrismRequest{Prism: ref}, LensPreview: p})
}

func (c facade) ListPrisms(ctx context.Context, k key, archived string, p contract.Page) (response, error) {
	return contract.Do(ctx, c, k, api.ListPrisms, api.ListPrismsRequest{
		PageRequest: api.PageRequest{Limit: p.Limit}, Cursor: p.Cursor, Archived: archived,
	})
}

func (c facade) Prism(ctx context.Context, k key, ref prism.Ref) (response, error) {
	return contract.Do(ctx, c, k, api.ReadPrism, api.PrismRequest{Prism: ref})
}

func (c facade) ListVersions(ctx context.Context, k key, ref prism.Ref, p contract.Page) (response, error) {
	return contract.Do(ctx, c, k, api.ListVersions, api.ListVersionsRequest{
		PrismRequest: api.PrismRequest{Prism: ref}, PageRequest: api.PageRequest{Limit: p.Limit}, Cursor: p.Cursor,
	})
}

func (c facade) Version(ctx context.Context, k key, ref prism.Ref, number int32) (response, error) {
	return contract.Do(ctx, c, k, api.ReadVersion, api.VersionRequest{PrismRequest: api.PrismRequest{Prism: ref}, Version: number})
}

func (c facade) RenamePrism(ctx context.Context, k key, ref prism.Ref, name string) (response, error) {
	return contract.Do(ctx, c, k, api.RenamePrism, api.RenamePrismRequest{
		PrismRequest: api.PrismRequest{Prism: ref}, NewName: api.NewName{Name: &name},
	})
}

func (c facade) SetArchived(ctx context.Context, k key, ref prism.Ref, archived bool) (response, error) {
	op := api.UnarchivePrism
	if archived {
		op = api.ArchivePrism
	}
	return contract.Do(ctx, c, k, op, api.PrismRequest{Prism: ref})
}

func (c facade) Quality(ctx context.Context, k key, of api.VersionRequest, question string) (response, error) {
	return contract.Do(ctx, c, k, api.ReadQuality, api.ReadQualityRequest{VersionRequest: of, Question: question})
}

func (c facade) Thresholds(ctx context.Context, k key, in api.ReadThresholdsRequest) (response, error) {
	return contract.Do(ctx, c, k, api.ReadThresholds, in)
}

func (c facade) Compare(ctx context.Context, k key, ref prism.Ref, a, b int32, question string) (response, error) {
	return contract.Do(ctx, c, k, api.CompareVersions, api.CompareVersionsRequest{
		PrismRequest: api.PrismRequest{Prism: ref}, A: a, B: b, Question: question,
	})
}

func (c facade) CreateCalibration(ctx context.Context, k key, of api.VersionRequest, n api.NewCalibration) (response, error) {
	return contract.Do(ctx, c, k, api.CreateCalibration, api.CreateCalibrationRequest{VersionRequest: of, NewCalibration: n})
}

func (c facade) ListCalibrations(ctx context.Context, k key, of api.VersionRequest, question string) (response, error) {
	return contract.Do(ctx, c, k, api.ListCalibrations, api.ListCalibrationsRequest{
		VersionRequest: of, Question: question, PageRequest: api.PageRequest{Limit: 5},
	})
}

func (c facade) Calibration(ctx context.Context, k key, of api.VersionRequest, id prism.CalibrationID) (response, error) {
	return contract.Do(ctx, c, k, api.ReadCalibration, api.ReadCalibrationRequest{VersionRequest: of, Calibration: id})
}

func (c facade) PinCalibrations(ctx context.Context, k key, of api.VersionRequest, pins api.Pins) (response, error) {
	return contract.Do(ctx, c, k, api.PinCalibrations, api.PinCalibrationsRequest{
		VersionRequest: of, CalibrationPins: api.CalibrationPins{Questions: pins},
	})
}

func (c facade) PinnedCalibrations(ctx context.Context, k key, of api.VersionRequest) (response, error) {
	return contract.Do(ctx, c, k, api.ReadPinnedCalibrations, of)
}

func (c facade) CreateKey(ctx context.Context, k key, n api.NewKey) (response, error) {
	return contract.Do(ctx, c, k, api.CreateKey, api.CreateKeyRequest{NewKey: n})
}

func (c facade) ListKeys(ctx context.Context, k key, p contract.Page) (response, error) {
	return contract.Do(ctx, c, k, api.ListKeys, api.ListKeysRequest{PageRequest: api.PageRequest{Limit: p.Limit}, Cursor: p.Cursor})
}

func (c facade) RevokeKey(ctx context.Context, k key, id prism.KeyID) (response, error) {
	return contract.Do(ctx, c, k, api.RevokeKey, api.RevokeKeyRequest{Key: id})
}

func (c facade) DeleteResult(ctx context.Context, k key, id prism.ResultID) (response, error) {
	return contract.Do(ctx, c, k, api.DeleteResult, api.ResultRequest{Result: id})
}

func (c facade) DeleteResults(ctx context.Context, k key, ref prism.Ref, in api.DeleteResultsRequest) (response, error) {
	in.Prism = ref
	return contract.Do(ctx, c, k, api.DeleteResults, in)
}

func (c facade) RetryResults(ctx context.Context, k key, r api.ResultRetry) (response, error) {
	return contract.Do(ctx, c, k, api.RetryResults, api.RetryResultsRequest{ResultRetry: r})
}

func (c facade) ReadDrift(ctx context.Context, k key, ref prism.Ref, version int32) (response, error) {
	return contract.Do(ctx, c, k, api.ReadDrift, api.ReadDriftRequest{PrismRequest: api.PrismRequest{Prism: ref}, Version: version})
}

func (c facade) SetDrift(ctx context.Context, k key, ref prism.Ref, change api.DriftChange) (response, error) {
	return contract.Do(ctx, c, k, api.SetDrift, api.SetDriftRequest{PrismRequest: api.PrismRequest{Prism: ref}, DriftChange: change})
}

func (c facade) Usage(ctx context.Context, k key, q api.ReadUsageRequest) (response, error) {
	return contract.Do(ctx, c, k, api.ReadUsage, q)
}

func (c facade) CreateFile(ctx context.Context, k key, n api.NewFile) (response, error) {
	return contract.Do(ctx, c, k, api.CreateFile, api.CreateFileRequest{NewFile: n})
}

func (c facade) CompleteFile(ctx context.Context, k key, id prism.FileID) (response, error) {
	return contract.Do(ctx, c, k, api.CompleteFile, api.FileRequest{File: id})
}

func (c facade) ReadFileAgain(ctx context.Context, k key, id prism.FileID, o api.FileOptions) (response, error) {
	return contract.Do(ctx, c, k, api.ReadFileAgain, api.ReadFileAgainRequest{FileRequest: api.FileRequest{File: id}, FileOptions: o})
}

func (c facade) File(ctx context.Context, k key, id prism.FileID) (response, error) {
	return contract.Do(ctx, c, k, api.ReadFile, api.FileRequest{File: id})
}

func (c facade) DeleteFile(ctx context.Context, k key, id prism.FileID) (response, error) {
	return contract.Do(ctx, c, k, api.DeleteFile, api.FileRequest{File: id})
}

func (c facade) ListFiles(ctx context.Context, k key, p contract.Page) (response, error) {
	return contract.Do(ctx, c, k, api.ListFiles, api.ListFilesRequest{PageRequest: api.PageRequest{Limit: p.Limit}, Cursor: p.Cursor})
}

func (c facade) FileRows(ctx context.Context, k key, id prism.FileID, offset int64, limit int) (response, error) {
	return contract.Do(ctx, c, k, api.ListFileRows, api.ListFileRowsRequest{
		FileRequest: api.FileRequest{File: id}, Offset: offset, PageRequest: api.PageRequest{Limit: limit},
	})
}

func (c facade) PutLabels(ctx context.Context, k key, id prism.ResultID, n api.NewLabels) (response, error) {
	return contract.Do(ctx, c, k, api.PutLabels, api.PutLabelsRequest{ResultRequest: api.ResultRequest{Result: id}, NewLabels: n})
}

func (c facade) ResultLabels(ctx context.Context, k key, id prism.ResultID) (response, error) {
	return contract.Do(ctx, c, k, api.ReadLabels, api.ResultRequest{Result: id})
}

func (c facade) AddLabels(ctx context.Context, k key, ref prism.Ref, n api.ManyLabels) (response, error) {
	return contract.Do(ctx, c, k, api.AddLabels, api.AddLabelsRequest{PrismRequest: api.PrismRequest{Prism: ref}, ManyLabels: n})
}

func (c facade) ListLabels(ctx context.Context, k key, ref prism.Ref, q api.ListLabelsRequest) (response, error) {
	q.Prism = ref
	return contract.Do(ctx, c, k, api.ListLabels, q)
}

func (c facade) LabelQueue(ctx context.Context, k key, ref prism.Ref, q api.ListLabelQueueRequest) (response, error) {
	q.Prism = ref
	return contract.Do(ctx, c, k, api.ListLabelQueue, q)
}

func (c facade) AddMember(ctx context.Context, k key, n api.NewMember) (response, error) {
	return contract.Do(ctx, c, k, api.AddMember, api.AddMemberRequest{NewMember: n})
}

func (c facade) ListMembers(ctx context.Context, k key, p contract.Page) (response, error) {
	return contract.Do(ctx, c, k, api.ListMembers, api.ListMembersRequest{PageRequest: api.PageRequest{Limit: p.Limit}, Cursor: p.Cursor})
}

func (c facade) ChangeMember(ctx context.Context, k key, id prism.MemberID, n api.MemberChange) (response, error) {
	return contract.Do(ctx, c, k, api.ChangeMember, api.ChangeMemberRequest{MemberRequest: api.MemberRequest{Member: id}, MemberChange: n})
}

func (c facade) RemoveMember(ctx context.Context, k key, id prism.MemberID) (response, error) {
	return contract.Do(ctx, c, k, api.RemoveMember, api.MemberRequest{Member: id})
}

func (c facade) LinkMember(ctx context.Context, k key, id prism.MemberID) (response, error) {
	return contract.Do(ctx, c, k, api.LinkMember, api.MemberRequest{Member: id})
}

func (c facade) ListAudit(ctx context.Context, k key, q api.ListAuditRequest) (response, error) {
	return contract.Do(ctx, c, k, api.ListAudit, q)
}

func (c facade) RunRows(ctx context.Context, k key, id prism.RunID, q api.ListRunRowsRequest) (contract.Stream, error) {
	q.Run, q.Only = id, cmp.Or(q.Only, api.AllRows)
	return contract.Open(ctx, c, k, api.ListRunRows, q)
}

func (c facade) ListRuns(ctx context.Context, k key, status prism.RunStatus, limit int) (response, error) {
	return contract.Do(ctx, c, k, api.ListRuns, api.ListRunsRequest{Status: status, PageRequest: api.PageRequest{Limit: limit}})
}

func (c facade) FileRun(ctx context.Context, k key, id prism.RunID) (response, error) {
	return contract.Do(ctx, c, k, api.ReadRun, api.RunRequest{Run: id})
}

// ActOnRun calls one of PauseRun, ResumeRun, CancelRun and RetryRun.
func (c facade) ActOnRun(ctx context.Context, k key, id prism.RunID, op api.Op[api.RunRequest, api.Run]) (response, error) {
	return contract.Do(ctx, c, k, op, api.RunRequest{Run: id})
}

func (c facade) SetRunLimits(ctx context.Context, k key, id prism.RunID, l api.RunLimits) (response, error) {
	return contract.Do(ctx, c, k, api.SetRunLimits, api.SetRunLimitsRequest{RunRequest: api.RunRequest{Run: id}, RunLimits: l})
}

func (c facade) CreateRun(ctx context.Context, k key, ref prism.Ref, n api.NewRun) (response, error) {
	return contract.Do(ctx, c, k, api.CreateRun, api.CreateRunRequest{PrismRequest: api.PrismRequest{Prism: ref}, NewRun: n})
}
