package wire_test

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (calm) PutPart(context.Context, contract.KeyDigest, contract.FilePart) (contract.Response, error) {
	return page, nil
}

func (calm) LabelsRun(context.Context, contract.KeyDigest, prism.Ref, api.NewRun) (api.NewRun, error) {
	return api.NewRun{}, nil
}

func (calm) DropLabelsFile(context.Context, contract.KeyDigest, prism.FileID) (contract.Response, error) {
	return page, nil
}

func (calm) PlanRun(context.Context, contract.KeyDigest, prism.Ref, api.NewRun) (contract.RunPlan, error) {
	return contract.RunPlan{}, nil
}

func (calm) PlanRows(context.Context, contract.KeyDigest, contract.PlanRows) ([]contract.ChunkRow, error) {
	return nil, nil
}

func (calm) LeaseChunk(context.Context, prism.UUID) (*contract.Chunk, error) { return nil, nil }

func (calm) RenewLeases(context.Context, []contract.Lease) ([]contract.LeaseState, error) {
	return nil, nil
}

func (calm) SaveRows(context.Context, contract.SaveRows) error { return contract.ErrLeaseLost }
