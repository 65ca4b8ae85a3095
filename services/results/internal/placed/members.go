package placed

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

var _ members.Store = (*Accounts)(nil)

// people is what home has of the members of all databases.
func (a *Accounts) people() members.Home { return members.Home{Database: a.Home} }

// AddMember implements members.Store. The link is stored before its member, without whom it signs nobody in.
func (a *Accounts) AddMember(
	ctx context.Context, account prism.AccountID, m members.Member, l *members.Link, by store.By,
) error {
	ctx, at, err := a.known(ctx, account)
	if err != nil {
		return err
	}
	if l != nil {
		if err := a.people().AddLink(ctx, account, m.ID, *l); err != nil {
			return err
		}
	}
	return at.AddMember(ctx, account, m, nil, by)
}

// ListMembers implements members.Store.
func (a *Accounts) ListMembers(ctx context.Context, account prism.AccountID, page store.Page) ([]members.Member, bool, error) {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return nil, false, err
	}
	return at.ListMembers(ctx, account, page)
}

// ChangeMember implements members.Store.
func (a *Accounts) ChangeMember(
	ctx context.Context, account prism.AccountID, id prism.MemberID, c api.MemberChange, by store.By,
) (members.Member, error) {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return members.Member{}, err
	}
	return at.ChangeMember(ctx, account, id, c, by)
}

// RemoveMember implements members.Store. A member who was removed from its account has no access, whatever home still has, which a repeat
// removes.
func (a *Accounts) RemoveMember(ctx context.Context, account prism.AccountID, id prism.MemberID, by store.By) error {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return err
	}
	removed := at.RemoveMember(ctx, account, id, by)
	if removed != nil && !errors.Is(removed, store.ErrNotFound) {
		return removed
	}
	if err := a.people().ForgetMember(ctx, account, id); err != nil {
		return err
	}
	return removed
}

// LinkMember implements members.Store. The link is stored last: its text is known to nobody before.
func (a *Accounts) LinkMember(
	ctx context.Context, account prism.AccountID, id prism.MemberID, l members.Link, by store.By,
) (members.Member, error) {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return members.Member{}, err
	}
	m, err := at.PlacedLink(ctx, account, id, l, by)
	if err != nil {
		return members.Member{}, err
	}
	return m, a.Directory.Locked(ctx, "replace_links", account, func(run sqldb.Run) error {
		return members.ReplaceLinks(ctx, run, account, id, l)
	})
}

// LinkOperator implements members.Store. The link is stored last, as the operator is known then.
func (a *Accounts) LinkOperator(
	ctx context.Context, account prism.AccountID, m members.Member, l members.Link, newID members.NewID, by store.By,
) error {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return err
	}
	operator, err := at.PlacedOperator(ctx, account, m, l, newID, by)
	if err != nil {
		return err
	}
	return a.people().AddLink(ctx, account, operator.ID, l)
}

// GrantClaim implements members.Store.
func (a *Accounts) GrantClaim(ctx context.Context, account prism.AccountID, c prism.Claim, granted bool, by store.By) error {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return err
	}
	return at.GrantClaim(ctx, account, c, granted, by)
}

// DeclareRules implements members.Store. Home has nothing of rules.
func (a *Accounts) DeclareRules(
	ctx context.Context, account prism.AccountID, rules []members.Member, newID members.NewID, by store.By,
) error {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return err
	}
	return at.DeclareRules(ctx, account, rules, newID, by)
}

// ListClaims implements members.Store.
func (a *Accounts) ListClaims(ctx context.Context, account prism.AccountID) ([]prism.Claim, error) {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return nil, err
	}
	return at.ListClaims(ctx, account)
}
