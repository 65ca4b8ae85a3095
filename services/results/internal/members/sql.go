package members

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

// The row of a removed member stays: wasMember, mayNotRun and insertEntry read it, and the other statements skip it. Changes of
// members lock the account first, then links, and then members. The beginning and the end of a session lock the session before
// these.
const (
	memberColumns = `id, name, email, role, claim_name, claim_value, signed_in_by, created_at, last_seen_at`
	insertMember  = `INSERT INTO members (account_id, id, name, email, role, claim_name, claim_value, created_at, operator,
	issuer, subject)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	listMembers = `-- name: ListMembers :many
SELECT ` + memberColumns + ` FROM members WHERE account_id = $1 AND id < $2 AND removed_at IS NULL ORDER BY id DESC LIMIT $3`
	selectMember   = `SELECT ` + memberColumns + ` FROM members WHERE account_id = $1 AND id = $2 AND removed_at IS NULL`
	selectOperator = `SELECT ` + memberColumns + ` FROM members WHERE account_id = $1 AND operator AND removed_at IS NULL`
	otherOwner     = `SELECT id FROM members
WHERE account_id = $1 AND id <> $2 AND role = 'owner' AND signed_in_by IS NOT NULL AND removed_at IS NULL LIMIT 1`
	updateMember     = `UPDATE members SET name = $3, role = $4 WHERE account_id = $1 AND id = $2`
	removeMember     = `UPDATE members SET removed_at = $3 WHERE account_id = $1 AND id = $2`
	unassignResults  = `DELETE FROM assignments WHERE account_id = $1 AND member_id = $2`
	leaveSessions    = `DELETE FROM session_members WHERE account_id = $1 AND member_id = $2`
	revokeMemberKeys = `UPDATE api_keys SET revoked_at = $3 WHERE account_id = $1 AND member_id = $2 AND revoked_at IS NULL`

	insertLink  = `INSERT INTO sign_in_links (digest, account_id, member_id, expires_at) VALUES ($1, $2, $3, $4)`
	deleteLinks = `DELETE FROM sign_in_links WHERE account_id = $1 AND member_id = $2`
)

// The details of entries about members.
type (
	memberDetail struct {
		Role  prism.Role `json:"role,omitzero"`
		Claim string     `json:"claim,omitzero"` // the name of a rule's claim
	}
	linkDetail struct {
		ExpiresAt string `json:"expires_at"`
	}
)

// recordMember records what was done to a member.
func recordMember(
	ctx context.Context, run sqldb.Run, account prism.AccountID, by store.By, action store.Action,
	id prism.MemberID, name string, detail any,
) error {
	return sqldb.Record(ctx, run, account, by, action, store.Object{Kind: store.MemberObject, ID: id.UUID, Name: name}, detail)
}

// changeMembers calls fn in a transaction that holds the lock of the account.
func (s SQL) changeMembers(ctx context.Context, operation string, account prism.AccountID, fn func(run sqldb.Run) error) error {
	return s.Transaction(ctx, operation, func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: keys.LockAccount, Args: []any{account.UUID}}, sqldb.SomeRow); err != nil {
			return err
		}
		return fn(run)
	})
}

// addMember stores a member, and records it. operator marks the operator of the account. i is the identity of a member who signs
// in by a rule; all others have none yet.
func addMember(
	ctx context.Context, run sqldb.Run, account prism.AccountID, m Member, operator bool, i *contract.Identity, by store.By,
) error {
	detail := memberDetail{Role: m.Role}
	args := []any{account.UUID, m.ID.UUID, m.Name, m.Email, string(m.Role), nil, nil, m.CreatedAt, operator, nil, nil}
	if m.Claim != nil {
		args[5], args[6], detail.Claim = m.Claim.Name, m.Claim.Value, m.Claim.Name
	}
	if i != nil {
		args[9], args[10] = i.Issuer, i.Subject
	}
	if err := run(ctx, sqldb.Statement{Text: insertMember, Args: args}, sqldb.NoRow); err != nil {
		return err
	}
	return recordMember(ctx, run, account, by, store.MemberAdd, m.ID, m.Name, detail)
}

func addLink(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.MemberID, l Link) error {
	return run(ctx, sqldb.Statement{Text: insertLink, Args: []any{l.Digest[:], account.UUID, id.UUID, l.ExpiresAt}}, sqldb.NoRow)
}

// AddMember implements Store.
func (s SQL) AddMember(ctx context.Context, account prism.AccountID, m Member, l *Link, by store.By) error {
	return s.changeMembers(ctx, "add_member", account, func(run sqldb.Run) error {
		if err := addMember(ctx, run, account, m, false, nil, by); err != nil || l == nil {
			return err
		}
		return addLink(ctx, run, account, m.ID, *l)
	})
}

// ListMembers implements Store.
func (s SQL) ListMembers(ctx context.Context, account prism.AccountID, page store.Page) (found []Member, more bool, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit) + 1}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_members", listMembers, args...), page.Limit, readMember)
}

// ChangeMember implements Store.
func (s SQL) ChangeMember(
	ctx context.Context, account prism.AccountID, id prism.MemberID, c api.MemberChange, by store.By,
) (m Member, err error) {
	err = s.changeMembers(ctx, "change_member", account, func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: selectMember, Args: []any{account.UUID, id.UUID}}, sqldb.ReadRow(&m, readMember)); err != nil {
			return err
		}
		was := m
		if c.Name != "" {
			m.Name = c.Name
		}
		if c.Role != "" {
			m.Role = c.Role
		}
		if m.Name == was.Name && m.Role == was.Role {
			return nil
		}
		if m.Role != prism.Owner {
			if err := spareOwner(ctx, run, account, was); err != nil {
				return err
			}
		}
		return updateMemberTo(ctx, run, account, was, m, by)
	})
	return m, err
}

// updateMemberTo stores and records a name and a role. A new role revokes the keys that have the former one.
func updateMemberTo(ctx context.Context, run sqldb.Run, account prism.AccountID, was, m Member, by store.By) error {
	args := []any{account.UUID, m.ID.UUID, m.Name, string(m.Role)}
	if err := run(ctx, sqldb.Statement{Text: updateMember, Args: args}, sqldb.NoRow); err != nil {
		return err
	}
	var detail memberDetail
	if m.Role != was.Role {
		detail.Role = m.Role
		if err := run(ctx, sqldb.Statement{Text: revokeMemberKeys, Args: []any{account.UUID, m.ID.UUID, by.At}}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return recordMember(ctx, run, account, by, store.MemberChange, m.ID, m.Name, detail)
}

// spareOwner returns store.ErrLastOwner if the member is the only owner who has signed in (spec: last-owner).
func spareOwner(ctx context.Context, run sqldb.Run, account prism.AccountID, m Member) error {
	if m.Role != prism.Owner || m.SignedInBy == "" {
		return nil
	}
	err := run(ctx, sqldb.Statement{Text: otherOwner, Args: []any{account.UUID, m.ID.UUID}}, sqldb.SomeRow)
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrLastOwner
	}
	return err
}

// RemoveMember implements Store.
func (s SQL) RemoveMember(ctx context.Context, account prism.AccountID, id prism.MemberID, by store.By) error {
	return s.changeMembers(ctx, "remove_member", account, func(run sqldb.Run) error {
		var m Member
		args := []any{account.UUID, id.UUID}
		if err := run(ctx, sqldb.Statement{Text: selectMember, Args: args}, sqldb.ReadRow(&m, readMember)); err != nil {
			return err
		}
		if err := spareOwner(ctx, run, account, m); err != nil {
			return err
		}
		return remove(ctx, run, account, m, by)
	})
}

// remove removes and records a member or rule.
func remove(ctx context.Context, run sqldb.Run, account prism.AccountID, m Member, by store.By) error {
	args := []any{account.UUID, m.ID.UUID}
	for _, each := range []sqldb.Statement{
		{Text: deleteLinks, Args: args},
		{Text: removeMember, Args: append(args[:2:2], by.At)},
		{Text: unassignResults, Args: args}, // behind the member, which whoever assigns locks
		{Text: leaveSessions, Args: args},
		{Text: revokeMemberKeys, Args: append(args[:2:2], by.At)},
	} {
		if err := run(ctx, each, sqldb.NoRow); err != nil {
			return err
		}
	}
	return recordMember(ctx, run, account, by, store.MemberRemove, m.ID, m.Name, sqldb.NoDetail{})
}

// placing stores a link of a member in the transaction of run.
type placing func(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.MemberID, l Link) error

// LinkMember implements Store.
func (s SQL) LinkMember(
	ctx context.Context, account prism.AccountID, id prism.MemberID, l Link, by store.By,
) (Member, error) {
	return s.linkMember(ctx, account, id, l, by, ReplaceLinks)
}

func (s SQL) linkMember(
	ctx context.Context, account prism.AccountID, id prism.MemberID, l Link, by store.By, place placing,
) (m Member, err error) {
	err = s.changeMembers(ctx, "link_member", account, func(run sqldb.Run) error {
		args := []any{account.UUID, id.UUID}
		err := run(ctx, sqldb.Statement{Text: selectMember, Args: args}, sqldb.ReadRow(&m, readMember))
		switch {
		case err != nil:
			return err
		case m.Claim != nil:
			return store.ErrNotFound
		}
		return link(ctx, run, account, m, l, by, place)
	})
	return m, err
}

// ReplaceLinks replaces the links of a member.
func ReplaceLinks(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.MemberID, l Link) error {
	if err := run(ctx, sqldb.Statement{Text: deleteLinks, Args: []any{account.UUID, id.UUID}}, sqldb.NoRow); err != nil {
		return err
	}
	return addLink(ctx, run, account, id, l)
}

// link places a link of a member, and records it.
func link(ctx context.Context, run sqldb.Run, account prism.AccountID, m Member, l Link, by store.By, place placing) error {
	if err := place(ctx, run, account, m.ID, l); err != nil {
		return err
	}
	return recordMember(ctx, run, account, by, store.MemberLink, m.ID, m.Name, linkDetail{prism.FormatTime(l.ExpiresAt)})
}

// LinkOperator implements Store.
func (s SQL) LinkOperator(
	ctx context.Context, account prism.AccountID, m Member, l Link, newID NewID, by store.By,
) error {
	_, err := s.linkOperator(ctx, account, m, l, newID, by, addLink)
	return err
}

func (s SQL) linkOperator(
	ctx context.Context, account prism.AccountID, m Member, l Link, newID NewID, by store.By, place placing,
) (is Member, err error) {
	err = s.changeMembers(ctx, "link_operator", account, func(run sqldb.Run) error {
		linked := by
		entry, err := newID()
		if err != nil {
			return err
		}
		linked.Entry = entry
		err = run(ctx, sqldb.Statement{Text: selectOperator, Args: []any{account.UUID}}, sqldb.ReadRow(&is, readMember))
		switch {
		case errors.Is(err, store.ErrNotFound):
			is, err = m, addMember(ctx, run, account, m, true, nil, by)
		case err == nil && is.Role != m.Role:
			was := is
			is.Role = m.Role
			err = updateMemberTo(ctx, run, account, was, is, by)
		}
		if err != nil {
			return err
		}
		return link(ctx, run, account, is, l, linked, place)
	})
	return is, err
}

func readMember(r *sqldb.Row) Member {
	m := Member{ID: prism.MemberID{UUID: r.UUID()}, Name: r.Text(), Email: r.Text(), Role: prism.Role(r.Text())}
	if name, value := r.OptionalText(), r.Text(); name != nil {
		m.Claim = &prism.Claim{Name: *name, Value: value}
	}
	m.SignedInBy, m.CreatedAt, m.LastSeenAt = api.SignedInBy(r.Text()), r.Time(), r.OptionalTime()
	return m
}
