package members

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	insertSession = `INSERT INTO sessions (id, digest, seen_at, expires_at, ends_at) VALUES ($1, $2, $3, $4, $5)`
	// joinSession does nothing if the session is of the account already.
	joinSession = `INSERT INTO session_members (session_id, account_id, member_id, signed_in_at, first) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING`
	// selectSession has a row for each account of the session, in the order of the rule session-accounts.
	selectSession = `-- name: Session :many
SELECT s.id, s.seen_at, s.expires_at, s.ends_at, a.id, a.name, m.id, m.name, m.role
FROM sessions s
JOIN session_members sm ON sm.session_id = s.id
JOIN members m ON m.account_id = sm.account_id AND m.id = sm.member_id AND m.removed_at IS NULL
JOIN accounts a ON a.id = sm.account_id
WHERE s.digest = $1 AND s.expires_at > $2
ORDER BY sm.signed_in_at DESC, sm.first DESC, m.created_at, a.name`
	lockSession = `SELECT id FROM sessions WHERE digest = $1 AND expires_at > $2`
	seeSession  = `UPDATE sessions SET seen_at = $2, expires_at = $3 WHERE id = $1`
	seeMembers  = `UPDATE members SET last_seen_at = $2
WHERE EXISTS (SELECT 1 FROM session_members sm
	WHERE sm.session_id = $1 AND sm.account_id = members.account_id AND sm.member_id = members.id)`
	// lockMember locks the row of a member until the transaction ends, and reads what a key takes over from the member.
	lockMember = `UPDATE members SET last_seen_at = $3 WHERE account_id = $1 AND id = $2 AND removed_at IS NULL
RETURNING name, role`
	// oldestSessionKey is the oldest of the session's $3+1 newest keys that are valid, if there are so many.
	oldestSessionKey = `-- name: OldestSessionKey :one
SELECT id, created_at FROM api_keys
WHERE session_id = $1 AND expires_at > $2 AND revoked_at IS NULL`
	oldestKey        = ` ORDER BY id DESC LIMIT 1 OFFSET $3`
	createSessionKey = `INSERT INTO api_keys (id, account_id, digest, prefix, name, role, created_at, expires_at, member_id,
	session_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	deleteSession     = `DELETE FROM sessions WHERE digest = $1 RETURNING id, expires_at`
	emptySession      = `DELETE FROM session_members WHERE session_id = $1 RETURNING account_id, member_id, signed_in_at`
	revokeSessionKeys = `UPDATE api_keys SET revoked_at = $2 WHERE session_id = $1 AND revoked_at IS NULL`
	memberName        = `SELECT name FROM members WHERE account_id = $1 AND id = $2 AND removed_at IS NULL`

	sweptRows  = 1000
	sweepLinks = `DELETE FROM sign_in_links
WHERE digest IN (SELECT digest FROM sign_in_links WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2) RETURNING expires_at`
	expiredSessions = `SELECT id FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`
	// sweepOneSession checks the expiry again: the session may have been used since it was found.
	sweepOneSession = `DELETE FROM sessions WHERE id = $1 AND expires_at <= $2 RETURNING id`
	sweepKeys       = `DELETE FROM api_keys
WHERE id IN (SELECT id FROM api_keys WHERE session_id IS NOT NULL AND expires_at <= $1
	AND account_id` + sqldb.StaysHere + ` ORDER BY expires_at LIMIT $2) RETURNING id`
)

const (
	// seenEvery is the least time between two changes of a session's row by its use.
	seenEvery = time.Minute
	// keptKeys is how long keys of sessions are kept after their expiry, as calls that began before may still be running.
	keptKeys = time.Hour
)

// foundSession is a session that has not expired, with its id.
type foundSession struct {
	contract.Session
	id   prism.UUID
	seen time.Time
}

// session reads a session: store.ErrNotFound if none of its accounts is left, too.
func session(ctx context.Context, run sqldb.Run, digest contract.SessionDigest, now time.Time) (current foundSession, err error) {
	s := sqldb.Query("session", selectSession, digest[:], now)
	err = run(ctx, s, func(rows iter.Seq[*sqldb.Row]) error {
		current = foundSession{Session: contract.Session{Now: now}}
		for r := range rows {
			current.id, current.seen, current.ExpiresAt, current.EndsAt = r.UUID(), r.Time(), r.Time(), r.Time()
			current.Accounts = append(current.Accounts, readSessionAccount(r))
		}
		if current.id.IsZero() {
			return store.ErrNotFound
		}
		return nil
	})
	return current, err
}

func readSessionAccount(r *sqldb.Row) contract.SessionAccount {
	return contract.SessionAccount{
		ID: prism.AccountID{UUID: r.UUID()}, Name: r.Text(),
		Member: contract.SessionMember{ID: prism.MemberID{UUID: r.UUID()}, Name: r.Text(), Role: prism.Role(r.Text())},
	}
}

// see extends a session that is used.
func (f *foundSession) see(ctx context.Context, run sqldb.Run, now time.Time) error {
	f.ExpiresAt = earlierOf(now.Add(SessionIdleTime), f.EndsAt)
	return run(ctx, sqldb.Change("see_session", seeSession, f.id, now, f.ExpiresAt), sqldb.NoRow)
}

// Session implements SessionStore. It writes once a minute at most.
func (s SQL) Session(ctx context.Context, digest contract.SessionDigest, now time.Time) (contract.Session, error) {
	current, err := session(ctx, s.Run, digest, now)
	if err != nil || now.Sub(current.seen) < seenEvery {
		return current.Session, err
	}
	if err := current.see(ctx, s.Run, now); err != nil {
		return contract.Session{}, err
	}
	return current.Session, s.Run(ctx, sqldb.Change("see_members", seeMembers, current.id, now), sqldb.NoRow)
}

// findSession returns store.ErrNotFound unless there is a session that has not expired. It keeps the cost of a made-up session,
// which anybody can send, down to one read.
func (s SQL) findSession(ctx context.Context, operation string, digest contract.SessionDigest, now time.Time) error {
	return s.Run(ctx, sqldb.Query(operation, lockSession, digest[:], now), sqldb.SomeRow)
}

// CreateSessionKey implements SessionStore. It locks the session, for which the end of the session waits, and the member, for
// which a removal and a change of role wait. These revoke the key afterwards.
func (s SQL) CreateSessionKey(
	ctx context.Context, digest contract.SessionDigest, k NewSessionKey,
) (key contract.SessionKey, err error) {
	if err := s.findSession(ctx, "create_session_key", digest, k.At); err != nil {
		return key, err
	}
	err = s.Transaction(ctx, "create_session_key", func(run sqldb.Run) error {
		locked := sqldb.Statement{Text: lockSession + s.Locking(false), Args: []any{digest[:], k.At}}
		if err := run(ctx, locked, sqldb.SomeRow); err != nil {
			return err
		}
		current, err := session(ctx, run, digest, k.At)
		if err != nil {
			return err
		}
		key, err = current.keyFor(k)
		if err != nil {
			return err
		}
		oldest := sqldb.Statement{Text: oldestSessionKey + oldestKey, Args: []any{current.id, k.At, int64(MaxSessionKeys - 1)}}
		if err := makeKey(ctx, run, current.id, k, &key, oldest); err != nil {
			return err
		}
		return current.see(ctx, run, k.At)
	})
	return key, err
}

// makeKey stores and records a key of a session, whose account and member it completes. It locks the member first. oldest finds the oldest key
// if there are as many as there may be.
func makeKey(
	ctx context.Context, run sqldb.Run, session prism.UUID, k NewSessionKey, key *contract.SessionKey, oldest sqldb.Statement,
) error {
	account, m := key.Account.ID, &key.Account.Member
	lock := sqldb.Statement{Text: lockMember, Args: []any{account.UUID, m.ID.UUID, k.At}}
	err := run(ctx, lock, sqldb.ReadRow(&m.Name, func(r *sqldb.Row) string {
		name := r.Text()
		m.Role = prism.Role(r.Text())
		return name
	}))
	if err != nil {
		return err
	}
	if err := makeRoom(ctx, run, oldest, k.At); err != nil {
		return err
	}
	err = run(ctx, sqldb.Statement{Text: createSessionKey, Args: []any{
		k.ID.UUID, account.UUID, k.Digest[:], k.Prefix, m.Name, string(m.Role), k.At, key.ExpiresAt, m.ID.UUID, session,
	}}, sqldb.NoRow)
	if err != nil {
		return err
	}
	detail := keys.KeyDetail{Role: m.Role, ExpiresAt: prism.FormatTime(key.ExpiresAt)}
	return recordMember(ctx, run, account, byMember(m.ID, k.Entry, k.At), store.MemberKey, m.ID, m.Name, detail)
}

// makeRoom revokes the oldest key if the session has as many as it may have. The page that has it makes another.
func makeRoom(ctx context.Context, run sqldb.Run, oldest sqldb.Statement, at time.Time) error {
	var (
		id      prism.UUID
		created time.Time
	)
	err := run(ctx, oldest, sqldb.ReadRow(&id, func(r *sqldb.Row) prism.UUID {
		id := r.UUID()
		created = r.Time()
		return id
	}))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if wait := created.Add(SessionKeyRest).Sub(at); wait > 0 {
		return &store.WaitError{Wait: wait}
	}
	return run(ctx, sqldb.Statement{Text: keys.SetKeyRevoked, Args: []any{id, at}}, sqldb.NoRow)
}

// keyFor is the key of an account of the session, without its text.
func (f foundSession) keyFor(k NewSessionKey) (contract.SessionKey, error) {
	for _, a := range f.Accounts {
		if k.Account.IsZero() || a.ID == k.Account {
			return contract.SessionKey{ExpiresAt: earlierOf(k.At.Add(SessionKeyTime), f.EndsAt), Account: a}, nil
		}
	}
	return contract.SessionKey{}, store.ErrNotFound
}

// earlierOf returns the earlier of two times.
func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// byMember is the store.By of a change that a member makes.
func byMember(id prism.MemberID, entry prism.UUID, at time.Time) store.By {
	return store.By{Entry: entry, At: at, Actor: store.Actor{Kind: store.MemberActor, Key: prism.KeyID(id)}}
}

// Membership is a member of a session.
type Membership struct {
	Account prism.AccountID
	Member  prism.MemberID
	Since   time.Time // when it signed in
}

// EndSession implements SessionStore.
func (s SQL) EndSession(ctx context.Context, digest contract.SessionDigest, newID NewID, at time.Time) error {
	err := s.findSession(ctx, "end_session", digest, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Transaction(ctx, "end_session", func(run sqldb.Run) error {
		left, err := endSession(ctx, run, digest, at)
		for _, l := range left {
			if err != nil {
				return err
			}
			err = recordOwn(ctx, run, l, store.MemberSignOut, sqldb.NoDetail{}, newID, at)
		}
		return err
	})
}

// recordOwn records what a member does about its own session; nothing if the member was removed.
func recordOwn(
	ctx context.Context, run sqldb.Run, m Membership, action store.Action, detail any, newID NewID, at time.Time,
) error {
	var name string
	err := run(ctx, sqldb.Statement{Text: memberName, Args: []any{m.Account.UUID, m.Member.UUID}}, sqldb.ReadRow(&name, (*sqldb.Row).Text))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	entry, err := newID()
	if err != nil {
		return err
	}
	return recordMember(ctx, run, m.Account, byMember(m.Member, entry, at), action, m.Member, name, detail)
}

// endSession deletes a session and revokes its keys. It returns the members that the session had, unless it had expired.
func endSession(ctx context.Context, run sqldb.Run, digest contract.SessionDigest, at time.Time) (left []Membership, err error) {
	was, err := takeSession(ctx, run, digest)
	if was.id.IsZero() || err != nil {
		return nil, err
	}
	return was.left(at), run(ctx, sqldb.Statement{Text: revokeSessionKeys, Args: []any{was.id, at}}, sqldb.NoRow)
}

// takenSession is a session that was deleted, with its members.
type takenSession struct {
	id      prism.UUID
	expires time.Time
	members []Membership
}

// left are the members that the session had, unless it had expired.
func (t takenSession) left(at time.Time) []Membership {
	if at.Before(t.expires) {
		return t.members
	}
	return nil
}

// takeSession deletes a session, if it is there. Its keys stay.
func takeSession(ctx context.Context, run sqldb.Run, digest contract.SessionDigest) (was takenSession, err error) {
	err = run(ctx, sqldb.Statement{Text: deleteSession, Args: []any{digest[:]}}, sqldb.ReadRow(&was, func(r *sqldb.Row) takenSession {
		return takenSession{id: r.UUID(), expires: r.Time()}
	}))
	if errors.Is(err, store.ErrNotFound) {
		return was, nil
	}
	if err != nil {
		return was, err
	}
	err = run(ctx, sqldb.Statement{Text: emptySession, Args: []any{was.id}}, sqldb.ReadRows(&was.members, func(r *sqldb.Row) Membership {
		m := readMembership(r)
		m.Since = r.Time()
		return m
	}))
	return was, err
}

// SweepSessions implements SessionStore.
func (s SQL) SweepSessions(ctx context.Context, now time.Time) (swept int, err error) {
	if swept, err = Home(s).Sweep(ctx, now); err != nil {
		return swept, err
	}
	keys, err := s.SweepSessionKeys(ctx, now)
	return swept + keys, err
}
