package search

import (
	"context"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Selected are the ids of the results of a prism that a filter and a search find, of among alone unless it is nil. If there are at least
// limit, they are some. The paths of problems begin with path.
func (h *Handlers) Selected(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, among []prism.ResultID, sent api.SearchMembers, path string,
	limit int,
) (ids []prism.ResultID, err error) {
	parts := [][]prism.UUID{nil}
	if among != nil {
		parts = slices.Collect(slices.Chunk(sqldb.SortedIDs(among), sqldb.PartSize))
	}
	for _, f.IDs = range parts {
		matches, err := h.matching(ctx, account, p, f, api.ResultSearch(sent), path, limit)
		if err != nil {
			return nil, err
		}
		ids = append(ids, matches...)
	}
	return ids, nil
}

// matching are the ids of the results of a prism that a filter and a search find, limit at most.
func (h *Handlers) matching(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, sent api.ResultSearch, path string, limit int,
) ([]prism.ResultID, error) {
	if sent.Q == "" && len(sent.Where) == 0 {
		return h.listedIDs(ctx, account, f, limit)
	}
	schema, err := h.Schema(ctx, account, &p)
	if err != nil {
		return nil, err
	}
	narrowed, problems := schema.Parse(f, sent)
	for i := range problems {
		problems[i].Path = path + problems[i].Path
	}
	if err := Invalid(problems); err != nil {
		return nil, err
	}
	return h.All(ctx, account, narrowed, limit)
}

// listedIDs are the ids of the newest results of a filter.
func (h *Handlers) listedIDs(ctx context.Context, account prism.AccountID, f store.Filter, limit int) (ids []prism.ResultID, err error) {
	page := store.Page{Limit: limit}
	for more := true; more && len(ids) < limit; page.Limit = limit - len(ids) {
		var rows []store.Saved
		if rows, more, err = h.store.ListResults(ctx, account, f, store.WithoutInput, page); err != nil {
			return nil, err
		}
		for _, row := range rows {
			ids = append(ids, row.Result.ID)
			page.After = row.Result.ID.UUID
		}
	}
	return ids, nil
}

// SentBy names the members of a search that were sent; nil if there is none.
func SentBy(sent api.SearchMembers) (names []string) {
	if sent.Q != "" {
		names = append(names, "q")
	}
	if len(sent.Where) > 0 {
		names = append(names, "where")
	}
	return names
}
