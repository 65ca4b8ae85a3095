package results

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// calls has each call answered by the database of its account. Nothing behind it knows that there may be another database.
type calls struct {
	placement
	chunks     turns[contract.Chunk]
	deliveries turns[contract.DeliveriesLease]
	limits     lastLimits
}

var (
	_ contract.Results    = (*calls)(nil)
	_ contract.Deliveries = (*calls)(nil)
)

func newCalls(p placement) *calls {
	return &calls{placement: p, chunks: turns[contract.Chunk]{keptLate: keptChunk}}
}

// Do implements contract.Results.
func (c *calls) Do(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Response, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	return db.service.Do(ctx, key, op, request)
}

// Open implements contract.Results.
func (c *calls) Open(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Stream, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.Stream{}, err
	}
	return db.service.Open(ctx, key, op, request)
}

// Account implements contract.Results.
func (c *calls) Account(ctx context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return prism.AccountID{}, err
	}
	return db.service.Account(ctx, key)
}

// Authorize implements contract.Results.
func (c *calls) Authorize(ctx context.Context, key contract.KeyDigest, op contract.Operation) error {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return err
	}
	return db.service.Authorize(ctx, key, op)
}

// CreateFacts implements contract.Results.
func (c *calls) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	ctx, db, err := c.ofKey(ctx, q.Key)
	if err != nil {
		return contract.CreateFacts{}, err
	}
	return db.service.CreateFacts(ctx, q)
}

// RetryFacts implements contract.Results.
func (c *calls) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.RetryFacts{}, err
	}
	return db.service.RetryFacts(ctx, key, id)
}

// Save implements contract.Results.
func (c *calls) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	ctx, db, err := c.ofAccount(ctx, s.Account)
	if err != nil {
		return contract.Response{}, err
	}
	return db.service.Save(ctx, s)
}

// TryFacts implements contract.Tries.
func (c *calls) TryFacts(ctx context.Context, key contract.KeyDigest) (contract.TryFacts, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.TryFacts{}, err
	}
	return db.service.TryFacts(ctx, key)
}

// FinishTry implements contract.Tries.
func (c *calls) FinishTry(ctx context.Context, t contract.Try) (contract.Response, error) {
	ctx, db, err := c.ofAccount(ctx, t.Account)
	if err != nil {
		return contract.Response{}, err
	}
	return db.service.FinishTry(ctx, t)
}

// PutPart implements contract.Files.
func (c *calls) PutPart(ctx context.Context, key contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	return db.service.PutPart(ctx, key, p)
}

// PlanRun implements contract.Runs.
func (c *calls) PlanRun(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun) (contract.RunPlan, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.RunPlan{}, err
	}
	return db.service.PlanRun(ctx, key, ref, n)
}

// PlanRows implements contract.Runs.
func (c *calls) PlanRows(ctx context.Context, key contract.KeyDigest, q contract.PlanRows) ([]contract.ChunkRow, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return nil, err
	}
	return db.service.PlanRows(ctx, key, q)
}

// LabelsRun implements contract.Runs.
func (c *calls) LabelsRun(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun) (api.NewRun, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return api.NewRun{}, err
	}
	return db.service.LabelsRun(ctx, key, ref, n)
}

// DropLabelsFile implements contract.Runs.
func (c *calls) DropLabelsFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	ctx, db, err := c.ofKey(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	return db.service.DropLabelsFile(ctx, key, id)
}

// LeaseChunk implements contract.Leases.
func (c *calls) LeaseChunk(ctx context.Context, worker prism.UUID) (*contract.Chunk, error) {
	return c.chunks.take(ctx, c.all(), func(ctx context.Context, db *database) (*contract.Chunk, error) {
		return db.service.LeaseChunk(ctx, worker)
	})
}

// SaveRows implements contract.Leases.
func (c *calls) SaveRows(ctx context.Context, s contract.SaveRows) error {
	ctx, db, err := c.ofAccount(ctx, s.Account)
	if err != nil {
		return err
	}
	return db.service.SaveRows(ctx, s)
}

// LeaseDeliveries implements contract.Deliveries.
func (c *calls) LeaseDeliveries(ctx context.Context, q contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	return c.deliveries.take(ctx, c.all(), func(ctx context.Context, db *database) (*contract.DeliveriesLease, error) {
		return db.service.LeaseDeliveries(ctx, q)
	})
}

// SaveDeliveries implements contract.Deliveries.
func (c *calls) SaveDeliveries(ctx context.Context, s contract.SaveDeliveries) error {
	ctx, db, err := c.ofAccount(ctx, s.Account)
	if err != nil {
		return err
	}
	return db.service.SaveDeliveries(ctx, s)
}
