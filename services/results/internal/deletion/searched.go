package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// ofDeletion is the filter of a deletion by a search. It returns apierr.NotSearchable if a deletion that begins has words or conditions for a
// prism that is left out of searches.
func (h *Handlers) ofDeletion(ctx context.Context, d Job, begins bool) (search.Filter, error) {
	var sent selection
	if err := strictjson.Unmarshal([]byte(d.Search), &sent); err != nil {
		return search.Filter{}, err
	}
	p, err := h.store.Prism(ctx, d.Account, prism.Ref{ID: d.Prism})
	if err != nil {
		return search.Filter{}, err
	}
	f := store.Filter{
		Prism: d.Prism, Status: d.Status, Ref: d.Ref, Version: sent.Version, Model: sent.Model, Assignee: sent.Assignee, From: sent.From, To: d.SavedBefore,
	}
	if !sent.Key.IsZero() {
		f.Key = &sent.Key
	}
	if !sent.Run.IsZero() {
		f.Run = &sent.Run
	}
	f.IDs = sqldb.SortedIDs(sent.IDs)
	if begins && p.Unsearchable && (sent.Q != "" || len(sent.Where) > 0) {
		return search.Filter{}, apierr.NotSearchable()
	}
	return h.searches.NarrowAny(ctx, d.Account, p, f, api.ResultSearch(sent.SearchMembers))
}

// selection is what a deletion selects by, beside what each deletion can.
type selection struct {
	api.SearchMembers
	From     time.Time        `json:"from,omitzero"`
	Version  int32            `json:"version,omitzero"`
	Model    string           `json:"model,omitzero"`
	Key      prism.KeyID      `json:"key_id,omitzero"`
	Run      prism.RunID      `json:"run,omitzero"`
	Assignee *prism.MemberID  `json:"assignee,omitzero"`
	IDs      []prism.ResultID `json:"ids,omitzero"`
}

// By names what is set, as the audit does.
func (d selection) by() (names []string) {
	for _, member := range []struct {
		name string
		set  bool
	}{
		{"from", !d.From.IsZero()},
		{"version", d.Version != 0},
		{"model", d.Model != ""},
		{"key_id", !d.Key.IsZero()},
		{"run", !d.Run.IsZero()},
		{"assignee", d.Assignee != nil},
		{"ids", d.IDs != nil},
		{"q", d.Q != ""},
		{"where", d.Where != nil},
	} {
		if member.set {
			names = append(names, member.name)
		}
	}
	return names
}

// parts are filters for some of the ids each, behind one, or the filter itself if it has none.
func parts(f search.Filter, behind prism.UUID) (all []search.Filter) {
	if f.IDs == nil {
		return []search.Filter{f}
	}
	rest := slices.DeleteFunc(slices.Clone(f.IDs), func(id prism.UUID) bool { return sqldb.CompareIDs(id, behind) <= 0 })
	for ids := range slices.Chunk(rest, sqldb.PartSize) {
		part := f
		part.IDs = ids
		all = append(all, part)
	}
	return all
}

// countFound counts what a deletion by a search deletes, and tells whether it has counted all.
func (h *Handlers) countFound(ctx context.Context, d Job) (n int64, exact bool, err error) {
	f, err := h.ofDeletion(ctx, d, true)
	if err != nil {
		return 0, false, err
	}
	exact = true
	for _, part := range parts(f, prism.UUID{}) {
		counts, err := h.store.Counts(ctx, d.Account, part, nil)
		if err != nil {
			return 0, false, err
		}
		n, exact = n+counts.Total, exact && counts.Exact
	}
	return min(n, MaxCounted), exact, nil
}

// FindDeletion finds the next results that a deletion by a search deletes. It returns apierr.NotIndexed while some of them may be missing.
// A prism that was left out of searches since the call is no hindrance.
func (h *Handlers) FindDeletion(ctx context.Context, d Job) (part FoundPart, err error) {
	f, err := h.ofDeletion(ctx, d, false)
	if err != nil {
		return part, err
	}
	f.To = d.Bound()
	if f.IDs != nil {
		return h.findIDs(ctx, d, f)
	}
	after := &search.Position{ID: d.Reached, Without: true}
	page, err := h.store.Search(ctx, d.Account, f, search.OldestFirst, after, DeletePart)
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

// findIDs is FindDeletion for ids: a part of them each time.
func (h *Handlers) findIDs(ctx context.Context, d Job, f search.Filter) (part FoundPart, err error) {
	rest := parts(f, d.Reached)
	if len(rest) == 0 {
		return FoundPart{Upto: d.End(), End: true}, nil
	}
	page, err := h.searches.Oldest(ctx, d.Account, rest[0], nil, sqldb.PartSize)
	if err != nil {
		return part, err
	}
	for _, hit := range page.Hits {
		part.IDs = append(part.IDs, prism.ResultID{UUID: hit.ID})
	}
	if part.Upto, part.End = d.End(), len(rest) == 1; !part.End {
		part.Upto = rest[0].IDs[len(rest[0].IDs)-1]
	}
	return part, nil
}
