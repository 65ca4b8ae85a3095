package operator

import (
	"context"
	"errors"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// GrantClaim lets rules of an account for a claim make members at any sign-in, or no longer (spec: claim-grant).
func (o *Operator) GrantClaim(ctx context.Context, account prism.AccountID, c prism.Claim, granted bool) error {
	if err := errors.Join(validName("a claim's name", c.Name), validName("a claim's value", c.Value)); err != nil {
		return err
	}
	by, err := o.by()
	if err != nil {
		return err
	}
	return o.service.Store.GrantClaim(ctx, account, c, granted, by)
}

// accountAllowClaim grants a claim or takes it back, and lists the claims that are granted then.
func (o *Operator) accountAllowClaim(ctx context.Context, in arguments) ([][]string, error) {
	id, err := o.Account(ctx, in.subject)
	if err != nil {
		return nil, err
	}
	if in.claim != "" {
		name, value, _ := strings.Cut(in.claim, "=")
		if err := o.GrantClaim(ctx, id, prism.Claim{Name: name, Value: value}, !in.remove); err != nil {
			return nil, err
		}
	}
	claims, err := o.service.Store.ListClaims(ctx, id)
	rows := [][]string{{"CLAIM", "VALUE"}}
	for _, c := range claims {
		rows = append(rows, []string{c.Name, c.Value})
	}
	return rows, err
}
