package search

import (
	"context"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	foundResults = `-- name: FoundResults :many
SELECT r.prism_id, r.model, ` + sqldb.Fixed

	foundTexts = foundResults + sqldb.Input
	ofResults  = `
FROM results r`

	foundLabels = `-- name: FoundLabels :many
SELECT l.result_id, l.question, l.value FROM labels l WHERE l.account_id = `
)

// FindAmong implements Store.
func (s SQL) FindAmong(
	ctx context.Context, run sqldb.Run, account prism.AccountID, f Filter, ids []prism.ResultID,
) (all []*finding.Found, err error) {
	for len(ids) > 0 {
		some := ids[:min(len(ids), together)]
		ids = ids[len(some):]
		l := sqldb.NewList("found_results")
		f.list(&l, account)
		l.In(" AND r.id IN (", sqldb.FewTexts(sqldb.UUIDs(some)))
		found, err := s.read(ctx, run, account, l.Complete(), f.input())
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			if one.Definition = f.Versions[one.Result.Version]; f.finds(one) {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// input tells whether what was sent to the model is looked at.
func (f *Filter) input() store.Input { return f.Words != nil }

// list begins a list of the results that f.Filter finds.
func (f *Filter) list(l *sqldb.List, account prism.AccountID) {
	columns := foundResults
	if f.input() {
		columns = foundTexts
	}
	l.Results(columns+ofResults, account, f.Filter)
}

func (f *Filter) finds(one *finding.Found) bool {
	return !f.unsearchable[one.Result.Prism] && (f.Words == nil || f.Words.Match(finding.Tokens(one.Result))) && f.Where.Match(one)
}

// read reads results with what a search reads of them, but their definitions.
func (s SQL) read(
	ctx context.Context, run sqldb.Run, account prism.AccountID, list sqldb.Statement, in store.Input,
) (all []*finding.Found, err error) {
	err = run(ctx, list, sqldb.ReadRows(&all, func(r *sqldb.Row) *finding.Found {
		of, model := prism.PrismID{UUID: r.UUID()}, r.Text()
		f := &finding.Found{Result: r.Result(of, in), Labels: map[string]string{}}
		if model != "" {
			f.Result.Call = &prism.ModelCall{Name: model}
		}
		if f.Result.Status == prism.OK {
			var err error
			if f.Answers, err = answerjson.Parse(f.Result.Answers); err != nil {
				r.Fail(err)
			}
		}
		return f
	}))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	byID := map[prism.UUID]*finding.Found{}
	prisms := map[prism.PrismID]bool{}
	var ofPrisms, ofResults []prism.UUID
	for _, f := range all {
		byID[f.Result.ID.UUID] = f
		ofResults = append(ofResults, f.Result.ID.UUID)
		if !prisms[f.Result.Prism] {
			prisms[f.Result.Prism] = true
			ofPrisms = append(ofPrisms, f.Result.Prism.UUID)
		}
	}
	l := sqldb.NewList("found_labels")
	l.Add(foundLabels, account.UUID)
	l.In(" AND l.prism_id IN (", sqldb.FewTexts(ofPrisms))
	l.In(" AND l.result_id IN (", sqldb.FewTexts(ofResults))
	var labels []string
	err = run(ctx, l.Complete(), sqldb.ReadRows(&labels, func(r *sqldb.Row) string {
		f, question := byID[r.UUID()], r.Text()
		if value := r.Text(); f != nil {
			f.Labels[question] = value
		}
		return question
	}))
	return all, err
}

// define gives results the definitions of their versions.
func define(ctx context.Context, run sqldb.Run, account prism.AccountID, all []*finding.Found) error {
	type version struct {
		prism  prism.PrismID
		number int32
	}
	known := map[version]prism.Definition{}
	for _, f := range all {
		v := version{f.Result.Prism, f.Result.Version}
		d, ok := known[v]
		if !ok {
			var err error
			if d, err = sqldb.ReadDefinition(ctx, run, account, v.prism.UUID, v.number); err != nil {
				return err
			}
			known[v] = d
		}
		f.Definition = d
	}
	return nil
}
