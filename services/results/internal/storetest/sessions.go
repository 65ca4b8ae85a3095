package storetest

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

func sessionTests() []test {
	return []test{
		// spec: sign-in-link
		{"a link signs its member in once, until it expires", func(t *testing.T, f *fixture) {
			m, l := f.invited(t, f.mine, prism.Editor)
			_, expired := f.invited(t, f.mine, prism.Editor)
			digest := f.sessionDigest()
			s, err := f.SignIn(t.Context(), f.signInBy(l.Digest, digest, l.ExpiresAt.Add(-time.Millisecond)))
			succeeds(t, err)
			same(t, s, contract.Session{
				Accounts: []contract.SessionAccount{{
					ID: f.mine.account, Name: "mine", Member: contract.SessionMember{ID: m.ID, Name: "Ada", Role: prism.Editor},
				}},
				Now:       l.ExpiresAt.Add(-time.Millisecond),
				ExpiresAt: l.ExpiresAt.Add(members.SessionIdleTime - time.Millisecond),
				EndsAt:    l.ExpiresAt.Add(members.SessionTime - time.Millisecond),
			})
			got, err := f.Session(t.Context(), digest, l.ExpiresAt)
			succeeds(t, err)
			s.Now = l.ExpiresAt
			same(t, got, s)
			for _, link := range []contract.LinkDigest{l.Digest, {99}} {
				_, err = f.signIn(t, link)
				failsWith(t, err, store.ErrLinkInvalid)
			}
			_, err = f.SignIn(t.Context(), f.signInBy(expired.Digest, f.sessionDigest(), expired.ExpiresAt))
			failsWith(t, err, store.ErrLinkInvalid)
		}},
		// spec: link-owner
		{"a link tells whose it is, as often as it is asked, and not once it is used or has expired", func(t *testing.T, f *fixture) {
			m, l := f.invited(t, f.theirs, prism.Editor)
			for range 2 {
				owner, err := f.Link(t.Context(), l.Digest, l.ExpiresAt.Add(-time.Millisecond))
				succeeds(t, err)
				same(t, owner, contract.LinkOwner{ExpiresAt: l.ExpiresAt, Account: contract.SessionAccount{
					ID: f.theirs.account, Name: "theirs", Member: contract.SessionMember{ID: m.ID, Name: "Ada", Role: prism.Editor},
				}})
			}
			none := func(link contract.LinkDigest, at time.Time) {
				t.Helper()
				owner, err := f.Link(t.Context(), link, at)
				failsWith(t, err, store.ErrLinkInvalid)
				same(t, owner, contract.LinkOwner{})
			}
			none(l.Digest, l.ExpiresAt)
			none(contract.LinkDigest{99}, moment(40))
			_, err := f.signIn(t, l.Digest)
			succeeds(t, err)
			none(l.Digest, moment(41))
			removed, l := f.invited(t, f.mine, prism.Editor)
			succeeds(t, f.remove(t, removed.ID))
			none(l.Digest, moment(40))
		}},
		// spec: sign-in-link
		{"of uses of a link at once one signs in", func(t *testing.T, f *fixture) {
			_, l := f.invited(t, f.mine, prism.Editor)
			winner(t, together(racers, func(i int) error {
				in := f.signInBy(l.Digest, f.sessionDigest(), moment(40))
				if i%2 == 0 {
					in.Identity = &contract.Identity{Issuer: "https://i.example", Subject: strconv.Itoa(i)}
				}
				_, err := f.SignIn(t.Context(), in)
				return err
			}), is(store.ErrLinkInvalid))
		}},
		// spec: member-link
		{"a new link of a member takes the place of the one before", func(t *testing.T, f *fixture) {
			m, old := f.invited(t, f.mine, prism.Editor)
			next := f.link()
			got, err := f.LinkMember(t.Context(), f.mine.account, m.ID, next, f.by(moment(3)))
			succeeds(t, err)
			same(t, got, m)
			_, err = f.signIn(t, old.Digest)
			failsWith(t, err, store.ErrLinkInvalid)
			_, err = f.signIn(t, next.Digest)
			succeeds(t, err)
		}},
		// spec: member-remove
		{"the link of a removed member signs nobody in", func(t *testing.T, f *fixture) {
			m, l := f.invited(t, f.mine, prism.Editor)
			succeeds(t, f.remove(t, m.ID))
			_, err := f.signIn(t, l.Digest)
			failsWith(t, err, store.ErrLinkInvalid)
		}},
		// spec: session
		{"a session ends when it was not used for 12 hours, and after 7 days", func(t *testing.T, f *fixture) {
			_, digest := f.signedIn(t, f.mine, prism.Editor)
			begun := moment(40)
			for at := begun; at.Before(begun.Add(members.SessionTime)); at = at.Add(members.SessionIdleTime - time.Millisecond) {
				s, err := f.Session(t.Context(), digest, at)
				succeeds(t, err)
				same(t, s.EndsAt, begun.Add(members.SessionTime))
				if want := at.Add(members.SessionIdleTime); want.Before(s.EndsAt) {
					same(t, s.ExpiresAt, want)
				} else {
					same(t, s.ExpiresAt, s.EndsAt)
				}
			}
			_, err := f.Session(t.Context(), digest, begun.Add(members.SessionTime))
			failsWith(t, err, store.ErrNotFound)

			m, idle := f.signedIn(t, f.mine, prism.Editor)
			_, err = f.Session(t.Context(), idle, begun.Add(members.SessionIdleTime))
			failsWith(t, err, store.ErrNotFound)
			used := begun.Add(time.Hour)
			_, key := f.keyOf(t, idle, used)
			_, err = f.Session(t.Context(), idle, used.Add(members.SessionIdleTime-time.Millisecond))
			succeeds(t, err)
			caller, err := f.Authenticate(t.Context(), key)
			succeeds(t, err)
			same(t, caller.Key, prism.KeyID(m.ID))
		}},
		// spec: member-members
		{"a member was last seen at the last use of a session, to the minute", func(t *testing.T, f *fixture) {
			m, digest := f.signedIn(t, f.mine, prism.Editor)
			seen := moment(40)
			for _, c := range []struct{ used, want time.Duration }{{0, 0}, {59 * time.Second, 0}, {time.Minute, time.Minute}} {
				_, err := f.Session(t.Context(), digest, seen.Add(c.used))
				succeeds(t, err)
				m.SignedInBy, m.LastSeenAt = api.ByLink, new(seen.Add(c.want))
				same(t, f.members(t), []members.Member{m})
			}
		}},
		// spec: session-key, session-key-id
		{"a key of a session is its member's, for 15 minutes", func(t *testing.T, f *fixture) {
			m, digest := f.signedIn(t, f.mine, prism.Labeller)
			expires := moment(50).Add(members.SessionKeyTime)
			made, key := f.keyOf(t, digest, moment(50))
			same(t, made, contract.SessionKey{ExpiresAt: expires, Account: contract.SessionAccount{
				ID: f.mine.account, Name: "mine", Member: contract.SessionMember{ID: m.ID, Name: "Ada", Role: prism.Labeller},
			}})
			want := store.Caller{Account: f.mine.account, Key: prism.KeyID(m.ID), Role: prism.Labeller, ExpiresAt: &expires}
			created, err := f.CreateFacts(t.Context(), contract.CreateQuery{Key: key, Prism: prism.Ref{ID: f.mine.prism.ID}})
			succeeds(t, err)
			same(t, created.Caller, want)
			read, err := f.ResultFacts(t.Context(), key, f.resultID(), store.WithInput)
			succeeds(t, err)
			same(t, read.Caller, want)
			want.Member = true
			caller, err := f.Authenticate(t.Context(), key)
			succeeds(t, err)
			same(t, caller, want)
			late := moment(40).Add(members.SessionTime)
			for at := moment(40); at.Before(late); at = at.Add(11 * time.Hour) {
				_, err := f.Session(t.Context(), digest, at)
				succeeds(t, err)
			}
			made, _ = f.keyOf(t, digest, late.Add(-time.Minute))
			same(t, made.ExpiresAt, late)
		}},
		// spec: session-key
		{"keys of sessions are neither listed nor counted nor revoked as others", func(t *testing.T, f *fixture) {
			_, digest := f.signedIn(t, f.mine, prism.Owner)
			id := prism.KeyID{UUID: f.id()}
			key := contract.KeyDigest{11}
			_, err := f.CreateSessionKey(t.Context(), digest, members.NewSessionKey{
				ID: id, Digest: key, Prefix: "prism_abc", Entry: f.by(moment(50)).Entry, At: moment(50),
			})
			succeeds(t, err)
			listed, _, err := f.ListKeys(t.Context(), f.mine.account, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, listed, []keys.APIKey{f.firstKey()})
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Role: prism.Caller, CreatedAt: moment(51)}
			succeeds(t, f.Store.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{12}, 2, f.by(moment(51))))
			_, err = f.RevokeKey(t.Context(), f.mine.account, id, moment(52))
			failsWith(t, err, store.ErrNotFound)
			f.works(t, key, true)
		}},
		// spec: session-key
		// spec: session-key-limit
		{"one key more than a session may have takes the place of the oldest", func(t *testing.T, f *fixture) {
			_, digest := f.signedIn(t, f.mine, prism.Reader)
			_, other := f.signedIn(t, f.mine, prism.Reader)
			_, others := f.keyOf(t, other, moment(49))
			f.keyOf(t, digest, moment(50).Add(time.Second-members.SessionKeyTime)) // has expired when the others are made
			var keys []contract.KeyDigest
			for i := range members.MaxSessionKeys {
				_, key := f.keyOf(t, digest, moment(51).Add(time.Duration(i)*time.Millisecond))
				keys = append(keys, key)
			}
			wait := func(at time.Time) time.Duration {
				t.Helper()
				_, err := f.sessionKey(t, digest, contract.KeyDigest{12}, at)
				tooOften, _ := errors.AsType[*store.WaitError](err)
				if tooOften == nil {
					t.Fatalf("a key more at %v: %v", at, err)
				}
				return tooOften.Wait
			}
			same(t, wait(moment(52)), moment(51).Add(members.SessionKeyRest).Sub(moment(52)))
			rested := moment(51).Add(members.SessionKeyRest)
			same(t, wait(rested.Add(-time.Millisecond)), time.Millisecond)
			_, next := f.keyOf(t, digest, rested)
			f.works(t, keys[0], false)
			f.works(t, keys[1], true)
			f.works(t, next, true)
			f.works(t, others, true)
			same(t, wait(rested), time.Millisecond)
			f.keyOf(t, digest, rested.Add(time.Millisecond))
			f.works(t, keys[1], false)
			f.works(t, keys[2], true)
		}},
		// spec: session-key-limit
		{"keys of a session at once are no more than it may have", func(t *testing.T, f *fixture) {
			_, digest := f.signedIn(t, f.mine, prism.Reader)
			for range members.MaxSessionKeys - 1 {
				f.keyOf(t, digest, moment(51))
			}
			at, made := moment(51).Add(members.SessionKeyRest-time.Second), 0
			for i, err := range together(racers, func(i int) error {
				_, err := f.sessionKey(t, digest, contract.KeyDigest{13, byte(i)}, at)
				return err
			}) {
				if _, wait := errors.AsType[*store.WaitError](err); err == nil {
					made++
				} else if !wait {
					t.Errorf("%d: %v", i, err)
				}
			}
			same(t, made, 1)
		}},
		// spec: session-key-revocation
		{"signing out ends the session and its keys, and no others", func(t *testing.T, f *fixture) {
			m, digest := f.signedIn(t, f.mine, prism.Owner)
			l := f.link()
			_, err := f.LinkMember(t.Context(), f.mine.account, m.ID, l, f.by(moment(3)))
			succeeds(t, err)
			other := f.sessionDigest()
			_, err = f.SignIn(t.Context(), f.signInBy(l.Digest, other, moment(40)))
			succeeds(t, err)
			_, first := f.keyOf(t, digest, moment(50))
			_, second := f.keyOf(t, digest, moment(51))
			_, untouched := f.keyOf(t, other, moment(51))
			succeeds(t, f.EndSession(t.Context(), digest, f.newID, moment(60)))
			_, err = f.Session(t.Context(), digest, moment(61))
			failsWith(t, err, store.ErrNotFound)
			f.works(t, first, false)
			f.works(t, second, false)
			f.works(t, untouched, true)
			_, err = f.sessionKey(t, digest, contract.KeyDigest{12}, moment(62))
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: session-key-revocation, member-remove
		{"a removed member and a changed role end the member's keys, and a removal the session", func(t *testing.T, f *fixture) {
			m, digest := f.signedIn(t, f.mine, prism.Editor)
			_, others := f.signedIn(t, f.mine, prism.Editor)
			_, key := f.keyOf(t, digest, moment(50))
			_, untouched := f.keyOf(t, others, moment(50))
			_, err := f.change(t, m.ID, api.MemberChange{Name: "Countess"})
			succeeds(t, err)
			f.works(t, key, true)
			_, err = f.change(t, m.ID, api.MemberChange{Role: prism.Reader})
			succeeds(t, err)
			f.works(t, key, false)
			made, next := f.keyOf(t, digest, moment(51))
			same(t, made.Account.Member, contract.SessionMember{ID: m.ID, Name: "Countess", Role: prism.Reader})
			succeeds(t, f.remove(t, m.ID))
			f.works(t, next, false)
			f.works(t, untouched, true)
			_, err = f.Session(t.Context(), digest, moment(52))
			failsWith(t, err, store.ErrNotFound)
			_, err = f.sessionKey(t, digest, contract.KeyDigest{12}, moment(52))
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: session-key-revocation
		{"no key made at once with what ends it outlives it", func(t *testing.T, f *fixture) {
			for round, end := range []func(m members.Member, digest contract.SessionDigest) error{
				func(_ members.Member, digest contract.SessionDigest) error {
					return f.EndSession(t.Context(), digest, f.newID, moment(60))
				},
				func(m members.Member, _ contract.SessionDigest) error { return f.remove(t, m.ID) },
				func(m members.Member, _ contract.SessionDigest) error {
					_, err := f.change(t, m.ID, api.MemberChange{Role: prism.Reader})
					return err
				},
			} {
				m, digest := f.signedIn(t, f.mine, prism.Editor)
				keys := make([]contract.KeyDigest, racers)
				for i, err := range together(racers, func(i int) error {
					if i == racers/2 {
						return end(m, digest)
					}
					keys[i] = contract.KeyDigest{13, byte(round), byte(i)}
					_, err := f.sessionKey(t, digest, keys[i], moment(50))
					return err
				}) {
					if err != nil && (i == racers/2 || !errors.Is(err, store.ErrNotFound)) {
						t.Errorf("round %d, %d: %v", round, i, err)
					}
				}
				for i, key := range keys {
					caller, err := f.Authenticate(t.Context(), key)
					succeeds(t, err)
					if caller.Role == prism.Editor {
						t.Errorf("round %d: key %d has the former role", round, i)
					}
				}
			}
		}},
		// spec: session-accounts
		{"a session keeps the accounts of the browser's earlier one, which ends", func(t *testing.T, f *fixture) {
			m, earlier := f.signedIn(t, f.mine, prism.Owner)
			_, key := f.keyOf(t, earlier, moment(41))
			theirs, l := f.invited(t, f.theirs, prism.Reader)
			digest := f.sessionDigest()
			in := f.signInBy(l.Digest, digest, moment(50))
			in.Earlier = &earlier
			s, err := f.SignIn(t.Context(), in)
			succeeds(t, err)
			same(t, s.Accounts, []contract.SessionAccount{
				{ID: f.theirs.account, Name: "theirs", Member: contract.SessionMember{ID: theirs.ID, Name: "Ada", Role: prism.Reader}},
				{ID: f.mine.account, Name: "mine", Member: contract.SessionMember{ID: m.ID, Name: "Ada", Role: prism.Owner}},
			})
			_, err = f.Session(t.Context(), earlier, moment(51))
			failsWith(t, err, store.ErrNotFound)
			f.works(t, key, false)
			for account, member := range map[prism.AccountID]prism.MemberID{
				{}: theirs.ID, f.theirs.account: theirs.ID, f.mine.account: m.ID,
			} {
				made, err := f.CreateSessionKey(t.Context(), digest, members.NewSessionKey{
					Account: account, ID: prism.KeyID{UUID: f.id()}, Digest: contract.KeyDigest{14, account.UUID[15]},
					Entry: f.by(moment(52)).Entry, At: moment(52),
				})
				succeeds(t, err)
				same(t, made.Account.Member.ID, member)
			}
			succeeds(t, f.RemoveMember(t.Context(), f.theirs.account, theirs.ID, f.by(moment(30))))
			s, err = f.Session(t.Context(), digest, moment(53))
			succeeds(t, err)
			same(t, len(s.Accounts), 1)
			_, err = f.CreateSessionKey(t.Context(), digest, members.NewSessionKey{Account: f.theirs.account, At: moment(53)})
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: session-sweep
		{"what has expired is swept, and nothing else", func(t *testing.T, f *fixture) {
			_, digest := f.signedIn(t, f.mine, prism.Owner)
			_, l := f.invited(t, f.mine, prism.Owner)
			_, key := f.keyOf(t, digest, moment(40))
			sweep := func(at time.Time, want int) {
				t.Helper()
				n, err := f.SweepSessions(t.Context(), at)
				succeeds(t, err)
				same(t, n, want)
			}
			sweep(l.ExpiresAt.Add(-time.Millisecond), 0)
			sweep(l.ExpiresAt, 1)
			expires := moment(40).Add(members.SessionKeyTime + time.Hour)
			sweep(expires.Add(-time.Millisecond), 0)
			f.works(t, key, true)
			sweep(expires, 1)
			f.works(t, key, false)
			ends := moment(40).Add(members.SessionIdleTime)
			_, err := f.Session(t.Context(), digest, ends.Add(-time.Millisecond)) // which extends it
			succeeds(t, err)
			sweep(ends.Add(members.SessionIdleTime-2*time.Millisecond), 0)
			sweep(ends.Add(members.SessionIdleTime-time.Millisecond), 1)
			sweep(ends.Add(members.SessionTime), 0)
			caller, err := f.Authenticate(t.Context(), f.mine.digest)
			succeeds(t, err)
			same(t, caller.Key, f.mine.keyID)
		}},
	}
}

// link is a new link that expires in ten minutes.
func (f *fixture) link() members.Link {
	id := f.id()
	return members.Link{Digest: contract.LinkDigest{1, 30: id[14], 31: id[15]}, ExpiresAt: moment(2).Add(members.OperatorLinkTime)}
}

func (f *fixture) sessionDigest() contract.SessionDigest {
	id := f.id()
	return contract.SessionDigest{2, 30: id[14], 31: id[15]}
}

// invited is a new member with a link.
func (f *fixture) invited(t *testing.T, to tenant, role prism.Role) (members.Member, members.Link) {
	t.Helper()
	m := members.Member{ID: prism.MemberID{UUID: f.id()}, Name: "Ada", Email: "ada@example.com", Role: role, CreatedAt: moment(2)}
	l := f.link()
	succeeds(t, f.AddMember(t.Context(), to.account, m, &l, f.by(moment(2))))
	return m, l
}

// signInBy is a sign-in by a link at a time.
func (f *fixture) signInBy(l contract.LinkDigest, digest contract.SessionDigest, at time.Time) members.SignIn {
	return members.SignIn{Session: digest, ID: f.id(), Link: &l, NewID: f.newID, At: at}
}

func (f *fixture) signIn(t *testing.T, l contract.LinkDigest) (contract.Session, error) {
	t.Helper()
	return f.SignIn(t.Context(), f.signInBy(l, f.sessionDigest(), moment(40)))
}

// signedIn is a new member who has signed in.
func (f *fixture) signedIn(t *testing.T, to tenant, role prism.Role) (members.Member, contract.SessionDigest) {
	t.Helper()
	m, l := f.invited(t, to, role)
	digest := f.sessionDigest()
	_, err := f.SignIn(t.Context(), f.signInBy(l.Digest, digest, moment(40)))
	succeeds(t, err)
	return m, digest
}

func (f *fixture) sessionKey(
	t *testing.T, digest contract.SessionDigest, key contract.KeyDigest, at time.Time,
) (contract.SessionKey, error) {
	t.Helper()
	return f.CreateSessionKey(t.Context(), digest, members.NewSessionKey{
		ID: prism.KeyID{UUID: f.id()}, Digest: key, Prefix: "prism_abc", Entry: f.by(at).Entry, At: at,
	})
}

// keyOf makes a key of a session.
func (f *fixture) keyOf(t *testing.T, digest contract.SessionDigest, at time.Time) (contract.SessionKey, contract.KeyDigest) {
	t.Helper()
	id := f.id()
	key := contract.KeyDigest{10, 30: id[14], 31: id[15]}
	made, err := f.sessionKey(t, digest, key, at)
	succeeds(t, err)
	return made, key
}

// works fails the test unless a key is known, or is not.
func (f *fixture) works(t *testing.T, key contract.KeyDigest, want bool) {
	t.Helper()
	caller, err := f.Authenticate(t.Context(), key)
	succeeds(t, err)
	if got := !caller.Account.IsZero(); got != want {
		t.Errorf("the key works: %v, want %v", got, want)
	}
}
