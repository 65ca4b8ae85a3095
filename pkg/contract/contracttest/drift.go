package contracttest

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (r *results) ReadDrift(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, version int32,
) (contract.Response, error) {
	return r.hear("ReadDrift", key, ref, version)
}

func (r *results) SetDrift(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, c contract.DriftChange,
) (contract.Response, error) {
	return r.hear("SetDrift", key, ref, c)
}

// drift is calls of the methods of contract.Drift.
func drift() []called {
	ref, at := prism.Ref{Slug: odd}, time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	return []called{
		{"ReadDrift", []any{digest, ref, int32(3)}},
		{"SetDrift", []any{digest, ref, contract.DriftChange{
			Watched: true, Version: 3, Reference: &contract.DriftPeriod{From: at, To: at.Add(time.Hour)},
		}}},
		{"SetDrift", []any{digest, ref, contract.DriftChange{}}},
	}
}
