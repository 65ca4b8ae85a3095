package members

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Home keeps links, sessions and identities in the home of several databases, whose members are in others (spec: directory-sign-in). One
// database keeps them as SQL does.
type Home struct{ sqldb.Database }

const (
	homeLink = `SELECT account_id, member_id, expires_at, taken_by FROM sign_in_links WHERE digest = $1 AND expires_at > $2`
	// takeLink keeps a link from all others than an identity: of several at once, one gets it.
	takeLink = `UPDATE sign_in_links SET taken_by = $3
WHERE digest = $1 AND expires_at > $2 AND (taken_by IS NULL OR taken_by = $3) RETURNING digest`
	useFreeLink  = useLinkOf + ` AND expires_at > $2 AND taken_by IS NULL RETURNING digest`
	useTakenLink = useLinkOf
	useLinkOf    = `DELETE FROM sign_in_links WHERE digest = $1`

	addIdentity = `INSERT INTO directory_identities (issuer, subject, account_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	accountsOf  = `SELECT account_id FROM directory_identities WHERE issuer = $1 AND subject = $2 ORDER BY account_id`

	homeSession = `SELECT s.id, s.seen_at, s.expires_at, s.ends_at, sm.account_id, sm.member_id, sm.signed_in_at, sm.first
FROM sessions s JOIN session_members sm ON sm.session_id = s.id
WHERE s.digest = $1 AND s.expires_at > $2`
	seeOneSession = seeSession + ` RETURNING id`

	addEnding = `INSERT INTO ending_sessions (account_id, session_id, member_id, digest, ended_at, entry_id) VALUES ($1, $2, $3, $4, $5, $6)`
	endings   = `SELECT account_id, session_id, member_id, ended_at, entry_id IS NOT NULL, coalesce(entry_id, session_id) FROM ending_sessions`
	endingsOf = endings + ` WHERE digest = $1 ORDER BY account_id`
	anyEnding = endings + ` ORDER BY ended_at LIMIT $1`
	ended     = `DELETE FROM ending_sessions WHERE account_id = $1 AND session_id = $2`
)

// HomeLink is a link as home knows it.
type HomeLink struct {
	Membership
	ExpiresAt time.Time
	takenBy   []byte // the identity that uses it; nil: none yet
}

// Free tells whether an identity may use the link, or one who has none.
func (l HomeLink) Free(i *contract.Identity) bool {
	return l.takenBy == nil || i != nil && string(l.takenBy) == string(nameOf(i))
}

// nameOf is an identity as sign_in_links has it. Neither text has a zero byte.
func nameOf(i *contract.Identity) []byte {
	name := sha256.Sum256([]byte(i.Issuer + "\x00" + i.Subject))
	return name[:]
}

// FindLink finds a link: store.ErrLinkInvalid.
func (h Home) FindLink(ctx context.Context, digest contract.LinkDigest, at time.Time) (l HomeLink, err error) {
	err = h.Run(ctx, sqldb.Query("find_link", homeLink, digest[:], at), sqldb.ReadRow(&l, func(r *sqldb.Row) HomeLink {
		return HomeLink{Membership: readMembership(r), ExpiresAt: r.Time(), takenBy: r.Bytes()}
	}))
	return l, invalidLink(err)
}

// invalidLink is the error of a link that is not found.
func invalidLink(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrLinkInvalid
	}
	return err
}

// TakeLink keeps a link for an identity, which can take it again: store.ErrLinkInvalid if there is none, or another identity has taken it. So
// the identity can be given to the member before the session begins.
func (h Home) TakeLink(ctx context.Context, digest contract.LinkDigest, i *contract.Identity, at time.Time) error {
	return invalidLink(h.Run(ctx, sqldb.Change("take_link", takeLink, digest[:], at, nameOf(i)), sqldb.SomeRow))
}

// AddLink adds a link of a member, which need not be there yet.
func (h Home) AddLink(ctx context.Context, account prism.AccountID, id prism.MemberID, l Link) error {
	return addLink(ctx, h.Run, account, id, l)
}

// ForgetMember removes the links and the parts of sessions of a member who was removed.
func (h Home) ForgetMember(ctx context.Context, account prism.AccountID, id prism.MemberID) error {
	args := []any{account.UUID, id.UUID}
	if err := h.Run(ctx, sqldb.Change("forget_links", deleteLinks, args...), sqldb.NoRow); err != nil {
		return err
	}
	return h.Run(ctx, sqldb.Change("forget_sessions", leaveSessions, args...), sqldb.NoRow)
}

// AddIdentity tells that an identity may be a member of an account, before it becomes one.
func (h Home) AddIdentity(ctx context.Context, i *contract.Identity, account prism.AccountID) error {
	return h.Run(ctx, sqldb.Change("add_identity", addIdentity, i.Issuer, i.Subject, account.UUID), sqldb.NoRow)
}

// AccountsOf are all accounts of which an identity is a member. It was removed from some of them, perhaps.
func (h Home) AccountsOf(ctx context.Context, i *contract.Identity) (accounts []prism.AccountID, err error) {
	find := sqldb.Query("accounts_of_identity", accountsOf, i.Issuer, i.Subject)
	err = h.Run(ctx, find, sqldb.ReadRows(&accounts, func(r *sqldb.Row) prism.AccountID { return prism.AccountID{UUID: r.UUID()} }))
	return accounts, err
}

// Begin begins a session of members, who have come, and uses up the link of the sign-in unless an identity did not need it: store.ErrLinkInvalid.
// It returns what is left to do of the end of the earlier session, whose members the new one has too.
func (h Home) Begin(
	ctx context.Context, in SignIn, members []Membership, first prism.AccountID, used bool,
) (earlier []Ending, err error) {
	err = h.Transaction(ctx, "sign_in", func(run sqldb.Run) error {
		var was takenSession
		var err error
		if in.Earlier != nil {
			if was, err = takeSession(ctx, run, *in.Earlier); err != nil {
				return err
			}
			if earlier, err = end(ctx, run, was, *in.Earlier, in.At, nil); err != nil {
				return err
			}
		}
		if used {
			if err := use(ctx, run, in); err != nil {
				return err
			}
		}
		if err := insert(ctx, run, in); err != nil {
			return err
		}
		for _, m := range append(members[:len(members):len(members)], was.left(in.At)...) {
			if err := join(ctx, run, in.ID, m, first); err != nil {
				return err
			}
		}
		return nil
	})
	return earlier, err
}

// use uses up the link of a sign-in. An identity has taken it, so nobody else has used it.
func use(ctx context.Context, run sqldb.Run, in SignIn) error {
	if in.Identity != nil {
		return run(ctx, sqldb.Statement{Text: useTakenLink, Args: []any{in.Link[:]}}, sqldb.NoRow)
	}
	return invalidLink(run(ctx, sqldb.Statement{Text: useFreeLink, Args: []any{in.Link[:], in.At}}, sqldb.SomeRow))
}

// HomeSession is a session as home knows it: its members may have been removed.
type HomeSession struct {
	ID                        prism.UUID
	SeenAt, ExpiresAt, EndsAt time.Time
	Parts                     []Part
}

// Part is a member of a session.
type Part struct {
	Membership
	First bool // before others that signed in at the same time
}

// Session finds a session: store.ErrNotFound.
func (h Home) Session(ctx context.Context, digest contract.SessionDigest, now time.Time) (session HomeSession, err error) {
	var parts []Part
	err = h.Run(ctx, sqldb.Query("session", homeSession, digest[:], now), sqldb.ReadRows(&parts, func(r *sqldb.Row) Part {
		session = HomeSession{ID: r.UUID(), SeenAt: r.Time(), ExpiresAt: r.Time(), EndsAt: r.Time()}
		p := Part{Membership: readMembership(r)}
		p.Since, p.First = r.Time(), r.Bool()
		return p
	}))
	if session.Parts = parts; err == nil && len(parts) == 0 {
		err = store.ErrNotFound
	}
	return session, err
}

// ToSee tells whether a use of the session is to be stored.
func (f HomeSession) ToSee(now time.Time) bool { return now.Sub(f.SeenAt) >= seenEvery }

// See extends a session that is used: store.ErrNotFound if it has ended.
func (h Home) See(ctx context.Context, f *HomeSession, now time.Time) error {
	f.ExpiresAt = earlierOf(now.Add(SessionIdleTime), f.EndsAt)
	return h.Run(ctx, sqldb.Change("see_session", seeOneSession, f.ID, now, f.ExpiresAt), sqldb.SomeRow)
}

// Ending is what is left to do of the end of a session in the database of one of its accounts.
type Ending struct {
	Membership
	Session prism.UUID
	At      time.Time
	Signs   bool       // whether the member's sign-out is to be recorded,
	Entry   prism.UUID // as this entry
}

// End ends a session, from which no key is made any more, and returns what is left to do, also of an end before.
func (h Home) End(ctx context.Context, digest contract.SessionDigest, newID NewID, at time.Time) (left []Ending, err error) {
	err = SQL(h).findSession(ctx, "end_session", digest, time.Time{})
	if err == nil {
		err = h.Transaction(ctx, "end_session", func(run sqldb.Run) error {
			was, err := takeSession(ctx, run, digest)
			if err == nil {
				_, err = end(ctx, run, was, digest, at, newID)
			}
			return err
		})
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	err = h.Run(ctx, sqldb.Query("endings_of_session", endingsOf, digest[:]), sqldb.ReadRows(&left, readEnding))
	return left, err
}

// end keeps what is left to do of the end of a session. newID makes the entries of its members' sign-out; nil: they sign in to another.
func end(
	ctx context.Context, run sqldb.Run, was takenSession, digest contract.SessionDigest, at time.Time, newID NewID,
) (left []Ending, err error) {
	for _, m := range was.members {
		e := Ending{Membership: m, Session: was.id, At: at, Signs: newID != nil && at.Before(was.expires)}
		args := []any{m.Account.UUID, was.id, m.Member.UUID, digest[:], at, nil}
		if e.Signs {
			if e.Entry, err = newID(); err != nil {
				return nil, err
			}
			args[5] = e.Entry
		}
		if err := run(ctx, sqldb.Statement{Text: addEnding, Args: args}, sqldb.NoRow); err != nil {
			return nil, err
		}
		left = append(left, e)
	}
	return left, nil
}

// Endings are what is left to do of the ends of sessions, of the oldest ones.
func (h Home) Endings(ctx context.Context) (left []Ending, err error) {
	err = h.Run(ctx, sqldb.Query("endings", anyEnding, int64(sweptRows)), sqldb.ReadRows(&left, readEnding))
	return left, err
}

func readEnding(r *sqldb.Row) Ending {
	e := Ending{Membership: Membership{Account: prism.AccountID{UUID: r.UUID()}}, Session: r.UUID()}
	e.Member, e.At, e.Signs, e.Entry = prism.MemberID{UUID: r.UUID()}, r.Time(), r.Bool(), r.UUID()
	return e
}

// Ended tells that nothing is left to do.
func (h Home) Ended(ctx context.Context, e Ending) error {
	return h.Run(ctx, sqldb.Change("ended_session", ended, e.Account.UUID, e.Session), sqldb.NoRow)
}

// Sweep deletes links and sessions that have expired, up to a number of each, and returns how many.
func (h Home) Sweep(ctx context.Context, now time.Time) (swept int, err error) {
	var times []time.Time
	links := sqldb.Change("sweep_links", sweepLinks, now, int64(sweptRows))
	if err := h.Run(ctx, links, sqldb.ReadRows(&times, (*sqldb.Row).Time)); err != nil {
		return 0, err
	}
	var expired []prism.UUID
	found := sqldb.Query("expired_sessions", expiredSessions, now, int64(sweptRows))
	if err := h.Run(ctx, found, sqldb.ReadRows(&expired, (*sqldb.Row).UUID)); err != nil {
		return 0, err
	}
	for _, id := range expired {
		err := h.Transaction(ctx, "sweep_session", func(run sqldb.Run) error {
			err := run(ctx, sqldb.Statement{Text: sweepOneSession, Args: []any{id, now}}, sqldb.SomeRow)
			if err != nil {
				return err
			}
			return run(ctx, sqldb.Statement{Text: emptySession, Args: []any{id}}, sqldb.NoRow)
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
	}
	return len(times) + len(expired), nil
}
