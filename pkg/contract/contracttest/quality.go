package contracttest

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (r *results) Quality(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.QualityQuery,
) (contract.Response, error) {
	return r.hear("Quality", key, of, q)
}

func (r *results) Thresholds(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.ThresholdsQuery,
) (contract.Response, error) {
	return r.hear("Thresholds", key, of, q)
}

func (r *results) Compare(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, q contract.CompareQuery,
) (contract.Response, error) {
	return r.hear("Compare", key, ref, q)
}

// quality is a call of each method of contract.Quality.
func quality() []called {
	of := contract.VersionRef{Prism: prism.Ref{Slug: odd}, Number: 3}
	query := contract.QualityQuery{Question: odd, Model: odd, Calibrated: true}
	return []called{
		{"Quality", []any{digest, of, query}},
		{"Thresholds", []any{digest, of, contract.ThresholdsQuery{QualityQuery: query, FalseYes: 5, FalseNo: 1.5, Unsure: 0.25}}},
		{"Compare", []any{digest, of.Prism, contract.CompareQuery{A: 1, B: 2, Question: odd}}},
	}
}
