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
	AND account_id` + sqldb.StaysHere + `
ORDER BY account_id`
	// wasMember finds the identity also if it was removed.
	wasMember = `SELECT id FROM members WHERE account_id = $1 AND issuer = $2 AND subject = $3 LIMIT 1`
	claimRule = `(m.claim_name = $%d AND m.claim_value = $%d)`
	// claimRules reads the rules that the operator has granted, and all rules of the account $1.
	claimRules = `SELECT m.account_id, m.role FROM members m
WHERE m.claim_name IS NOT NULL AND m.removed_at IS NULL AND m.account_id` + sqldb.StaysHere + `
	AND (m.account_id = $1 OR EXISTS (SELECT 1 FROM claim_grants g
		WHERE g.account_id = m.account_id AND g.claim_name = m.claim_name AND g.claim_value = m.claim_value))
	AND (`
)

// signInDetail is the detail of an entry.
type signInDetail struct {
	By api.SignedInBy `json:"signed_in_by"`
}

// signingIn is a sign-in within a transaction of the database that has the members.
type signingIn struct {
	SignIn
	run     sqldb.Run
	named   prism.AccountID // whose name is Account, or zero
	invited prism.AccountID // of the link that comes with an identity, or zero
	// use uses up the link, and returns whom it invites.
	use func(ctx context.Context) (Membership, error)
}

// first is the account that comes before the session's other accounts, or zero.
func (s *signingIn) first() prism.AccountID { return cmp.Or(s.named, s.invited) }

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
		s := &signingIn{SignIn: in, run: run}
		s.use = s.consumeLink
		found, err := s.do(ctx)
		begun = found.Session
		return err
	})
	return begun, err
}

func (s *signingIn) do(ctx context.Context) (current foundSession, err error) {
	var earlier, members []Membership
	if s.Earlier != nil {
		if earlier, err = endSession(ctx, s.run, *s.Earlier, s.At); err != nil {
			return current, err
		}
	}
	if s.Identity != nil {
		if err = s.name(ctx); err == nil {
			members, err = s.membershipsOfIdentity(ctx)
		}
		if err == nil && len(members) == 0 {
			err = store.ErrNotFound
		}
	} else {
		members, err = s.membershipOfLink(ctx)
	}
	if err != nil {
		return current, err
	}
	if err := insert(ctx, s.run, s.SignIn); err != nil {
		return current, err
	}
	for _, m := range members {
		if err := s.come(ctx, m); err != nil {
			return current, err
		}
		if err := join(ctx, s.run, s.ID, m, s.first()); err != nil {
			return current, err
		}
	}
	for _, m := range earlier {
		if err := join(ctx, s.run, s.ID, m, s.first()); err != nil {
			return current, err
		}
	}
	return session(ctx, s.run, s.Session, s.At)
}

// insert begins a session.
func insert(ctx context.Context, run sqldb.Run, in SignIn) error {
	ends := in.At.Add(SessionTime)
	args := []any{in.ID, in.Session[:], in.At, earlierOf(in.At.Add(SessionIdleTime), ends), ends}
	return run(ctx, sqldb.Statement{Text: insertSession, Args: args}, sqldb.NoRow)
}

// join adds a member to a session.
func join(ctx context.Context, run sqldb.Run, session prism.UUID, m Membership, first prism.AccountID) error {
	args := []any{session, m.Account.UUID, m.Member.UUID, m.Since, m.Account == first}
	return run(ctx, sqldb.Statement{Text: joinSession, Args: args}, sqldb.NoRow)
}

// come has the member have signed in: store.ErrNotFound if it was removed.
func (s *signingIn) come(ctx context.Context, m Membership) error {
	by := api.ByLink
	if s.Identity != nil {
		by = api.ByOpenID
	}
	seen := sqldb.Statement{Text: signIn, Args: []any{m.Account.UUID, m.Member.UUID, string(by), s.At}}
	if err := s.run(ctx, seen, sqldb.SomeRow); err != nil {
		return err
	}
	return recordOwn(ctx, s.run, m, store.MemberSignIn, signInDetail{by}, s.NewID, s.At)
}

// membershipOfLink uses up the link, which is all that signs in.
func (s *signingIn) membershipOfLink(ctx context.Context) ([]Membership, error) {
	m, err := s.use(ctx)
	return []Membership{m}, err
}

// consumeLink deletes the link.
func (s *signingIn) consumeLink(ctx context.Context) (m Membership, err error) {
	if s.Link == nil {
		return m, store.ErrLinkInvalid
	}
	used := sqldb.Statement{Text: useLink, Args: []any{s.Link[:], s.At}}
	err = s.run(ctx, used, sqldb.ReadRow(&m, readMembership))
	if errors.Is(err, store.ErrNotFound) {
		err = store.ErrLinkInvalid
	}
	m.Since = s.At
	return m, err
}

// name finds the accounts that the sign-in names and to which its link invites.
func (s *signingIn) name(ctx context.Context) error {
	if s.Account != "" {
		named := sqldb.Statement{Text: keys.AccountByName, Args: []any{s.Account}}
		if err := s.run(ctx, named, sqldb.ReadRow(&s.named.UUID, (*sqldb.Row).UUID)); err != nil {
			return err
		}
	}
	if s.Link == nil {
		return nil
	}
	args := []any{s.Link[:], s.At}
	err := s.run(ctx, sqldb.Statement{Text: linkAccount, Args: args}, sqldb.ReadRow(&s.invited.UUID, (*sqldb.Row).UUID))
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrLinkInvalid
	}
	return err
}

// membershipsOfIdentity returns the identity's member in each of its accounts, and adds missing ones: store.ErrNotFound if there is none in
// the named account. Before it looks for members, it locks the accounts that the identity may join, sorted by id. So two sign-ins of an
// identity at once add one member.
func (s *signingIn) membershipsOfIdentity(ctx context.Context) ([]Membership, error) {
	roles, err := s.rolesByRule(ctx)
	if err != nil {
		return nil, err
	}
	joining := slices.Collect(maps.Keys(roles))
	if _, ruled := roles[s.invited]; !s.invited.IsZero() && !ruled {
		joining = append(joining, s.invited)
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
		return slices.ContainsFunc(members, func(m Membership) bool { return m.Account == account })
	}
	if !s.invited.IsZero() && !has(s.invited) {
		accepted, err := s.accept(ctx)
		if err != nil {
			return nil, err
		}
		members = append(members, accepted)
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
	if !s.named.IsZero() && !has(s.named) {
		return nil, store.ErrNotFound
	}
	return members, nil
}

// existing returns the members that have the identity already.
func (s *signingIn) existing(ctx context.Context) (members []Membership, err error) {
	args := []any{s.Identity.Issuer, s.Identity.Subject}
	err = s.run(ctx, sqldb.Statement{Text: identityMembers, Args: args}, sqldb.ReadRows(&members, func(r *sqldb.Row) Membership {
		m := readMembership(r)
		m.Since = s.At
		return m
	}))
	return members, err
}

// accept uses up the link, and gives the identity to the member whom the link invites.
func (s *signingIn) accept(ctx context.Context) (Membership, error) {
	m, err := s.use(ctx)
	if err != nil {
		return m, err
	}
	args := []any{m.Account.UUID, m.Member.UUID, s.Identity.Issuer, s.Identity.Subject}
	return m, s.run(ctx, sqldb.Statement{Text: identify, Args: args}, sqldb.SomeRow)
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
func (s *signingIn) addByRule(ctx context.Context, account prism.AccountID, role prism.Role) ([]Membership, error) {
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
	return []Membership{{Account: account, Member: m.ID, Since: s.At}}, err
}

func readMembership(r *sqldb.Row) Membership {
	return Membership{Account: prism.AccountID{UUID: r.UUID()}, Member: prism.MemberID{UUID: r.UUID()}}
}
