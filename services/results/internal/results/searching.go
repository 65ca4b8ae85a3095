package results

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// loadedAtOnce is how many found results are loaded at once: each may have more than 1 MiB.
const loadedAtOnce = 16

// searchResults is a page of the results that a search finds, in its order (spec: search-words, search-where, search-sort).
func (h *Handlers) searchResults(ctx context.Context, c store.Caller, in api.ListResultsRequest) ([]byte, error) {
	plain, p, err := h.filterOf(ctx, c, in)
	if err != nil {
		return nil, err
	}
	schema, err := h.deps.Searches.Schema(ctx, c.Account, p)
	if err != nil {
		return nil, err
	}
	filter, problems := schema.Parse(plain, in.ResultSearch)
	order, wrong := schema.ParseOrder(in.Sort)
	searched := searchHash(in)
	after, unknown := positionIn(in.Cursor, searched)
	if err := search.Invalid(slices.Concat(problems, wrong, unknown)); err != nil {
		return nil, err
	}
	matches, err := h.deps.Store.Search(ctx, c.Account, filter, order, after, in.Limit)
	if err != nil {
		return nil, err
	}
	next := matches.Next
	page := bodies.NewPageWith(func(prism.UUID) string {
		row := contract.FoundRow{ID: next.ID, Upto: next.Upto, Number: next.Number, Search: searched}
		if next.Without {
			row.Number = float32(math.NaN())
		}
		return row.Cursor()
	})
	var last *search.Position
	var work fair.Work
fill:
	for part := range slices.Chunk(matches.Hits, loadedAtOnce) {
		rows, err := h.savedOf(ctx, c.Account, part, store.Input(in.Fields))
		if err != nil {
			return nil, err
		}
		for _, hit := range part {
			if saved, there := rows[prism.ResultID{UUID: hit.ID}]; there { // else it was deleted meanwhile
				work.Begin()
				value, err := h.listed(ctx, c.Account, in, saved)
				if err != nil {
					return nil, err
				}
				if !page.Add(value) {
					next = last
					break fill
				}
				work.End()
			}
			last = &hit
		}
	}
	if next != nil {
		page.Next = next.ID
	}
	coverage, err := json.Marshal(search.Body(matches.Covered))
	if err != nil {
		return nil, err
	}
	members := ""
	if inner := bytes.Trim(coverage, "{}"); len(inner) > 0 {
		members = "," + string(inner)
	}
	return page.End(members), nil
}

// savedOf are those of the hits that are there still.
func (h *Handlers) savedOf(ctx context.Context, account prism.AccountID, hits []search.Position, in store.Input) (map[prism.ResultID]store.Saved, error) {
	rows := make(map[prism.ResultID]store.Saved, len(hits))
	ids := make([]prism.UUID, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	for more := true; more; {
		var saved []store.Saved
		var err error
		if saved, more, err = h.deps.Store.ListResults(ctx, account, store.Filter{IDs: ids}, in, store.Page{Limit: len(ids)}); err != nil {
			return nil, err
		}
		for _, one := range saved {
			rows[one.Result.ID] = one
		}
		ids = slices.DeleteFunc(ids, func(id prism.UUID) bool {
			_, loaded := rows[prism.ResultID{UUID: id}]
			return loaded
		})
		more = more && len(ids) > 0
	}
	return rows, nil
}

// searchHash identifies a search: its filters and its order. A cursor belongs to it (spec: search-cursor).
func searchHash(in api.ListResultsRequest) uint64 {
	in.Limit, in.Cursor, in.Format, in.Fields = 0, "", "", false
	text, _ := json.Marshal(in) // has texts, numbers and times only
	hash := fnv.New64a()
	_, _ = hash.Write(text)
	return hash.Sum64()
}

// positionIn is where the page before ended; nil for the first page.
func positionIn(cursor string, searched uint64) (*search.Position, []apierr.Problem) {
	if cursor == "" {
		return nil, nil
	}
	row, ok := contract.ParseFoundRow(cursor)
	if !ok || row.Search != searched {
		return nil, []apierr.Problem{{Path: "cursor", Text: "Invalid cursor"}}
	}
	at := &search.Position{ID: row.ID, Upto: row.Upto, Number: row.Number}
	if at.Without = math.IsNaN(float64(row.Number)); at.Without {
		at.Number = 0
	}
	return at, nil
}
