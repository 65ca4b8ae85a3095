package sqlstore

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	limitColumns = `requests_per_second, concurrency, results_per_day`
	setLimits    = `INSERT INTO account_limits (account_id, ` + limitColumns + `)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id) DO UPDATE SET requests_per_second = $2, concurrency = $3, results_per_day = $4`
	removeLimits = `DELETE FROM account_limits WHERE account_id = $1`
	readLimits   = `SELECT ` + limitColumns + ` FROM account_limits WHERE account_id = $1`
	listLimits   = `-- name: ListLimits :many
SELECT account_id, ` + limitColumns + ` FROM account_limits`
)

// limitsDetail is the detail of an entry: the limits after the change.
type limitsDetail struct {
	RequestsPerSecond int32 `json:"requests_per_second,omitzero"`
	Concurrency       int32 `json:"concurrency,omitzero"`
	ResultsPerDay     int32 `json:"results_per_day,omitzero"`
}

// SetLimits implements store.Limits. Only accounts with limits have a row.
func (s Store) SetLimits(
	ctx context.Context, account prism.AccountID, c store.LimitsChange, by store.By,
) (limits prism.Limits, err error) {
	err = s.Transaction(ctx, "set_limits", func(run Run) error {
		var (
			name   string
			before prism.Limits
			id     = []any{account.UUID}
		)
		if err := run(ctx, Statement{Text: lockAccount, Args: id}, one(&name, (*Row).Text)); err != nil {
			return err
		}
		err := run(ctx, Statement{Text: readLimits, Args: id}, one(&before, (*Row).limits))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		limits = c.Apply(before)
		change := Statement{Text: removeLimits, Args: id}
		switch {
		case limits == before:
			return nil
		case !limits.IsZero():
			change = Statement{Text: setLimits, Args: append(id, limits.RequestsPerSecond, limits.Concurrency, limits.ResultsPerDay)}
		}
		if err := run(ctx, change, nothing); err != nil {
			return err
		}
		object := store.Object{Kind: store.AccountObject, ID: account.UUID, Name: name}
		return record(ctx, run, account, by, store.AccountLimits, object, limitsDetail(limits))
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
