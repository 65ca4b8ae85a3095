package results

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	listResults = `-- name: ListResults :many
SELECT ` + sqldb.PrismState + `, ` + sqldb.Fixed

	listRunResults = `-- name: ListRunResults :many
SELECT r.run_row, ` + sqldb.PrismState + `, ` + sqldb.Fixed

	listedResults = `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id`

	selectLookedAt = `-- name: LookedAt :one
SELECT r.id FROM results r`

	findResults = `-- name: FindResults :many
SELECT ` + sqldb.Fixed + `
FROM results r`

	exportResults = `-- name: ExportResults :many
SELECT ` + sqldb.Fixed + sqldb.Input + `
FROM results r`
)

// ListResults implements Store.
func (s SQL) ListResults(
	ctx context.Context, account prism.AccountID, f store.Filter, in store.Input, page store.Page,
) (results []store.Saved, more bool, err error) {
	l := sqldb.NewList("list_results")
	lens := "" // of the row before: rows of the same prism share it
	read := func(r *sqldb.Row) store.Saved {
		saved := r.Saved(in)
		r.Share(&saved.Prism.Lens, &lens)
		return saved
	}
	columns, wide := "", []string{"answers"}
	if in == store.WithInput {
		columns, wide = sqldb.Input, []string{"answers", "context", "fields"}
	}
	if f.Run != nil {
		l.Results(listRunResults+columns+listedResults, account, f)
		if !page.After.IsZero() {
			row, last := contract.ParseRowPosition(page.After)
			l.Add(" AND (r.run_row, r.id) > (", row)
			l.Add(", ", last.UUID)
			l.Write(")")
		}
		l.Add(" ORDER BY r.run_row, r.id LIMIT ", int64(page.Limit)+1)
		return sqldb.ReadPage(ctx, s.Database, l.Complete(), page.Limit, func(r *sqldb.Row) store.Saved {
			row := r.Int()
			saved := read(r)
			saved.RunRow = row
			return saved
		}, wide...)
	}
	l.Results(listResults+columns+listedResults, account, f)
	if !page.Until.IsZero() {
		l.Add(" AND r.id >= ", page.Until)
	}
	l.Newest(page)
	return sqldb.ReadPage(ctx, s.Database, l.Complete(), page.Limit, read, wide...)
}

// LookedAt implements Store. It reads only ids, from an index: the times become bounds of the ids.
func (s SQL) LookedAt(
	ctx context.Context, account prism.AccountID, f store.Filter, after prism.UUID, results int,
) (id prism.UUID, err error) {
	l := sqldb.NewList("looked_at")
	l.Results(selectLookedAt, account, store.Filter{Prism: f.Prism})
	l.IDsBetween("r.id", f.From, f.To)
	if !after.IsZero() {
		l.Add(" AND r.id < ", after)
	}
	l.Add(" ORDER BY r.id DESC LIMIT 1 OFFSET ", int64(results-1))
	err = s.Run(ctx, l.Complete(), sqldb.ReadRow(&id, (*sqldb.Row).UUID))
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return id, err
}

// ExportResults implements Store.
func (s SQL) ExportResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, f store.Filter, page store.Page,
) (results []prism.Result, err error) {
	f.Prism = id
	l := sqldb.NewList("export_results")
	l.Results(exportResults, account, f)
	l.Page(page, ">", "ASC")
	err = s.Run(ctx, l.Complete(), sqldb.ReadPiece(&results, func(r *sqldb.Row) prism.Result { return r.Result(id, store.WithInput) }))
	return results, err
}

// FindResults implements Store.
func (s SQL) FindResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input,
) (results []prism.Result, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	l := sqldb.NewList("find_results")
	query := findResults
	if in == store.WithInput {
		query = exportResults
	}
	l.Results(query, account, store.Filter{Prism: id})
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id.UUID
	}
	l.In(" AND r.id IN (", args)
	err = s.Run(ctx, l.Complete(), sqldb.ReadRows(&results, func(r *sqldb.Row) prism.Result { return r.Result(id, in) }))
	return results, err
}
