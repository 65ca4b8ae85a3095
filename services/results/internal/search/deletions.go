package search

import (
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// ofDeletion is the filter of a deletion by a search. It returns apierr.NotSearchable if a deletion that begins has words or conditions for a
// prism that is left out of searches.
func (h *Handlers) ofDeletion(ctx context.Context, d store.Deletion, begins bool) (Filter, error) {
	var sent Deleted
	if err := strictjson.Unmarshal([]byte(d.Search), &sent); err != nil {
		return Filter{}, err
	}
	p, err := h.prisms.Prism(ctx, d.Account, prism.Ref{ID: d.Prism})
	if err != nil {
		return Filter{}, err
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
		return Filter{}, apierr.NotSearchable()
	}
	return h.narrow(ctx, d.Account, p, f, api.ResultSearch(sent.SearchMembers))
}

// Deleted is what a deletion selects by, beside what each deletion can.
type Deleted struct {
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
func (d Deleted) By() (names []string) {
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
func (f Filter) parts(behind prism.UUID) (all []Filter) {
	if f.IDs == nil {
		return []Filter{f}
	}
	rest := slices.DeleteFunc(slices.Clone(f.IDs), func(id prism.UUID) bool { return sqldb.CompareIDs(id, behind) <= 0 })
	for ids := range slices.Chunk(rest, sqldb.PartSize) {
		part := f
		part.IDs = ids
		all = append(all, part)
	}
	return all
}

// CountDeletion counts what a deletion deletes, and tells whether it has counted all.
func (h *Handlers) CountDeletion(ctx context.Context, d store.Deletion) (n int64, exact bool, err error) {
	f, err := h.ofDeletion(ctx, d, true)
	if err != nil {
		return 0, false, err
	}
	exact = true
	for _, part := range f.parts(prism.UUID{}) {
		counts, err := h.store.Counts(ctx, d.Account, part, nil)
		if err != nil {
			return 0, false, err
		}
		n, exact = n+counts.Total, exact && counts.Exact
	}
	return min(n, store.MaxCounted), exact, nil
}

// FindDeletion finds the next results that a deletion deletes. It returns apierr.NotIndexed while some of them may be missing.
// A prism that was left out of searches since the call is no hindrance.
func (h *Handlers) FindDeletion(ctx context.Context, d store.Deletion) (part store.FoundPart, err error) {
	f, err := h.ofDeletion(ctx, d, false)
	if err != nil {
		return part, err
	}
	f.To = d.Bound()
	if f.IDs != nil {
		return h.findIDs(ctx, d, f)
	}
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

// findIDs is FindDeletion for ids: a part of them each time.
func (h *Handlers) findIDs(ctx context.Context, d store.Deletion, f Filter) (part store.FoundPart, err error) {
	parts := f.parts(d.Reached)
	if len(parts) == 0 {
		return store.FoundPart{Upto: d.End(), End: true}, nil
	}
	page, err := h.complete(ctx, d.Account, parts[0], oldest, nil, sqldb.PartSize)
	if err != nil {
		return part, err
	}
	for _, hit := range page.Hits {
		part.IDs = append(part.IDs, prism.ResultID{UUID: hit.ID})
	}
	if part.Upto, part.End = d.End(), len(parts) == 1; !part.End {
		part.Upto = parts[0].IDs[len(parts[0].IDs)-1]
	}
	return part, nil
}

// oldest is the order by id, the oldest first.
var oldest = finding.Order{Subject: finding.Subject{Measure: finding.Created}}
