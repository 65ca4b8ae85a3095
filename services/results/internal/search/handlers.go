package search

import (
	"context"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations that search. Other slices find the results of a filter by them.
type Handlers struct {
	store   handlerStore
	prisms  prisms.Store
	schemas schemas
}

// handlerStore lists results too.
type handlerStore interface {
	Store
	ListResults(
		ctx context.Context, account prism.AccountID, f store.Filter, in store.Input, page store.Page,
	) (results []store.Saved, more bool, err error)
}

// NewHandlers makes Handlers.
func NewHandlers(s handlerStore, p prisms.Store) *Handlers { return &Handlers{s, p, newSchemas()} }

// Operations are the operations that search alone.
func (h *Handlers) Operations(a *access.Access) []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Handle(api.CountResults, h.countResults), access.Change(a, api.SetSearchable, h.setSearchable)}
}

func (h *Handlers) setSearchable(ctx context.Context, account prism.AccountID, by store.By, in api.SetSearchableRequest) (api.Prism, error) {
	p, err := h.prisms.Prism(ctx, account, in.Prism)
	if err != nil {
		return api.Prism{}, err
	}
	p.Unsearchable = !in.Searchable.Searchable
	return prisms.NewBody(p), h.store.SetSearchable(ctx, account, p.ID, in.Searchable.Searchable, by)
}

// Schema is the schema of a prism, or apierr.NotSearchable; nil is no prism.
func (h *Handlers) Schema(ctx context.Context, account prism.AccountID, p *prism.Prism) (*Schema, error) {
	if p != nil && p.Unsearchable {
		return nil, apierr.NotSearchable()
	}
	return h.schemas.schemaOf(ctx, h.prisms, account, p)
}

// Narrow adds the words and conditions of a search to a filter of results of a prism. It returns apierr.NotSearchable, or the problems of
// what was sent.
func (h *Handlers) Narrow(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, sent api.ResultSearch,
) (Filter, error) {
	if p.Unsearchable {
		return Filter{}, apierr.NotSearchable()
	}
	return h.NarrowAny(ctx, account, p, f, sent)
}

// NarrowAny is Narrow for a prism that may be left out of searches.
func (h *Handlers) NarrowAny(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, sent api.ResultSearch,
) (Filter, error) {
	schema, err := h.schemas.schemaOf(ctx, h.prisms, account, &p)
	if err != nil {
		return Filter{}, err
	}
	filter, problems := schema.Parse(f, sent)
	return filter, Invalid(problems)
}

// All are the ids of the newest results that match, newest first, at most so many. It returns apierr.NotIndexed if some may be missing.
func (h *Handlers) All(ctx context.Context, account prism.AccountID, f Filter, most int) (ids []prism.ResultID, err error) {
	var page Page
	for begun := false; !begun || page.Next != nil && len(ids) < most; begun = true {
		if page, err = h.complete(ctx, account, f, finding.Order{}, page.Next, min(MaxHits, most-len(ids))); err != nil {
			return nil, err
		}
		for _, hit := range page.Hits {
			ids = append(ids, prism.ResultID{UUID: hit.ID})
		}
	}
	return ids, nil
}

// OldestFirst is the order by id, the oldest first.
var OldestFirst = finding.Order{Subject: finding.Subject{Measure: finding.Created}}

// Oldest is a page of a search, oldest first. It returns apierr.NotIndexed if results may be missing.
func (h *Handlers) Oldest(ctx context.Context, account prism.AccountID, f Filter, after *Position, limit int) (Page, error) {
	return h.complete(ctx, account, f, OldestFirst, after, limit)
}

func (h *Handlers) complete(
	ctx context.Context, account prism.AccountID, f Filter, o finding.Order, after *Position, limit int,
) (Page, error) {
	page, err := h.store.Search(ctx, account, f, o, after, limit)
	if err == nil && !page.Complete() {
		err = apierr.NotIndexed()
	}
	return page, err
}

// Visit calls count with the results of a prism that a filter and a search find, as Store.Visit does.
func (h *Handlers) Visit(
	ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, sent api.ResultSearch, count func(*finding.Found),
) (finding.Covered, error) {
	narrowed, err := h.Narrow(ctx, account, p, f, sent)
	if err != nil {
		return finding.Covered{}, err
	}
	return h.store.Visit(ctx, account, narrowed, count)
}

// MaxHits bounds the hits of a page.
const MaxHits = 10_000

func (h *Handlers) countResults(ctx context.Context, c store.Caller, in api.CountResultsRequest) (out api.ResultCounts, err error) {
	f := bodies.Filter(c, in.Status, in.ResultFilter)
	var p *prism.Prism
	if in.Prism != nil {
		found, err := h.prisms.Prism(ctx, c.Account, *in.Prism)
		if err != nil {
			return out, err
		}
		p, f.Prism = &found, found.ID
	}
	schema, err := h.Schema(ctx, c.Account, p)
	if err != nil {
		return out, err
	}
	filter, problems := schema.Parse(f, in.ResultSearch)
	by, wrong := schema.ParseCounted(in.By)
	if err := Invalid(append(wrong, problems...)); err != nil {
		return out, err
	}
	counts, err := h.store.Counts(ctx, c.Account, filter, by)
	if err != nil {
		return out, err
	}
	out = api.ResultCounts{Total: counts.Total, Exact: counts.Exact, By: map[string][]api.ValueCount{}}
	names := strings.Split(in.By, ",")
	for i, of := range by {
		out.By[names[i]] = schema.values(of, counts.By[i])
	}
	return out, nil
}

// Body is what a response says of what a search did not look at.
func Body(c finding.Covered) (b api.Coverage) {
	if c.Until != nil {
		b.IndexedUntil.Time = *c.Until
	}
	if c.From != nil {
		b.IndexedFrom.Time = *c.From
	}
	b.SortedNewest = c.Newest
	return b
}

// ParseOrder reads the sort of a list, or returns its problem.
func (s *Schema) ParseOrder(sort string) (finding.Order, []apierr.Problem) {
	order, problem := s.Schema.ParseOrder(sort)
	if problem != "" {
		return order, []apierr.Problem{{Path: "sort", Text: problem}}
	}
	return order, nil
}

// Invalid is the error of problems, nil if there are none.
func Invalid(problems []apierr.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return apierr.Invalid(problems...)
}

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
