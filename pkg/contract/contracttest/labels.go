package contracttest

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (r *results) PutLabels(
	_ context.Context, key contract.KeyDigest, id prism.ResultID, l contract.NewLabels,
) (contract.Response, error) {
	return r.hear("PutLabels", key, id, l)
}

func (r *results) ResultLabels(_ context.Context, key contract.KeyDigest, id prism.ResultID) (contract.Response, error) {
	return r.hear("ResultLabels", key, id)
}

func (r *results) AddLabels(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, l contract.ManyLabels,
) (contract.Response, error) {
	return r.hear("AddLabels", key, ref, l)
}

func (r *results) ListLabels(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, q contract.LabelList,
) (contract.Response, error) {
	return r.hear("ListLabels", key, ref, q)
}

func (r *results) LabelQueue(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, q contract.LabelQueue,
) (contract.Response, error) {
	return r.hear("LabelQueue", key, ref, q)
}

// labels is a call of each method of contract.Labels.
func labels() []called {
	id, ref := prism.ResultID{UUID: prism.UUID{0xab, 15: 7}}, prism.Ref{Slug: odd}
	by := contract.LabelBy{Sample: contract.RandomSample, Annotator: odd}
	text := odd
	page := contract.Page{Limit: 7, Cursor: "c"}
	return []called{
		{"PutLabels", []any{digest, id, contract.NewLabels{Labels: []contract.RowLabel{{Question: odd, Value: odd}, {Question: odd}}, LabelBy: by}}},
		{"PutLabels", []any{digest, id, contract.NewLabels{Labels: []contract.RowLabel{{Question: odd}}}}},
		{"ResultLabels", []any{digest, id}},
		{"AddLabels", []any{digest, ref, contract.ManyLabels{
			Labels:  []contract.NewLabel{{Result: id, Question: odd, Value: odd}, {Ref: &text, Question: odd, Value: odd}},
			LabelBy: by, Version: 3,
		}}},
		{"ListLabels", []any{digest, ref, contract.LabelList{Version: 3, Question: odd, Page: page}}},
		{"LabelQueue", []any{digest, ref, contract.LabelQueue{Question: odd, Order: contract.UncertainSample, Version: 3, Page: page}}},
	}
}
