package service

import (
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
)

// lensPreviewBody is the body of a preview (spec: lens-preview).
type lensPreviewBody struct {
	Columns []string           `json:"columns"`
	Data    []strictjson.Value `json:"data"`
}

// PreviewLens implements contract.Results.
func (s *Service) PreviewLens(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, p contract.LensPreview,
) (contract.Response, error) {
	return s.manage(ctx, key, previewLens, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		of, err := s.Store.Prism(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		if problems := lens.Validate(p.Lens, of.Latest.Definition, ""); len(problems) > 0 {
			return nil, apierr.Invalid(problems...)
		}
		found, err := s.Store.FindResults(ctx, account, of.ID, p.Results, store.WithoutInput)
		if err != nil {
			return nil, err
		}
		rows, err := s.previewRows(ctx, account, of, p.Lens, found)
		if err != nil {
			return nil, err
		}
		body := lensPreviewBody{Columns: []string{}, Data: []strictjson.Value{}}
		for _, c := range p.Columns {
			body.Columns = append(body.Columns, c.Name)
		}
		for _, id := range p.Results {
			if row, ok := rows[id]; ok {
				body.Data = append(body.Data, row)
			}
		}
		return body, nil
	})
}

// previewRows are results of a prism under a Lens. The Lens is prepared for each version anew: the one that a version keeps is
// that of reads.
func (s *Service) previewRows(
	ctx context.Context, account prism.AccountID, of prism.Prism, l prism.Lens, results []prism.Result,
) (map[prism.ResultID]strictjson.Value, error) {
	plans := map[int32]*format.Plan{}
	rows := map[prism.ResultID]strictjson.Value{}
	for _, r := range results {
		if plans[r.Version] == nil {
			answered, err := s.version(ctx, account, versionID{of.ID, of.VersionsHash, r.Version})
			if err != nil {
				return nil, err
			}
			pinned, err := s.pinned(ctx, account, l, of.ID, of.Pins, r.Version)
			if err != nil {
				return nil, err
			}
			plans[r.Version] = format.NewPlan(l, answered.Definition, pinned)
		}
		row, err := format.Preview(format.Table{Slug: of.Slug, Lens: l}, format.Row{Result: r, Plan: plans[r.Version]})
		if err != nil {
			return nil, err
		}
		rows[r.ID] = row
	}
	return rows, nil
}
