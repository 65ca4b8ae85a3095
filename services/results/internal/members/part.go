package members

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// What a call does in the database of an account, if home is another.

const (
	selectSeat = `SELECT a.id, a.name, m.id, m.name, m.role, m.created_at
FROM members m JOIN accounts a ON a.id = m.account_id
WHERE m.account_id = $1 AND m.id = $2 AND m.removed_at IS NULL`
	seatHere    = selectSeat + ` AND m.account_id` + sqldb.StaysHere
	hasIdentity = `SELECT id FROM members WHERE account_id = $1 AND issuer = $2 AND subject = $3 AND removed_at IS NULL
	AND account_id` + sqldb.StaysHere
	ofTheAccount = ` AND account_id = $4`
	entryWithID  = `SELECT id FROM audit WHERE account_id = $1 AND id = $2`
	oldKeys      = `SELECT digest FROM api_keys WHERE session_id IS NOT NULL AND expires_at <= $1
	AND account_id` + sqldb.StaysHere + ` ORDER BY expires_at LIMIT $2`
)

// Seat is a member of a session with what its account knows of it.
type Seat struct {
	contract.SessionAccount
	CreatedAt time.Time // when it became a member
}

// Seat finds a member of a session: store.ErrNotFound if it was removed, or its account has moved.
func (s SQL) Seat(ctx context.Context, m Membership) (found Seat, err error) {
	find := sqldb.Query("session_member", seatHere, m.Account.UUID, m.Member.UUID)
	err = s.Run(ctx, find, sqldb.ReadRow(&found, func(r *sqldb.Row) Seat {
		return Seat{SessionAccount: readSessionAccount(r), CreatedAt: r.Time()}
	}))
	return found, err
}

// SeeMember stores when a member was last seen.
func (s SQL) SeeMember(ctx context.Context, m Membership, now time.Time) error {
	return s.Run(ctx, sqldb.Change("see_members", lockMember, m.Account.UUID, m.Member.UUID, now), sqldb.NoRow)
}

// PlacedLink records a link of a member, which is no rule, and returns the member: store.ErrNotFound. Home stores the link.
func (s SQL) PlacedLink(ctx context.Context, account prism.AccountID, id prism.MemberID, l Link, by store.By) (Member, error) {
	return s.linkMember(ctx, account, id, l, by, atHome)
}

// PlacedOperator is LinkOperator without the link, which home stores, and returns the operator.
func (s SQL) PlacedOperator(
	ctx context.Context, account prism.AccountID, m Member, l Link, newID NewID, by store.By,
) (Member, error) {
	return s.linkOperator(ctx, account, m, l, newID, by, atHome)
}

// atHome is the placing of a link that home stores.
func atHome(context.Context, sqldb.Run, prism.AccountID, prism.MemberID, Link) error { return nil }

// Joinable are the accounts of the database that have rules which count for a sign-in to the account named, which is zero if it names none.
func (s SQL) Joinable(ctx context.Context, in SignIn, named prism.AccountID) (accounts []prism.AccountID, err error) {
	roles, err := (&signingIn{SignIn: in, named: named, run: func(ctx context.Context, rules sqldb.Statement, read sqldb.Reader) error {
		return s.Run(ctx, sqldb.Query("rules_of_identity", rules.Text, rules.Args...), read)
	}}).rolesByRule(ctx)
	for account := range roles {
		accounts = append(accounts, account)
	}
	return accounts, err
}

// HasIdentity tells whether an identity is a member of an account.
func (s SQL) HasIdentity(ctx context.Context, account prism.AccountID, i *contract.Identity) (bool, error) {
	err := s.Run(ctx, sqldb.Query("has_identity", hasIdentity, account.UUID, i.Issuer, i.Subject), sqldb.SomeRow)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Admission is what the accounts of a database decide of a sign-in.
type Admission struct {
	SignIn
	// Named and Invited are the accounts of the database that the sign-in names and to which its link invites, or zero.
	Named, Invited prism.AccountID
	// Link is whom the link invites, if the sign-in may use it: an identity has taken it.
	Link *Membership
}

// Admit finds the members of the database that sign in, adds missing ones, and has each have come. It returns none if the database has none:
// store.ErrNotFound if the account that the sign-in names has none, or a link's member was removed. Home then begins the session.
func (s SQL) Admit(ctx context.Context, a Admission) (members []Membership, err error) {
	untaken := false
	err = s.Transaction(ctx, "sign_in", func(run sqldb.Run) error {
		in := &signingIn{SignIn: a.SignIn, run: run, named: a.Named, invited: a.Invited}
		in.use = func(context.Context) (Membership, error) {
			if untaken = a.Link == nil; untaken {
				return Membership{}, store.ErrLinkInvalid
			}
			m := *a.Link
			m.Since = a.At
			return m, nil
		}
		find := in.membershipsOfIdentity
		if in.Identity == nil {
			find = in.membershipOfLink
		}
		admitted, err := find(ctx)
		if err != nil {
			return err
		}
		for _, m := range admitted {
			if err := in.come(ctx, m); err != nil {
				return err
			}
		}
		members = admitted
		return nil
	})
	if untaken { // the identity needed no link before, and was removed meanwhile: a repeat takes the link
		err = fmt.Errorf("members: %w: %w", store.ErrUnavailable, err)
	}
	return members, err
}

// PlaceKey stores a key of a session, if its member is still there: store.ErrNotFound, and WaitError. The account has at most MaxSessionKeys of
// the session.
func (s SQL) PlaceKey(ctx context.Context, f HomeSession, m Membership, k NewSessionKey) (key contract.SessionKey, err error) {
	err = s.Transaction(ctx, "create_session_key", func(run sqldb.Run) error {
		key.ExpiresAt = earlierOf(k.At.Add(SessionKeyTime), f.EndsAt)
		seat := sqldb.Statement{Text: selectSeat, Args: []any{m.Account.UUID, m.Member.UUID}}
		if err := run(ctx, seat, sqldb.ReadRow(&key.Account, readSessionAccount)); err != nil {
			return err
		}
		return makeKey(ctx, run, f.ID, k, &key, sqldb.Statement{
			Text: oldestSessionKey + ofTheAccount + oldestKey, Args: []any{f.ID, k.At, int64(MaxSessionKeys - 1), m.Account.UUID},
		})
	})
	return key, err
}

// RevokePlacedKey revokes a key whose session ended while it was made.
func (s SQL) RevokePlacedKey(ctx context.Context, k NewSessionKey) error {
	return s.Run(ctx, sqldb.Change("revoke_session_key", keys.SetKeyRevoked, k.ID.UUID, k.At), sqldb.NoRow)
}

// EndIn revokes the keys of a session that has ended, and records its member's sign-out. It can be repeated.
func (s SQL) EndIn(ctx context.Context, e Ending) error {
	return s.Transaction(ctx, "end_session", func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: revokeSessionKeys, Args: []any{e.Session, e.At}}, sqldb.NoRow); err != nil || !e.Signs {
			return err
		}
		entry := sqldb.Statement{Text: entryWithID, Args: []any{e.Account.UUID, e.Entry}}
		if err := run(ctx, entry, sqldb.SomeRow); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		newID := func() (prism.UUID, error) { return e.Entry, nil }
		return recordOwn(ctx, run, e.Membership, store.MemberSignOut, sqldb.NoDetail{}, newID, e.At)
	})
}

// OldSessionKeys are keys of sessions that SweepSessionKeys deletes.
func (s SQL) OldSessionKeys(ctx context.Context, now time.Time) (digests []contract.KeyDigest, err error) {
	find := sqldb.Query("old_session_keys", oldKeys, now.Add(-keptKeys), int64(sweptRows))
	err = s.Run(ctx, find, sqldb.ReadRows(&digests, func(r *sqldb.Row) contract.KeyDigest { return contract.KeyDigest(r.Bytes()) }))
	return digests, err
}

// SweepSessionKeys deletes keys of sessions that expired more than an hour ago, up to a number, and returns how many.
func (s SQL) SweepSessionKeys(ctx context.Context, now time.Time) (int, error) {
	var deleted []prism.UUID
	old := sqldb.Change("sweep_session_keys", sweepKeys, now.Add(-keptKeys), int64(sweptRows))
	err := s.Run(ctx, old, sqldb.ReadRows(&deleted, (*sqldb.Row).UUID))
	return len(deleted), err
}
