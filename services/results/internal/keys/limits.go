package keys

import (
	"context"
	"errors"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	limitColumns = `requests_per_second, concurrency, results_per_day, stored_bytes`
	setLimits    = `INSERT INTO account_limits (account_id, ` + limitColumns + `)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id) DO UPDATE SET requests_per_second = $2, concurrency = $3, results_per_day = $4, stored_bytes = $5`
	removeLimits = `DELETE FROM account_limits WHERE account_id = $1`
	selectLimits = `SELECT ` + limitColumns + ` FROM account_limits WHERE account_id = $1`
)

var (
	// mayStore is what an account may store, with its row l of account_limits, or without one.
	mayStore = `coalesce(nullif(l.stored_bytes, 0), ` + strconv.Itoa(prism.DefaultStoredBytes) + `)`

	// Full is whether the account of a run r stored as much as it may when the bytes were folded last.
	Full = `EXISTS (
	SELECT 1 FROM stored_bytes s LEFT JOIN account_limits l ON l.account_id = s.account_id
	WHERE s.account_id = r.account_id AND s.bytes >= ` + mayStore + `
)`

	listLimits = `-- name: ListLimits :many
SELECT l.account_id, ` + limitColumns + `, coalesce(s.bytes, 0) >= ` + mayStore + `
FROM account_limits l LEFT JOIN stored_bytes s ON s.account_id = l.account_id
WHERE l.account_id` + sqldb.StaysHere + `
UNION ALL
SELECT s.account_id, 0, 0, 0, 0, s.bytes >= ` + mayStore + `
FROM stored_bytes s LEFT JOIN account_limits l ON l.account_id = s.account_id
WHERE l.account_id IS NULL AND s.bytes >= ` + mayStore + ` AND s.account_id` + sqldb.StaysHere

	// SelectStorage has a row for any account.
	SelectStorage = `-- name: Storage :one
SELECT CAST(coalesce((SELECT sum(bytes) FROM stored_bytes_now WHERE account_id = $1), 0) AS bigint), ` + mayStore + `
FROM (SELECT 1 AS one) o LEFT JOIN account_limits l ON l.account_id = $1`

	selectAccount = `-- name: Account :one
SELECT a.id, a.name, a.created_at, nullif(requests_per_second, 0), nullif(concurrency, 0), nullif(results_per_day, 0), ` + mayStore + `,
	(SELECT count(*) FROM prisms WHERE account_id = $1 AND archived_at IS NULL AND NOT ad_hoc),
	(SELECT count(*) FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL AND session_id IS NULL),
	(SELECT count(*) FROM members WHERE account_id = $1 AND removed_at IS NULL AND claim_name IS NULL),
	CAST(coalesce((SELECT sum(bytes) FROM stored_bytes_now WHERE account_id = $1), 0) AS bigint)
FROM accounts a LEFT JOIN account_limits l ON l.account_id = a.id WHERE a.id = $1`
)

// limitsDetail is the detail of an entry: the limits after the change.
type limitsDetail struct {
	RequestsPerSecond int32 `json:"requests_per_second,omitzero"`
	Concurrency       int32 `json:"concurrency,omitzero"`
	ResultsPerDay     int32 `json:"results_per_day,omitzero"`
	// StoredBytes is a number or "none"; without it the account may store what others may.
	StoredBytes any `json:"stored_bytes,omitzero"`
}

func newLimitsDetail(l prism.Limits) limitsDetail {
	d := limitsDetail{RequestsPerSecond: l.RequestsPerSecond, Concurrency: l.Concurrency, ResultsPerDay: l.ResultsPerDay}
	switch l.StoredBytes {
	case 0:
	case prism.AnyStoredBytes:
		d.StoredBytes = "none"
	default:
		d.StoredBytes = l.StoredBytes
	}
	return d
}

// SetLimits implements LimitStore. Only accounts with limits have a row.
func (s SQL) SetLimits(
	ctx context.Context, account prism.AccountID, c LimitsChange, by store.By,
) (limits prism.Limits, err error) {
	err = s.Transaction(ctx, "set_limits", func(run sqldb.Run) error {
		var (
			name   string
			before prism.Limits
			id     = []any{account.UUID}
		)
		if err := run(ctx, sqldb.Statement{Text: LockAccount, Args: id}, sqldb.ReadRow(&name, (*sqldb.Row).Text)); err != nil {
			return err
		}
		err := run(ctx, sqldb.Statement{Text: selectLimits, Args: id}, sqldb.ReadRow(&before, readLimits))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		limits = c.Apply(before)
		change := sqldb.Statement{Text: removeLimits, Args: id}
		switch {
		case limits == before:
			return nil
		case !limits.IsZero():
			change = sqldb.Statement{Text: setLimits, Args: append(
				id, limits.RequestsPerSecond, limits.Concurrency, limits.ResultsPerDay, limits.StoredBytes,
			)}
		}
		if err := run(ctx, change, sqldb.NoRow); err != nil {
			return err
		}
		object := store.Object{Kind: store.AccountObject, ID: account.UUID, Name: name}
		return sqldb.Record(ctx, run, account, by, store.AccountLimits, object, newLimitsDetail(limits))
	})
	return limits, err
}

// ListLimits implements LimitStore.
func (s SQL) ListLimits(ctx context.Context) (limits []contract.AccountLimits, err error) {
	err = s.Run(ctx, sqldb.Query("list_limits", listLimits), sqldb.ReadRows(&limits, func(r *sqldb.Row) contract.AccountLimits {
		return contract.AccountLimits{Account: prism.AccountID{UUID: r.UUID()}, Limits: readLimits(r), Full: r.Bool()}
	}))
	return limits, err
}

// Storage implements LimitStore.
func (s SQL) Storage(ctx context.Context, account prism.AccountID) (stored store.Storage, err error) {
	err = s.Run(ctx, sqldb.Query("storage", SelectStorage, account.UUID), sqldb.ReadRow(&stored, ReadStorage))
	return stored, err
}

// Account implements Store.
func (s SQL) Account(ctx context.Context, id prism.AccountID) (account api.Account, err error) {
	err = s.Run(ctx, sqldb.Query("account", selectAccount, id.UUID), sqldb.ReadRow(&account, readAccount))
	return account, err
}

func readAccount(r *sqldb.Row) api.Account {
	a := api.Account{ID: r.UUID().String(), Name: r.Text(), CreatedAt: api.Time{Time: r.Time()}, Limits: api.AccountLimits{
		RequestsPerSecond: r.OptionalInt(), Concurrency: r.OptionalInt(), ResultsPerDay: r.OptionalInt(),
	}}
	if bytes := r.Int(); bytes != prism.AnyStoredBytes {
		a.Limits.StoredBytes = &bytes
	}
	a.Prisms, a.Keys, a.Members, a.StoredBytes = r.Int(), r.Int(), r.Int(), r.Int()
	return a
}

// ReadStorage reads what SelectStorage finds.
func ReadStorage(r *sqldb.Row) store.Storage { return store.Storage{Bytes: r.Int(), Limit: r.Int()} }

func readLimits(r *sqldb.Row) prism.Limits {
	return prism.Limits{RequestsPerSecond: r.Int32(), Concurrency: r.Int32(), ResultsPerDay: r.Int32(), StoredBytes: r.Int()}
}
