package placed_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// crash is a call that a crash cuts off, and which is then made again.
type crash struct {
	call func() error
	// after checks what there is after a crash, and whole what there is when a repeat has succeeded, or failed with again.
	after, whole func()
	again        error
}

// spec: directory-sign-in
func TestACrashBetweenStepsLeavesNobodySignedInAndARepeatCompletesTheCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		begin func(w *world) crash
	}{
		{"a member with a link is added", func(w *world) crash {
			var l members.Link
			return crash{call: func() error {
				m := w.member()
				l = w.link()
				return w.AddMember(w.Context(), w.accounts["b"], m, &l, w.by())
			}, whole: func() { w.signedIn(w.signInBy(&l.Digest, nil)) }}
		}},
		{"a link replaces another", func(w *world) crash {
			m, old := w.invited("b")
			var l members.Link
			return crash{call: func() error {
				l = w.link()
				_, err := w.LinkMember(w.Context(), w.accounts["b"], m.ID, l, w.by())
				return err
			}, whole: func() {
				_, err := w.SignIn(w.Context(), w.signInBy(&old.Digest, nil))
				w.failsWith(err, store.ErrLinkInvalid)
				w.signedIn(w.signInBy(&l.Digest, nil))
			}}
		}},
		{"an operator is linked", func(w *world) crash {
			var l members.Link
			return crash{call: func() error {
				m := w.member()
				l, m.Role = w.link(), prism.Owner
				return w.LinkOperator(w.Context(), w.accounts["b"], m, l, w.newID, w.by())
			}, whole: func() { w.signedIn(w.signInBy(&l.Digest, nil)) }}
		}},
		{"a member is removed", func(w *world) crash {
			m, l := w.invited("b")
			session := w.signedIn(w.signInBy(&l.Digest, nil))
			key, err := w.key(session, "b")
			w.succeeds(err)
			next := w.link()
			_, err = w.LinkMember(w.Context(), w.accounts["b"], m.ID, next, w.by())
			w.succeeds(err)
			ended := func() {
				w.is("the session", w.ofSession(session), "none")
				w.is("the key works", w.works(key), false)
				_, err = w.SignIn(w.Context(), w.signInBy(&next.Digest, nil))
				w.failsWith(err, store.ErrLinkInvalid)
			}
			return crash{call: func() error { return w.RemoveMember(w.Context(), w.accounts["b"], m.ID, w.by()) }, after: func() {
				if !slices.ContainsFunc(w.people("b"), func(is members.Member) bool { return is.ID == m.ID }) {
					ended()
				}
			}, whole: func() {
				ended()
				_, err := w.atHome().FindLink(w.Context(), next.Digest, w.now)
				w.failsWith(err, store.ErrLinkInvalid)
				_, err = w.atHome().Session(w.Context(), session, w.now)
				w.failsWith(err, store.ErrNotFound)
			}, again: store.ErrNotFound}
		}},
		{"a link signs in", func(w *world) crash {
			_, l := w.invited("b")
			_, before := w.invited("c")
			earlier := w.signedIn(w.signInBy(&before.Digest, nil))
			key, err := w.key(earlier, "c")
			w.succeeds(err)
			var tried []contract.SessionDigest
			return crash{call: func() error {
				in := w.signInBy(&l.Digest, nil)
				in.Earlier = &earlier
				tried = append(tried, in.Session)
				_, err := w.SignIn(w.Context(), in)
				return err
			}, after: func() {
				if w.ofSession(tried[0]) == "none" {
					w.is("the earlier session", w.ofSession(earlier), "[c]")
				}
			}, whole: func() {
				w.is("sessions", begun(w, tried), "[[b c]]")
				w.is("the earlier session", w.ofSession(earlier), "none")
				w.swept()
				w.is("a key of the earlier session works", w.works(key), false)
			}, again: store.ErrLinkInvalid}
		}},
		{"an identity signs in to accounts of all databases by rules", func(w *world) crash {
			i := w.granted("home", "b", "c")
			return crash{call: func() error {
				_, err := w.SignIn(w.Context(), w.signInBy(nil, i))
				return err
			}, whole: func() {
				before := []int{len(w.people("home")), len(w.people("b")), len(w.people("c"))}
				w.is("the session", w.ofSession(w.signedIn(w.signInBy(nil, i))), "[b c home]")
				w.is("members", []int{len(w.people("home")), len(w.people("b")), len(w.people("c"))}, before)
			}}
		}},
		{"an identity accepts an invitation", func(w *world) crash {
			m, l := w.invited("b")
			i, other := w.granted("c"), w.somebody()
			var tried []contract.SessionDigest
			return crash{call: func() error {
				in := w.signInBy(&l.Digest, i)
				tried = append(tried, in.Session)
				_, err := w.SignIn(w.Context(), in)
				return err
			}, whole: func() {
				w.is("sessions", begun(w, tried), "[[b c]]")
				for _, who := range []*contract.Identity{nil, other} {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, who))
					w.failsWith(err, store.ErrLinkInvalid)
				}
				s, err := w.SignIn(w.Context(), w.signInBy(nil, i))
				w.succeeds(err)
				w.is("accounts", names(s), "[b c]")
				w.is("the member of b", slices.ContainsFunc(s.Accounts, func(a contract.SessionAccount) bool { return a.Member.ID == m.ID }), true)
			}, again: store.ErrLinkInvalid}
		}},
		{"a key of a session is made", func(w *world) crash {
			_, l := w.invited("b")
			session := w.signedIn(w.signInBy(&l.Digest, nil))
			return crash{call: func() error {
				_, err := w.key(session, "b")
				return err
			}, whole: func() {}}
		}},
		{"a session of two accounts ends", func(w *world) crash {
			session, keys := w.ofTwo()
			return crash{call: func() error { return w.EndSession(w.Context(), session, w.newID, w.now) }, after: func() {
				if w.ofSession(session) != "none" {
					return
				}
				_, err := w.key(session, "b")
				w.failsWith(err, store.ErrNotFound)
			}, whole: func() { w.over(session, keys) }}
		}},
		{"a session of two accounts ends, as sweeps go on with it", func(w *world) crash {
			session, keys := w.ofTwo()
			return crash{call: func() error {
				if w.ofSession(session) == "none" {
					_, err := w.SweepSessions(w.Context(), w.now)
					return err
				}
				return w.EndSession(w.Context(), session, w.newID, w.now)
			}, whole: func() { w.over(session, keys) }}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, done := range []bool{false, true} {
				for steps := 0; ; steps++ {
					is := c.begin(w)
					w.faults.crashAfter(steps, done)
					err := is.call()
					if !w.faults.crashed() {
						w.succeeds(err)
						is.whole()
						break
					}
					if is.after != nil {
						is.after()
					}
					if err != nil { // else it left undone what sweeps do
						if err = is.call(); err != nil && (is.again == nil || !errors.Is(err, is.again)) {
							t.Errorf("after %d steps (%v) a repeat: %v", steps, done, err)
						}
					}
					is.whole()
					if t.Failed() {
						t.Fatalf("after %d steps, the last one done: %v", steps, done)
					}
				}
			}
		})
	}
}

// begun are the accounts of the sessions that were begun.
func begun(w *world, tried []contract.SessionDigest) (sessions []string) {
	for _, d := range tried {
		if is := w.ofSession(d); is != "none" {
			sessions = append(sessions, is)
		}
	}
	return sessions
}

// ofTwo is a session of two accounts, and its keys.
func (w *world) ofTwo() (contract.SessionDigest, []contract.KeyDigest) {
	w.Helper()
	session := w.signedIn(w.signInBy(nil, w.granted("b", "c")))
	var keys []contract.KeyDigest
	for _, name := range []string{"b", "c"} {
		key, err := w.key(session, name)
		w.succeeds(err)
		keys = append(keys, key)
	}
	return session, keys
}

// over checks that a session and its keys have ended, and that each of its accounts has an entry about that.
func (w *world) over(session contract.SessionDigest, keys []contract.KeyDigest) {
	w.Helper()
	w.is("the session", w.ofSession(session), "none")
	left, err := w.atHome().Endings(w.Context())
	w.succeeds(err)
	w.is("what is left to do", len(left), 0)
	for _, key := range keys {
		w.is("a key works", w.works(key), false)
	}
	for _, name := range []string{"b", "c"} {
		_, at, err := w.StoreOf(w.Context(), w.accounts[name])
		w.succeeds(err)
		entries, _, err := at.ListAudit(w.Context(), w.accounts[name], audit.Filter{}, store.Page{Limit: 1000})
		w.succeeds(err)
		actions := map[prism.UUID]string{}
		for _, e := range entries {
			if e.Action == store.MemberSignIn || e.Action == store.MemberSignOut {
				actions[e.Object.ID] += fmt.Sprint(e.Action, " ")
			}
		}
		for member, actions := range actions {
			if strings.Count(actions, string(store.MemberSignOut)) != 1 {
				w.Errorf("the member %s of %s: %s", member, name, actions)
			}
		}
	}
}

// swept sweeps sessions.
func (w *world) swept() {
	w.Helper()
	_, err := w.SweepSessions(w.Context(), w.now)
	w.succeeds(err)
}
