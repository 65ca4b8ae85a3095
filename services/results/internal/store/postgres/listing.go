package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/columns"
	"github.com/prism-results/prism/services/results/internal/store/internal/listsql"
)

const (
	listResults = `-- name: ListResults :many
SELECT ` + columns.PrismState + `, ` + columns.Fixed + columns.NoInput + `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id`
	exportResults = `-- name: ExportResults :many
SELECT ` + columns.Fixed + columns.Input + `
FROM results r`
)

// ListResults implements store.Listing.
func (s *Store) ListResults(
	ctx context.Context, account prism.AccountID, f store.Filter, page store.Page,
) ([]store.Saved, error) {
	statement, args := dialect().Statement(listResults, account, f, page, listsql.NewestFirst)
	return list(ctx, s, "list results", statement, args, func(rows pgx.Rows) (store.Saved, int, error) {
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
	statement, args := dialect().Statement(exportResults, account, f, page, listsql.OldestFirst)
	return list(ctx, s, "export results", statement, args, func(rows pgx.Rows) (prism.Result, int, error) {
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
	ctx context.Context, s *Store, operation, statement string, args []any, read func(pgx.Rows) (T, int, error),
) (found []T, err error) {
	err = s.read(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		found = nil
		rows, err := conn.Query(ctx, statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for size := 0; size < store.PageBytes && rows.Next(); {
			one, n, err := read(rows)
			if err != nil {
				return err
			}
			found, size = append(found, one), size+n
		}
		rows.Close()
		return rows.Err()
	})
	return found, err
}
