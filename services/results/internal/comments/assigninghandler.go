package comments

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

// assignResults assigns what the call has counted (spec: assignees-put).
func (h *Handlers) assignResults(ctx context.Context, c store.Caller, in api.AssignResultsRequest) (api.Assigned, error) {
	p, err := h.store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return api.Assigned{}, err
	}
	ids, err := h.searches.Selected(ctx, c.Account, p, assignFilter(c, p, in), in.IDs, in.SearchMembers, "", api.MaxAssigned+1)
	switch {
	case err != nil:
		return api.Assigned{}, err
	case len(ids) > api.MaxAssigned:
		return api.Assigned{}, apierr.TooManyMatch(api.MaxAssigned)
	case in.DryRun:
		return newAssignedBody(len(ids), nil), nil
	case in.Expect == nil || len(ids) != *in.Expect:
		return api.Assigned{}, apierr.MatchNow(int64(len(ids)))
	}
	by, err := h.access.By(c.Actor())
	if err != nil {
		return api.Assigned{}, err
	}
	changed, err := h.store.AssignMany(ctx, Assigning{Account: c.Account, Prism: p.ID, Slug: p.Slug, Results: ids, To: in.Member}, by)
	if match, ok := errors.AsType[*store.MatchError](err); ok {
		err = apierr.MatchNow(match.Matches)
	}
	return newAssignedBody(len(ids), changed), err
}

func assignFilter(c store.Caller, p prism.Prism, in api.AssignResultsRequest) store.Filter {
	f := store.Filter{
		Prism: p.ID, Status: in.Status, Ref: in.Ref, Version: in.Version, Model: in.Model, Assignee: bodies.Assignee(c, in.Assignee),
		From: bodies.Bound(in.From), To: bodies.Bound(in.To),
	}
	if !in.Key.IsZero() {
		f.Key = &in.Key
	}
	if !in.Run.IsZero() {
		f.Run = &in.Run
	}
	return f
}

// newAssignedBody has a group for each assignee of before, in the order of the oldest result of each.
func newAssignedBody(n int, changed []Assignment) api.Assigned {
	body := api.Assigned{Assigned: n, Before: []api.AssignedBefore{}}
	groups := map[prism.MemberID]int{}
	for _, a := range changed {
		i, ok := groups[a.Member]
		if !ok {
			i = len(body.Before)
			groups[a.Member] = i
			group := api.AssignedBefore{}
			if !a.Member.IsZero() {
				group.Member = new(a.Member.String())
			}
			body.Before = append(body.Before, group)
		}
		body.Before[i].IDs = append(body.Before[i].IDs, a.Result.String())
	}
	return body
}
