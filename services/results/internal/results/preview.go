package results

import (
	"context"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// previewedAtOnce is how many results a preview loads at once. Each may have more than 100 KiB.
const previewedAtOnce = 16

// previewedLens is api.PreviewedLens with results that are encoded.
type previewedLens struct {
	Columns []string           `json:"columns"`
	Data    []strictjson.Value `json:"data"`
}

func (h *Handlers) previewLens(ctx context.Context, c store.Caller, in api.PreviewLensRequest) ([]byte, error) {
	previewed, err := h.deps.Store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return nil, err
	}
	if problems := lens.Validate(in.Lens, previewed.Latest.Definition, ""); len(problems) > 0 {
		return nil, apierr.Invalid(problems...)
	}
	rows, err := h.previewRows(ctx, c.Account, previewed, in.LensPreview)
	if err != nil {
		return nil, err
	}
	body := previewedLens{Columns: []string{}, Data: []strictjson.Value{}}
	for _, c := range in.Columns {
		body.Columns = append(body.Columns, c.Name)
	}
	for _, id := range in.Results {
		if row, ok := rows[id]; ok {
			body.Data = append(body.Data, row)
		}
	}
	return strictjson.Marshal(body)
}

// previewRows are the results of a preview. The Lens is prepared for each version anew: the one that a version keeps is
// that of reads.
func (h *Handlers) previewRows(
	ctx context.Context, account prism.AccountID, previewed prism.Prism, p api.LensPreview,
) (map[prism.ResultID]strictjson.Value, error) {
	plans := map[int32]*format.Plan{}
	rows := map[prism.ResultID]strictjson.Value{}
	for part := range slices.Chunk(p.Results, previewedAtOnce) {
		found, err := h.deps.Store.FindResults(ctx, account, previewed.ID, part, store.WithoutInput)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if plans[r.Version] == nil {
				if plans[r.Version], err = h.previewPlan(ctx, account, previewed, p.Lens, r.Version); err != nil {
					return nil, err
				}
			}
			rows[r.ID], err = format.Preview(format.Table{Slug: previewed.Slug, Lens: p.Lens}, format.Row{Result: r, Plan: plans[r.Version]})
			if err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// previewPlan prepares a Lens for the results of a version.
func (h *Handlers) previewPlan(
	ctx context.Context, account prism.AccountID, previewed prism.Prism, l prism.Lens, number int32,
) (*format.Plan, error) {
	answered, err := h.deps.Versions.Version(ctx, account, prisms.VersionIn(previewed, number))
	if err != nil {
		return nil, err
	}
	pinned, err := h.deps.Quality.CalibrationsFor(ctx, account, l, previewed.ID, previewed.Pins, number)
	if err != nil {
		return nil, err
	}
	return format.NewPlan(l, answered.Definition, pinned), nil
}
