package service

import (
	"context"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// resultsRun makes the file of a run of the inputs of results (spec: run-from-results).
func (s *Service) resultsRun(ctx context.Context, account prism.AccountID, p prism.Prism, n api.NewRun) (api.NewRun, error) {
	by, err := s.answering(ctx, account, p, &n)
	if err != nil {
		return n, err
	}
	for _, f := range by.Fields {
		n.Fields = append(n.Fields, api.FieldColumn{Field: f.Key, Column: fieldColumnPrefix + f.Key})
	}
	ids, err := s.resultsOfRun(ctx, account, p, *n.FromResults)
	if err != nil {
		return n, err
	}
	content, err := s.inputsOf(ctx, account, p.ID, ids, nil, by.Definition, nil, "from_results")
	if err != nil {
		return n, err
	}
	n.File, err = s.Keep(ctx, account, "results of "+p.Slug+".jsonl", content)
	return n, err
}

// resultsOfRun are the ids of the results that a run answers anew.
func (s *Service) resultsOfRun(ctx context.Context, account prism.AccountID, p prism.Prism, of api.ResultsOfRun) ([]prism.ResultID, error) {
	f := store.Filter{Prism: p.ID, Status: of.Status, Version: of.Version, From: bodies.Bound(of.From), To: bodies.Bound(of.To)}
	ids, err := s.selected(ctx, account, p, f, of.IDs, of.SearchMembers, "from_results.", api.MaxResultsOfRun+1)
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

// selected are the ids of the results of a prism that a filter and a search find, of among alone unless it is nil. If there are at least
// most, they are some. The paths of problems begin with path.
func (s *Service) selected(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, among []prism.ResultID, sent api.SearchMembers, path string,
	most int,
) (ids []prism.ResultID, err error) {
	parts := [][]prism.UUID{nil}
	if among != nil {
		parts = slices.Collect(slices.Chunk(sqldb.SortedIDs(among), sqldb.PartSize))
	}
	for _, f.IDs = range parts {
		some, err := s.matching(ctx, account, p, f, api.ResultSearch(sent), path, most)
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ids, nil
}

// matching are the ids of the results of a prism that a filter and a search find, most at most.
func (s *Service) matching(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, sent api.ResultSearch, path string, most int,
) ([]prism.ResultID, error) {
	if sent.Q == "" && len(sent.Where) == 0 {
		return s.listedIDs(ctx, account, f, most)
	}
	schema, err := s.searches.Schema(ctx, account, &p)
	if err != nil {
		return nil, err
	}
	narrowed, problems := schema.Parse(f, sent)
	for i := range problems {
		problems[i].Path = path + problems[i].Path
	}
	if err := search.Invalid(problems); err != nil {
		return nil, err
	}
	return s.searches.All(ctx, account, narrowed, most)
}

// listedIDs are the ids of the newest results of a filter.
func (s *Service) listedIDs(ctx context.Context, account prism.AccountID, f store.Filter, most int) (ids []prism.ResultID, err error) {
	page := store.Page{Limit: most}
	for more := true; more && len(ids) < most; page.Limit = most - len(ids) {
		var rows []store.Saved
		if rows, more, err = s.Store.ListResults(ctx, account, f, store.WithoutInput, page); err != nil {
			return nil, err
		}
		for _, row := range rows {
			ids = append(ids, row.Result.ID)
			page.After = row.Result.ID.UUID
		}
	}
	return ids, nil
}
