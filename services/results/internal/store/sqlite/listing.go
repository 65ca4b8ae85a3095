package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/columns"
	"github.com/prism-results/prism/services/results/internal/store/internal/listsql"
)

const (
	listResults = `
SELECT ` + columns.PrismState + `, ` + columns.Fixed + columns.NoInput + `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id`
	exportResults = `
SELECT ` + columns.Fixed + columns.Input + `
FROM results r`
)

// ListResults implements store.Listing.
func (s *Store) ListResults(
	ctx context.Context, account prism.AccountID, f store.Filter, page store.Page,
) ([]store.Saved, error) {
	query, args := dialect().Statement(listResults, account, f, page, listsql.NewestFirst)
	return list(ctx, s, "list results", query, args, func(rows *sql.Rows) (store.Saved, int, error) {
		var r columns.Saved
		if err := rows.Scan(r.Targets(target)...); err != nil {
			return store.Saved{}, 0, err
		}
		saved, err := r.Saved()
		return saved, 0, err
	})
}

// ExportResults implements store.Listing.
func (s *Store) ExportResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, f store.Filter, page store.Page,
) ([]prism.Result, error) {
	f.Prism, f.Ref = id, nil
	query, args := dialect().Statement(exportResults, account, f, page, listsql.OldestFirst)
	return list(ctx, s, "export results", query, args, func(rows *sql.Rows) (prism.Result, int, error) {
		var r columns.Result
		if err := rows.Scan(r.Targets(target)...); err != nil {
			return prism.Result{}, 0, err
		}
		result, err := r.Result()
		if err != nil {
			return prism.Result{}, 0, err
		}
		return *result, r.Bytes(), nil
	})
}

// list reads rows until there are no more or they fill store.PageBytes. read scans one row and returns its size.
func list[T any](
	ctx context.Context, s *Store, operation, query string, args []any, read func(*sql.Rows) (T, int, error),
) (found []T, err error) {
	rows, err := s.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, translate(operation, err)
	}
	defer func() { err = errors.Join(err, translate(operation, rows.Close())) }()
	for size := 0; size < store.PageBytes && rows.Next(); {
		one, n, err := read(rows)
		if err != nil {
			return nil, translate(operation, err)
		}
		found, size = append(found, one), size+n
	}
	return found, translate(operation, rows.Err())
}
