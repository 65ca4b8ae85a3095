package placed_test

import (
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// meeting is a call, and another one that is made between two of its steps.
type meeting struct {
	call  func() error
	other func() error
	// after checks what there is after both.
	after func(call, other error)
}

// spec: directory-sign-in, session-key-revocation, sign-in-link, member-remove
func TestCallsThatMeetBetweenTwoStepsAreAsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		begin func(w *world) meeting
	}{
		{"a key of a session that ends", func(w *world) meeting {
			session, _ := w.ofTwo()
			var key contract.KeyDigest
			return meeting{
				call: func() (err error) {
					key, err = w.key(session, "b")
					return err
				},
				other: func() error { return w.EndSession(w.Context(), session, w.newID, w.now) },
				after: func(_, other error) {
					w.succeeds(other)
					w.is("the key works", w.works(key), false)
				},
			}
		}},
		{"a key of a session that another one follows", func(w *world) meeting {
			session, _ := w.ofTwo()
			_, l := w.invited("c")
			next := w.signInBy(&l.Digest, nil)
			next.Earlier = &session
			var key contract.KeyDigest
			return meeting{
				call: func() (err error) {
					key, err = w.key(session, "b")
					return err
				},
				other: func() error {
					_, err := w.SignIn(w.Context(), next)
					return err
				},
				after: func(_, other error) {
					w.succeeds(other)
					w.is("the key works", w.works(key), false)
					w.is("the session that follows", w.ofSession(next.Session), "[b c]")
				},
			}
		}},
		{"a key of a member who is removed", func(w *world) meeting {
			m, l := w.invited("b")
			session := w.signedIn(w.signInBy(&l.Digest, nil))
			var key contract.KeyDigest
			return meeting{
				call: func() (err error) {
					key, err = w.key(session, "b")
					return err
				},
				other: func() error { return w.remove("b", m.ID) },
				after: func(_, other error) {
					w.succeeds(other)
					w.is("the key works", w.works(key), false)
				},
			}
		}},
		{"a link's sign-in and its member's removal", func(w *world) meeting {
			m, l := w.invited("b")
			in := w.signInBy(&l.Digest, nil)
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), in)
					return err
				},
				other: func() error { return w.remove("b", m.ID) },
				after: func(_, other error) {
					w.succeeds(other)
					w.is("the session", w.ofSession(in.Session), "none")
				},
			}
		}},
		{"two sign-ins by one link", func(w *world) meeting {
			_, l := w.invited("b")
			in, second := w.signInBy(&l.Digest, nil), w.signInBy(&l.Digest, nil)
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), in)
					return err
				},
				other: func() error {
					_, err := w.SignIn(w.Context(), second)
					return err
				},
				after: func(call, other error) {
					w.oneUsed(call, other)
					w.is("sessions", len(begun(w, []contract.SessionDigest{in.Session, second.Session})), 1)
				},
			}
		}},
		{"two identities accept one invitation", func(w *world) meeting {
			_, l := w.invited("b")
			i, second := w.somebody(), w.somebody()
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, i))
					return err
				},
				other: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, second))
					return err
				},
				after: func(call, other error) {
					w.oneUsed(call, other)
					w.is("the accounts of the first", len(w.memberships(i)), map[bool]int{true: 1, false: 0}[call == nil])
					w.is("the accounts of the second", len(w.memberships(second)), map[bool]int{true: 1, false: 0}[other == nil])
				},
			}
		}},
		{"an identity accepts an invitation, and its link signs in", func(w *world) meeting {
			_, l := w.invited("b")
			i := w.somebody()
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, i))
					return err
				},
				other: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, nil))
					return err
				},
				after: func(call, other error) {
					w.oneUsed(call, other)
					w.is("the accounts of the identity", len(w.memberships(i)), map[bool]int{true: 1, false: 0}[call == nil])
				},
			}
		}},
		{"a link signs in, and an identity accepts its invitation", func(w *world) meeting {
			_, l := w.invited("b")
			i := w.somebody()
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, nil))
					return err
				},
				other: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, i))
					return err
				},
				after: func(call, other error) {
					w.oneUsed(call, other)
					w.is("the accounts of the identity", len(w.memberships(i)), map[bool]int{true: 1, false: 0}[other == nil])
				},
			}
		}},
		{"a link signs in, and an identity takes it, which is then cut off", func(w *world) meeting {
			_, l := w.invited("b")
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, nil))
					return err
				},
				other: func() error { return w.atHome().TakeLink(w.Context(), l.Digest, w.somebody(), w.now) },
				after: w.oneUsed,
			}
		}},
		{"an identity accepts an invitation, and its other member is removed", func(w *world) meeting {
			i := w.granted("b")
			s, err := w.SignIn(w.Context(), w.signInBy(nil, i))
			w.succeeds(err)
			m, l := w.invited("b")
			in := w.signInBy(&l.Digest, i)
			return meeting{
				call: func() error {
					_, err := w.SignIn(w.Context(), in)
					if errors.Is(err, store.ErrUnavailable) { // it had not taken the link
						in = w.signInBy(&l.Digest, i)
						_, err = w.SignIn(w.Context(), in)
					}
					return err
				},
				other: func() error { return w.remove("b", s.Accounts[0].Member.ID) },
				after: func(call, other error) {
					w.succeeds(other)
					if is := w.ofSession(in.Session); (is == "[b]") != (len(w.memberships(i)) > 0) {
						w.Errorf("the call is %v, its session %s, the invited member %s, its later accounts %v", call, is, m.ID, w.memberships(i))
					}
				},
			}
		}},
		{"two links of a member", func(w *world) meeting {
			m, old := w.invited("b")
			first, second := w.link(), w.link()
			return meeting{
				call: func() error {
					_, err := w.LinkMember(w.Context(), w.accounts["b"], m.ID, first, w.by())
					return err
				},
				other: func() error {
					_, err := w.LinkMember(w.Context(), w.accounts["b"], m.ID, second, w.by())
					return err
				},
				after: func(call, other error) {
					w.succeeds(errors.Join(call, other))
					valid := 0
					for _, d := range []contract.LinkDigest{old.Digest, first.Digest, second.Digest} {
						if _, err := w.Link(w.Context(), d, w.now); err == nil {
							valid++
						}
					}
					w.is("links that are valid", valid, 1)
				},
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for step := 0; ; step++ {
				is := c.begin(w)
				var other error
				w.faults.meetAt(step, func() { other = is.other() })
				call := is.call()
				if !w.faults.met() {
					break
				}
				is.after(call, other)
				if t.Failed() {
					t.Fatalf("the other call came before step %d: %v, and then %v", step, other, call)
				}
			}
		})
	}
}

// spec: directory-sign-in, member-link
func TestOfLinksOfOneMemberAtOnceOneIsValid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		m, _ := w.invited("b")
		var links []members.Link
		for range 3 {
			links = append(links, w.link())
		}
		for _, err := range together(len(links), func(i int) error {
			_, err := w.LinkMember(w.Context(), w.accounts["b"], m.ID, links[i], w.by())
			return err
		}) {
			w.succeeds(err)
		}
		valid := 0
		for _, l := range links {
			if _, err := w.Link(w.Context(), l.Digest, w.now); err == nil {
				valid++
			}
		}
		w.is("links that are valid", valid, 1)
	}
}

// atHome is what home has of members.
func (w *world) atHome() members.Home { return members.Home{Database: w.Databases[0].Store.Database} }

func (w *world) remove(in string, m prism.MemberID) error {
	return w.RemoveMember(w.Context(), w.accounts[in], m, w.by())
}

// oneUsed checks that of two uses of a link one succeeded.
func (w *world) oneUsed(call, other error) {
	w.Helper()
	if (call == nil) == (other == nil) {
		w.Errorf("two uses of a link: %v and %v", call, other)
	}
	for _, err := range []error{call, other} {
		if err != nil {
			w.failsWith(err, store.ErrLinkInvalid)
		}
	}
}
