package runs

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// contentMissing is why a run pauses whose rows cannot be read (spec: run-pauses-itself).
const contentMissing = "The content of this run's file is missing."

// LeaseChunk implements contract.Leases. While the store cannot be written no chunk is leased (spec: unwritable-store).
func (h *Handlers) LeaseChunk(ctx context.Context, _ prism.UUID) (*contract.Chunk, error) {
	if h.deps.Refuses() {
		return nil, nil
	}
	token, err := h.deps.NewID()
	if err != nil {
		return nil, err
	}
	now := prism.Now(h.deps.Now)
	leased, err := h.deps.Store.LeaseChunk(ctx, token, now, now.Add(contract.LeaseTime))
	if err != nil || leased == nil {
		return nil, access.Translate(err, nil)
	}
	chunk, err := h.chunkOf(ctx, leased)
	if err != nil {
		// The chunk goes to the next worker now, and not when the lease ends.
		back := contract.SaveRows{Lease: leased.Lease, Done: true}
		failed := h.deps.Store.SaveRows(context.WithoutCancel(ctx), back, now)
		if errors.Is(err, store.ErrContentMissing) { // the next lease would not find it either
			err = h.deps.Store.PauseRun(context.WithoutCancel(ctx), leased.Account, leased.Lease.Run, contentMissing, now)
		}
		return nil, errors.Join(access.Translate(err, nil), failed)
	}
	return chunk, nil
}

// chunkOf reads the rows of a leased chunk that wait.
func (h *Handlers) chunkOf(ctx context.Context, l *LeasedChunk) (*contract.Chunk, error) {
	p, err := h.deps.Store.Prism(ctx, l.Account, prism.Ref{ID: l.Run.Prism})
	if err != nil {
		return nil, err
	}
	v, err := h.deps.Versions.Version(ctx, l.Account, prisms.VersionIn(p, l.Run.Version))
	if err != nil {
		return nil, err
	}
	chunk := &contract.Chunk{
		Lease: l.Lease, RowLimits: l.RowLimits,
		Facts: contract.RowFacts{
			Account: l.Account, Key: l.Run.Key, Prism: p.ID, Archived: p.ArchivedAt != nil, Version: v.Version,
		},
		Rows: retriesOf(l),
	}
	if slices.ContainsFunc(v.Examples, func(e prism.Example) bool { return !e.Result.IsZero() }) {
		chunk.Version = contract.LeasedVersion{Prism: p.ID, Number: v.Number, Hash: v.Hash}
	}
	if len(chunk.Rows) == 0 {
		chunk.Rows, err = h.rowsOf(ctx, l, v.Definition)
	}
	return chunk, err
}

// rowsOf reads the rows of a file that wait, as many as have contract.ChunkBytes. The others wait for the next lease of the chunk.
func (h *Handlers) rowsOf(ctx context.Context, l *LeasedChunk, d prism.Definition) (waiting []contract.ChunkRow, err error) {
	f, err := h.deps.Store.File(ctx, l.Account, l.Run.File)
	if err != nil {
		return nil, err
	}
	reader, err := readerOf(l.Run, f, d)
	if err != nil {
		return nil, err
	}
	place, err := h.deps.Store.FileChunk(ctx, l.Account, f.ID, l.Chunk.Number)
	if err != nil {
		return nil, err
	}
	rows, err := h.deps.Files.Rows(ctx, l.Account, f, reader.layout, place)
	if err != nil {
		return nil, err
	}
	size := 0
	for i, row := range rows {
		if l.Chunk.States[i] != RowPendingState {
			continue
		}
		number := place.FirstRow + int64(i)
		r := reader.row(number, row)
		if size += reader.size(r); size > contract.ChunkBytes && len(waiting) > 0 {
			break
		}
		r.ID = prism.RowResultID(l.BegunAt, l.Run.ID, number, l.Chunk.Attempt)
		if retried, failed := l.Failed[number]; failed {
			r.RetryOf = &retried
		}
		waiting = append(waiting, r)
	}
	return waiting, nil
}

// RenewLeases implements contract.Leases.
func (h *Handlers) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	now := prism.Now(h.deps.Now)
	states, err := h.deps.Store.RenewLeases(ctx, leases, now, now.Add(contract.LeaseTime))
	for i := 0; err == nil && i < len(states); i++ {
		if state := &states[i]; !state.Stop && !state.Version.Hash.IsZero() {
			state.Stop, err = h.changed(ctx, state.Lease)
		}
	}
	return states, access.Translate(err, nil)
}

// changed tells whether an example of the version of a lease was emptied since: its chunk is then leased again with what is left.
func (h *Handlers) changed(ctx context.Context, l contract.Lease) (bool, error) {
	p, err := h.deps.Store.Prism(ctx, l.Account, prism.Ref{ID: l.Version.Prism})
	if err != nil {
		return false, err
	}
	v, err := h.deps.Versions.Version(ctx, l.Account, prisms.VersionIn(p, l.Version.Number))
	return err == nil && v.Hash != l.Version.Hash, err
}

// SaveRows implements contract.Leases.
func (h *Handlers) SaveRows(ctx context.Context, rows contract.SaveRows) error {
	crash.At(crash.BeforeCommit)
	err := h.deps.Store.SaveRows(ctx, rows, prism.Now(h.deps.Now))
	if len(rows.Rows) > 0 || err != nil {
		h.deps.NoteSave(err)
	}
	if err == nil {
		crash.At(crash.AfterCommit)
		if rows.Done && h.deps.LeaseEnded != nil {
			h.deps.LeaseEnded()
		}
	}
	return access.Translate(err, nil)
}
