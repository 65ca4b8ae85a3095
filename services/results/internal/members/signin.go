package members

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	linkAccount = `SELECT account_id FROM sign_in_links WHERE digest = $1 AND expires_at > $2`
	linkOwner   = `SELECT a.id, a.name, m.id, m.name, m.role, l.expires_at
FROM sign_in_links l
JOIN members m ON m.account_id = l.account_id AND m.id = l.member_id AND m.removed_at IS NULL
JOIN accounts a ON a.id = l.account_id
WHERE l.digest = $1 AND l.expires_at > $2`
	// useLink deletes the link: of two uses at once, one finds it.
	useLink = `DELETE FROM sign_in_links WHERE digest = $1 AND expires_at > $2 RETURNING account_id, member_id`
	signIn  = `UPDATE members SET signed_in_by = $3, last_seen_at = $4
WHERE account_id = $1 AND id = $2 AND removed_at IS NULL RETURNING id`
	identify = `UPDATE members SET issuer = $3, subject = $4 WHERE account_id = $1 AND id = $2 AND removed_at IS NULL RETURNING id`

	identityMembers = `SELECT account_id, id FROM members WHERE issuer = $1 AND subject = $2 AND removed_at IS NULL
ORDER BY account_id`
	// wasMember finds the identity also if it was removed.
	wasMember = `SELECT id FROM members WHERE account_id = $1 AND issuer = $2 AND subject = $3 LIMIT 1`
	claimRule = `(m.claim_name = $%d AND m.claim_value = $%d)`
	// claimRules reads the rules that the operator has granted, and all rules of the account $1.
	claimRules = `SELECT m.account_id, m.role FROM members m
WHERE m.claim_name IS NOT NULL AND m.removed_at IS NULL
	AND (m.account_id = $1 OR EXISTS (SELECT 1 FROM claim_grants g
		WHERE g.account_id = m.account_id AND g.claim_name = m.claim_name AND g.claim_value = m.claim_value))
	AND (`
)

// signInDetail is the detail of an entry.
type signInDetail struct {
	By api.SignedInBy `json:"signed_in_by"`
}

// signingIn is a sign-in within its transaction.
type signingIn struct {
	SignIn
	run   sqldb.Run
	named prism.AccountID // whose name is Account, or zero
	first prism.AccountID // that comes before the session's other accounts, or zero
}

// Link implements SessionStore.
func (s SQL) Link(ctx context.Context, digest contract.LinkDigest, at time.Time) (owner contract.LinkOwner, err error) {
	find := sqldb.Query("link", linkOwner, digest[:], at)
	err = s.Run(ctx, find, sqldb.ReadRow(&owner, func(r *sqldb.Row) contract.LinkOwner {
		return contract.LinkOwner{Account: readSessionAccount(r), ExpiresAt: r.Time()}
	}))
	if errors.Is(err, store.ErrNotFound) {
		err = store.ErrLinkInvalid
	}
	return owner, err
}

// SignIn implements SessionStore.
func (s SQL) SignIn(ctx context.Context, in SignIn) (begun contract.Session, err error) {
	if in.Link != nil { // anybody can send a link, so an unknown one must cost no more than a read
		tried := sqldb.Query("find_link", linkAccount, in.Link[:], in.At)
		err := s.Run(ctx, tried, sqldb.SomeRow)
		if errors.Is(err, store.ErrNotFound) {
			return begun, store.ErrLinkInvalid
		}
		if err != nil {
			return begun, err
		}
	}
	err = s.Transaction(ctx, "sign_in", func(run sqldb.Run) error {
		found, err := (&signingIn{SignIn: in, run: run}).do(ctx)
		begun = found.Session
		return err
	})
	return begun, err
}

func (s *signingIn) do(ctx context.Context) (current foundSession, err error) {
	var earlier, members []membership
	if s.Earlier != nil {
		if earlier, err = endSession(ctx, s.run, *s.Earlier, s.At); err != nil {
			return current, err
		}
	}
	by := api.ByLink
	if s.Identity != nil {
		by = api.ByOpenID
		members, err = s.membershipsOfIdentity(ctx)
	} else {
		members, err = s.consumeLink(ctx)
	}
	if err != nil {
		return current, err
	}
	ends := s.At.Add(SessionTime)
	expires := earlierOf(s.At.Add(SessionIdleTime), ends)
	args := []any{s.ID, s.Session[:], s.At, expires, ends}
	if err := s.run(ctx, sqldb.Statement{Text: insertSession, Args: args}, sqldb.NoRow); err != nil {
		return current, err
	}
	for _, m := range members {
		seen := sqldb.Statement{Text: signIn, Args: []any{m.account.UUID, m.member.UUID, string(by), s.At}}
		if err := s.run(ctx, seen, sqldb.SomeRow); err != nil {
			return current, err
		}
		m.since = s.At
		if err := s.join(ctx, m); err != nil {
			return current, err
		}
		if err := recordOwn(ctx, s.run, m, store.MemberSignIn, signInDetail{by}, s.NewID, s.At); err != nil {
			return current, err
		}
	}
	for _, m := range earlier {
		if err := s.join(ctx, m); err != nil {
			return current, err
		}
	}
	return session(ctx, s.run, s.Session, s.At)
}

// join adds a member to the session.
func (s *signingIn) join(ctx context.Context, m membership) error {
	args := []any{s.ID, m.account.UUID, m.member.UUID, m.since, m.account == s.first}
	return s.run(ctx, sqldb.Statement{Text: joinSession, Args: args}, sqldb.NoRow)
}

// consumeLink uses up the link.
func (s *signingIn) consumeLink(ctx context.Context) (members []membership, err error) {
	if s.Link == nil {
		return nil, store.ErrLinkInvalid
	}
	used := sqldb.Statement{Text: useLink, Args: []any{s.Link[:], s.At}}
	err = s.run(ctx, used, sqldb.ReadRows(&members, readMembership))
	if err == nil && len(members) == 0 {
		err = store.ErrLinkInvalid
	}
	return members, err
}

// membershipsOfIdentity returns the identity's member in each of its accounts, and adds missing ones. Before it looks for members,
// it locks the accounts that the identity may join, sorted by id. So two sign-ins of an identity at once add one member.
func (s *signingIn) membershipsOfIdentity(ctx context.Context) ([]membership, error) {
	if s.Account != "" {
		named := sqldb.Statement{Text: keys.AccountByName, Args: []any{s.Account}}
		if err := s.run(ctx, named, sqldb.ReadRow(&s.named.UUID, (*sqldb.Row).UUID)); err != nil {
			return nil, err
		}
	}
	var invited prism.AccountID
	if s.Link != nil {
		args := []any{s.Link[:], s.At}
		err := s.run(ctx, sqldb.Statement{Text: linkAccount, Args: args}, sqldb.ReadRow(&invited.UUID, (*sqldb.Row).UUID))
		if errors.Is(err, store.ErrNotFound) {
			return nil, store.ErrLinkInvalid
		}
		if err != nil {
			return nil, err
		}
	}
	s.first = cmp.Or(s.named, invited)
	roles, err := s.rolesByRule(ctx)
	if err != nil {
		return nil, err
	}
	joining := slices.Collect(maps.Keys(roles))
	if _, ruled := roles[invited]; s.Link != nil && !ruled {
		joining = append(joining, invited)
	}
	slices.SortFunc(joining, func(a, b prism.AccountID) int { return sqldb.CompareIDs(a.UUID, b.UUID) })
	for _, account := range joining {
		if err := s.run(ctx, sqldb.Statement{Text: keys.LockAccount, Args: []any{account.UUID}}, sqldb.SomeRow); err != nil {
			return nil, err
		}
	}
	members, err := s.existing(ctx)
	if err != nil {
		return nil, err
	}
	has := func(account prism.AccountID) bool {
		return slices.ContainsFunc(members, func(m membership) bool { return m.account == account })
	}
	if s.Link != nil && !has(invited) {
		accepted, err := s.accept(ctx)
		if err != nil {
			return nil, err
		}
		members = append(members, accepted...)
	}
	if roles, err = s.rolesByRule(ctx); err != nil { // under the locks
		return nil, err
	}
	for _, account := range joining {
		role, ruled := roles[account]
		if !ruled || has(account) {
			continue
		}
		made, err := s.addByRule(ctx, account, role)
		if err != nil {
			return nil, err
		}
		members = append(members, made...)
	}
	if len(members) == 0 || !s.named.IsZero() && !has(s.named) {
		return nil, store.ErrNotFound
	}
	return members, nil
}

// existing returns the members that have the identity already.
func (s *signingIn) existing(ctx context.Context) (members []membership, err error) {
	args := []any{s.Identity.Issuer, s.Identity.Subject}
	err = s.run(ctx, sqldb.Statement{Text: identityMembers, Args: args}, sqldb.ReadRows(&members, readMembership))
	return members, err
}

// accept uses up the link, and gives the identity to the member whom the link invites.
func (s *signingIn) accept(ctx context.Context) ([]membership, error) {
	members, err := s.consumeLink(ctx)
	if err != nil {
		return nil, err
	}
	m := members[0]
	args := []any{m.account.UUID, m.member.UUID, s.Identity.Issuer, s.Identity.Subject}
	return members, s.run(ctx, sqldb.Statement{Text: identify, Args: args}, sqldb.SomeRow)
}

// rolesByRule returns the role that a rule for one of the identity's claims gives in each account: the first in the order of
// prism.Roles, if there are several. A rule counts if the operator has granted its claim, or if the person signs in to its account
// by name, which is a consent (spec: claim-grant).
func (s *signingIn) rolesByRule(ctx context.Context) (map[prism.AccountID]prism.Role, error) {
	args := []any{s.named.UUID}
	var claims []string
	for _, name := range slices.Sorted(maps.Keys(s.Identity.Claims)) {
		if name == "email" && !s.Identity.EmailVerified {
			continue
		}
		for _, value := range s.Identity.Claims[name] {
			args = append(args, name, value)
			claims = append(claims, fmt.Sprintf(claimRule, len(args)-1, len(args)))
		}
	}
	if len(claims) == 0 {
		return nil, nil
	}
	type rule struct {
		account prism.AccountID
		role    prism.Role
	}
	var rules []rule
	text := claimRules + strings.Join(claims, " OR ") + ")"
	err := s.run(ctx, sqldb.Statement{Text: text, Args: args}, sqldb.ReadRows(&rules, func(r *sqldb.Row) rule {
		return rule{prism.AccountID{UUID: r.UUID()}, prism.Role(r.Text())}
	}))
	roles := map[prism.AccountID]prism.Role{}
	for _, r := range rules {
		if had, ok := roles[r.account]; !ok || slices.Index(prism.Roles(), r.role) < slices.Index(prism.Roles(), had) {
			roles[r.account] = r.role
		}
	}
	return roles, err
}

// addByRule makes the identity a member by a rule. If the identity was a member and was removed, it does nothing.
func (s *signingIn) addByRule(ctx context.Context, account prism.AccountID, role prism.Role) ([]membership, error) {
	i := s.Identity
	args := []any{account.UUID, i.Issuer, i.Subject}
	if err := s.run(ctx, sqldb.Statement{Text: wasMember, Args: args}, sqldb.SomeRow); !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	id, err := s.NewID()
	if err != nil {
		return nil, err
	}
	entry, err := s.NewID()
	if err != nil {
		return nil, err
	}
	m := Member{
		ID: prism.MemberID{UUID: id}, Name: cmp.Or(i.Name, i.Email, i.Subject), Email: i.Email, Role: role, CreatedAt: s.At,
	}
	err = addMember(ctx, s.run, account, m, false, i, byMember(m.ID, entry, s.At))
	return []membership{{account: account, member: m.ID}}, err
}

func readMembership(r *sqldb.Row) membership {
	return membership{account: prism.AccountID{UUID: r.UUID()}, member: prism.MemberID{UUID: r.UUID()}}
}
