package service

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

var _ contract.Leases = (*Service)(nil)

// contentMissing is why a run pauses whose rows cannot be read (spec: run-pauses-itself).
const contentMissing = "The content of this run's file is missing."

// LeaseChunk implements contract.Leases. While the store cannot be written no chunk is leased (spec: unwritable-store).
func (s *Service) LeaseChunk(ctx context.Context, _ prism.UUID) (*contract.Chunk, error) {
	if s.refuses() {
		return nil, nil
	}
	token, err := s.NewID()
	if err != nil {
		return nil, err
	}
	now := prism.Now(s.Now)
	leased, err := s.Store.LeaseChunk(ctx, token, now, now.Add(contract.LeaseTime))
	if err != nil || leased == nil {
		return nil, access.Translate(err, nil)
	}
	chunk, err := s.chunkOf(ctx, leased)
	if err != nil {
		// The chunk goes to the next worker now, and not when the lease ends.
		back := contract.SaveRows{Lease: leased.Lease, Done: true}
		failed := s.Store.SaveRows(context.WithoutCancel(ctx), back, now)
		if errors.Is(err, blobs.ErrMissing) { // the next lease would not find it either
			err = s.Store.PauseRun(context.WithoutCancel(ctx), leased.Account, leased.Lease.Run, contentMissing, now)
		}
		return nil, errors.Join(access.Translate(err, nil), failed)
	}
	return chunk, nil
}

// chunkOf reads the rows of a leased chunk that wait.
func (s *Service) chunkOf(ctx context.Context, l *store.LeasedChunk) (*contract.Chunk, error) {
	p, err := s.Store.Prism(ctx, l.Account, prism.Ref{ID: l.Run.Prism})
	if err != nil {
		return nil, err
	}
	v, err := s.Version(ctx, l.Account, prisms.VersionIn(p, l.Run.Version))
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
		chunk.Rows, err = s.rowsOf(ctx, l, v.Definition)
	}
	return chunk, err
}

// rowsOf reads the rows of a file that wait, as many as have contract.ChunkBytes. The others wait for the next lease of the chunk.
func (s *Service) rowsOf(ctx context.Context, l *store.LeasedChunk, d prism.Definition) (waiting []contract.ChunkRow, err error) {
	f, err := s.Store.File(ctx, l.Account, l.Run.File)
	if err != nil {
		return nil, err
	}
	reader, err := readerOf(l.Run, f, d)
	if err != nil {
		return nil, err
	}
	place, err := s.Store.FileChunk(ctx, l.Account, f.ID, l.Chunk.Number)
	if err != nil {
		return nil, err
	}
	rows, err := s.Rows(ctx, l.Account, f, reader.layout, place)
	if err != nil {
		return nil, err
	}
	size := 0
	for i, row := range rows {
		if l.Chunk.States[i] != store.RowPendingState {
			continue
		}
		number := place.FirstRow + int64(i)
		r := reader.row(number, row)
		if size += reader.size(r); size > contract.ChunkBytes && len(waiting) > 0 {
			break
		}
		r.ID = prism.RowResultID(l.BegunAt, l.Run.ID, number, l.Chunk.Attempt)
		if of, failed := l.Failed[number]; failed {
			r.RetryOf = &of
		}
		waiting = append(waiting, r)
	}
	return waiting, nil
}

// RenewLeases implements contract.Leases.
func (s *Service) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	now := prism.Now(s.Now)
	states, err := s.Store.RenewLeases(ctx, leases, now, now.Add(contract.LeaseTime))
	for i := 0; err == nil && i < len(states); i++ {
		if state := &states[i]; !state.Stop && !state.Version.Hash.IsZero() {
			state.Stop, err = s.changed(ctx, state.Lease)
		}
	}
	return states, access.Translate(err, nil)
}

// changed tells whether an example of the version of a lease was emptied since: its chunk is then leased again with what is left.
func (s *Service) changed(ctx context.Context, l contract.Lease) (bool, error) {
	p, err := s.Store.Prism(ctx, l.Account, prism.Ref{ID: l.Version.Prism})
	if err != nil {
		return false, err
	}
	v, err := s.Version(ctx, l.Account, prisms.VersionIn(p, l.Version.Number))
	return err == nil && v.Hash != l.Version.Hash, err
}

// SaveRows implements contract.Leases.
func (s *Service) SaveRows(ctx context.Context, rows contract.SaveRows) error {
	crash.At(crash.BeforeCommit)
	err := s.Store.SaveRows(ctx, rows, prism.Now(s.Now))
	if len(rows.Rows) > 0 || err != nil {
		s.saves.note(err)
	}
	if err == nil {
		crash.At(crash.AfterCommit)
		if rows.Done && s.LeaseEnded != nil {
			s.LeaseEnded()
		}
	}
	return access.Translate(err, nil)
}
