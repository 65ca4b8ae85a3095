package members

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	grantClaim = `INSERT INTO claim_grants (account_id, claim_name, claim_value, granted_at) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING claim_name`
	withdrawClaim = `DELETE FROM claim_grants WHERE account_id = $1 AND claim_name = $2 AND claim_value = $3 RETURNING claim_name`
	listClaims    = `-- name: ListClaims :many
SELECT claim_name, claim_value FROM claim_grants WHERE account_id = $1 ORDER BY claim_name, claim_value`
)

// claimsDetail is the detail of an entry. The value of a claim may be somebody's address, so it is not recorded.
type claimsDetail struct {
	Claim   string `json:"claim"`
	Granted bool   `json:"granted"`
}

// GrantClaim implements Store.
func (s SQL) GrantClaim(ctx context.Context, account prism.AccountID, c prism.Claim, granted bool, by store.By) error {
	return s.Transaction(ctx, "grant_claim", func(run sqldb.Run) error {
		var name string
		if err := run(ctx, sqldb.Statement{Text: keys.LockAccount, Args: []any{account.UUID}}, sqldb.ReadRow(&name, (*sqldb.Row).Text)); err != nil {
			return err
		}
		return setGrant(ctx, run, account, name, c, granted, by)
	})
}

// setGrant grants a claim to the account with the name, or takes it back, and records it unless it is so already.
func setGrant(ctx context.Context, run sqldb.Run, account prism.AccountID, name string, c prism.Claim, granted bool, by store.By) error {
	change := sqldb.Statement{Text: withdrawClaim, Args: []any{account.UUID, c.Name, c.Value}}
	if granted {
		change = sqldb.Statement{Text: grantClaim, Args: []any{account.UUID, c.Name, c.Value, by.At}}
	}
	err := run(ctx, change, sqldb.SomeRow)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it is so already
	}
	if err != nil {
		return err
	}
	object := store.Object{Kind: store.AccountObject, ID: account.UUID, Name: name}
	return sqldb.Record(ctx, run, account, by, store.AccountClaims, object, claimsDetail{c.Name, granted})
}

// ListClaims implements Store.
func (s SQL) ListClaims(ctx context.Context, account prism.AccountID) (claims []prism.Claim, err error) {
	find := sqldb.Query("list_claims", listClaims, account.UUID)
	err = s.Run(ctx, find, sqldb.ReadRows(&claims, readClaim))
	return claims, err
}

func readClaim(r *sqldb.Row) prism.Claim { return prism.Claim{Name: r.Text(), Value: r.Text()} }
