package search

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/store"
)

// ofDeletion is the filter of a deletion by a search.
func (h *Handlers) ofDeletion(ctx context.Context, d store.Deletion) (Filter, error) {
	var sent api.SearchMembers
	if err := strictjson.Unmarshal([]byte(d.Search), &sent); err != nil {
		return Filter{}, err
	}
	p, err := h.prisms.Prism(ctx, d.Account, prism.Ref{ID: d.Prism})
	if err != nil {
		return Filter{}, err
	}
	return h.Narrow(ctx, d.Account, p, store.Filter{Prism: d.Prism, Status: d.Status, Ref: d.Ref, To: d.SavedBefore}, api.ResultSearch(sent))
}

// CountDeletion counts what a deletion deletes, and tells whether it has counted all.
func (h *Handlers) CountDeletion(ctx context.Context, d store.Deletion) (n int64, exact bool, err error) {
	f, err := h.ofDeletion(ctx, d)
	if err != nil {
		return 0, false, err
	}
	counts, err := h.store.Counts(ctx, d.Account, f, nil)
	return min(counts.Total, store.MaxCounted), counts.Exact, err
}

// FindDeletion finds the next results that a deletion deletes. It returns apierr.NotIndexed while some of them may be missing.
func (h *Handlers) FindDeletion(ctx context.Context, d store.Deletion) (part store.FoundPart, err error) {
	f, err := h.ofDeletion(ctx, d)
	if err != nil {
		return part, err
	}
	f.To = d.Bound()
	after := &Position{ID: d.Reached, Without: true}
	page, err := h.store.Search(ctx, d.Account, f, oldest, after, store.DeletePart)
	if err != nil {
		return part, err
	}
	if page.From != nil || page.Until != nil && page.Until.Before(d.Bound()) {
		return part, apierr.NotIndexed()
	}
	for _, hit := range page.Hits {
		part.IDs = append(part.IDs, prism.ResultID{UUID: hit.ID})
	}
	if part.Upto, part.End = d.End(), page.Next == nil; !part.End {
		part.Upto = page.Next.ID
	}
	return part, nil
}

// oldest is the order by id, the oldest first.
var oldest = finding.Order{Subject: finding.Subject{Measure: finding.Created}}
