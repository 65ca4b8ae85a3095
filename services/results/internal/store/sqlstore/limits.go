package sqlstore

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	limitColumns = `requests_per_second, concurrency, results_per_day`
	setLimits    = `INSERT INTO account_limits (account_id, ` + limitColumns + `)
VALUES ($1, coalesce($2, 0), coalesce($3, 0), coalesce($4, 0))
ON CONFLICT (account_id) DO UPDATE SET
	requests_per_second = coalesce($2, account_limits.requests_per_second),
	concurrency = coalesce($3, account_limits.concurrency),
	results_per_day = coalesce($4, account_limits.results_per_day)
RETURNING ` + limitColumns
	removeLimits = `DELETE FROM account_limits WHERE account_id = $1`
	listLimits   = `-- name: ListLimits :many
SELECT account_id, ` + limitColumns + ` FROM account_limits`
)

// SetLimits implements store.Limits. Only accounts with limits have a row.
func (s Store) SetLimits(
	ctx context.Context, account prism.AccountID, c store.LimitsChange,
) (limits prism.Limits, err error) {
	err = s.Transaction(ctx, "set_limits", func(run Run) error {
		if err := run(ctx, Statement{Text: lockAccount, Args: []any{account.UUID}}, changed); err != nil {
			return err
		}
		set := Statement{Text: setLimits, Args: []any{account.UUID, c.RequestsPerSecond, c.Concurrency, c.ResultsPerDay}}
		if err := run(ctx, set, one(&limits, (*Row).limits)); err != nil || !limits.IsZero() {
			return err
		}
		return run(ctx, Statement{Text: removeLimits, Args: []any{account.UUID}}, nothing)
	})
	return limits, err
}

// ListLimits implements store.Limits.
func (s Store) ListLimits(ctx context.Context) (limits []contract.AccountLimits, err error) {
	err = s.Run(ctx, Statement{"list_limits", listLimits, nil, true}, all(&limits, func(r *Row) contract.AccountLimits {
		return contract.AccountLimits{Account: prism.AccountID{UUID: r.UUID()}, Limits: r.limits()}
	}))
	return limits, err
}

func (r *Row) limits() prism.Limits {
	return prism.Limits{RequestsPerSecond: r.Int32(), Concurrency: r.Int32(), ResultsPerDay: r.Int32()}
}
