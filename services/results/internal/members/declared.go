package members

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const listRules = `-- name: ListRules :many
SELECT ` + memberColumns + ` FROM members WHERE account_id = $1 AND claim_name IS NOT NULL AND removed_at IS NULL ORDER BY id`

// DeclareRules implements Store.
func (s SQL) DeclareRules(ctx context.Context, account prism.AccountID, rules []Member, newID NewID, by store.By) error {
	return s.Transaction(ctx, "declare_rules", func(run sqldb.Run) error {
		d := declaration{run: run, account: account, newID: newID, by: by, wanted: map[prism.Claim]Member{}}
		if err := run(ctx, sqldb.Statement{Text: keys.LockAccount, Args: []any{account.UUID}}, sqldb.ReadRow(&d.name, (*sqldb.Row).Text)); err != nil {
			return err
		}
		for _, rule := range rules {
			d.wanted[*rule.Claim] = rule
		}
		if err := d.grants(ctx, rules); err != nil {
			return err
		}
		return d.rules(ctx, rules)
	})
}

// declaration replaces the rules of an account in a transaction.
type declaration struct {
	run     sqldb.Run
	account prism.AccountID
	name    string // of the account
	newID   NewID
	by      store.By
	wanted  map[prism.Claim]Member
}

// entry is by with an entry of its own, since each change has one.
func (d *declaration) entry() (store.By, error) {
	id, err := d.newID()
	d.by.Entry = id
	return d.by, err
}

// grants takes back the claims that no rule has, and grants the others.
func (d *declaration) grants(ctx context.Context, rules []Member) error {
	var granted []prism.Claim
	found := sqldb.Statement{Text: listClaims, Args: []any{d.account.UUID}}
	if err := d.run(ctx, found, sqldb.ReadRows(&granted, readClaim)); err != nil {
		return err
	}
	set := func(c prism.Claim, granted bool) error {
		by, err := d.entry()
		if err != nil {
			return err
		}
		return setGrant(ctx, d.run, d.account, d.name, c, granted, by)
	}
	for _, c := range granted {
		if _, ok := d.wanted[c]; !ok {
			if err := set(c, false); err != nil {
				return err
			}
		}
	}
	for _, rule := range rules {
		if err := set(*rule.Claim, true); err != nil {
			return err
		}
	}
	return nil
}

// rules removes the rules that are not wanted, changes those that differ, and adds the others.
func (d *declaration) rules(ctx context.Context, rules []Member) error {
	var stored []Member
	found := sqldb.Statement{Text: listRules, Args: []any{d.account.UUID}}
	if err := d.run(ctx, found, sqldb.ReadRows(&stored, readMember)); err != nil {
		return err
	}
	for _, was := range stored {
		by, err := d.entry()
		if err != nil {
			return err
		}
		is, ok := d.wanted[*was.Claim]
		delete(d.wanted, *was.Claim) // a second rule for a claim is removed
		switch {
		case !ok:
			err = remove(ctx, d.run, d.account, was, by)
		case is.Name != was.Name || is.Role != was.Role:
			to := was
			to.Name, to.Role = is.Name, is.Role
			err = updateMemberTo(ctx, d.run, d.account, was, to, by)
		}
		if err != nil {
			return err
		}
	}
	for _, rule := range rules {
		if _, ok := d.wanted[*rule.Claim]; !ok {
			continue
		}
		delete(d.wanted, *rule.Claim)
		id, err := d.newID()
		if err != nil {
			return err
		}
		by, err := d.entry()
		if err != nil {
			return err
		}
		rule.ID, rule.CreatedAt = prism.MemberID{UUID: id}, by.At
		if err := addMember(ctx, d.run, d.account, rule, false, nil, by); err != nil {
			return err
		}
	}
	return nil
}
