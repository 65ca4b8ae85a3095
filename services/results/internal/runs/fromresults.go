package runs

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

// resultsRun makes the file of a run of the inputs of results (spec: run-from-results).
func (h *Handlers) resultsRun(ctx context.Context, account prism.AccountID, p prism.Prism, n api.NewRun) (api.NewRun, error) {
	by, err := h.answering(ctx, account, p, &n)
	if err != nil {
		return n, err
	}
	for _, f := range by.Fields {
		n.Fields = append(n.Fields, api.FieldColumn{Field: f.Key, Column: fieldColumnPrefix + f.Key})
	}
	ids, err := h.resultsOfRun(ctx, account, p, *n.FromResults)
	if err != nil {
		return n, err
	}
	content, err := h.inputsOf(ctx, account, p.ID, ids, nil, by.Definition, nil, "from_results")
	if err != nil {
		return n, err
	}
	n.File, err = h.deps.Files.Keep(ctx, account, "results of "+p.Slug+".jsonl", content)
	return n, err
}

// resultsOfRun are the ids of the results that a run answers anew.
func (h *Handlers) resultsOfRun(ctx context.Context, account prism.AccountID, p prism.Prism, selected api.ResultsOfRun) ([]prism.ResultID, error) {
	f := store.Filter{Prism: p.ID, Status: selected.Status, Version: selected.Version, From: bodies.Bound(selected.From), To: bodies.Bound(selected.To)}
	ids, err := h.deps.Searches.Selected(ctx, account, p, f, selected.IDs, selected.SearchMembers, "from_results.", api.MaxResultsOfRun+1)
	if err != nil {
		return nil, err
	}
	var problem string
	switch {
	case len(ids) > api.MaxResultsOfRun:
		problem = "more than 10,000 results match"
	case len(ids) == 0:
		problem = "no result matches"
	default:
		return ids, nil
	}
	return nil, apierr.Invalid(apierr.Problem{Path: "from_results", Text: problem})
}
