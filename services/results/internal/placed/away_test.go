package placed_test

import (
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: directory-sign-in, database-faults
func TestWhatIsOfOneAccountNeedsHomeAndItsDatabaseAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, begin := range map[string]func() func() error{
		"a member is added": func() func() error {
			return func() error {
				l := w.link()
				return w.AddMember(w.Context(), w.accounts["b"], w.member(), &l, w.by())
			}
		},
		"a member is removed": func() func() error {
			m, _ := w.invited("b")
			return func() error {
				err := w.RemoveMember(w.Context(), w.accounts["b"], m.ID, w.by())
				if errors.Is(err, store.ErrNotFound) { // while home was away
					return nil
				}
				return err
			}
		},
		"a link is replaced": func() func() error {
			m, _ := w.invited("b")
			return func() error {
				_, err := w.LinkMember(w.Context(), w.accounts["b"], m.ID, w.link(), w.by())
				return err
			}
		},
		"an operator is linked": func() func() error {
			return func() error {
				return w.LinkOperator(w.Context(), w.accounts["b"], w.member(), w.link(), w.newID, w.by())
			}
		},
		"a link tells whose it is": func() func() error {
			_, l := w.invited("b")
			return func() error {
				_, err := w.Link(w.Context(), l.Digest, w.now)
				return err
			}
		},
		"a link signs in": func() func() error {
			_, l := w.invited("b")
			return func() error {
				_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, nil))
				return err
			}
		},
		"an identity accepts an invitation": func() func() error {
			_, l := w.invited("b")
			i := w.granted("b")
			return func() error {
				_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, i))
				return err
			}
		},
		"an identity signs in": func() func() error {
			i := w.granted("b")
			w.signedIn(w.signInBy(nil, i))
			return func() error {
				_, err := w.SignIn(w.Context(), w.signInBy(nil, i))
				return err
			}
		},
		"a session is read": func() func() error {
			_, l := w.invited("b")
			session := w.signedIn(w.signInBy(&l.Digest, nil))
			return func() error {
				_, err := w.Session(w.Context(), session, w.now)
				return err
			}
		},
		"a key is made": func() func() error {
			_, l := w.invited("b")
			session := w.signedIn(w.signInBy(&l.Digest, nil))
			return func() error {
				_, err := w.key(session, "b")
				return err
			}
		},
		"a session ends": func() func() error {
			_, l := w.invited("b")
			session := w.signedIn(w.signInBy(&l.Digest, nil))
			return func() error { return w.EndSession(w.Context(), session, w.newID, w.now) }
		},
	} {
		for _, away := range []string{"home", "b", "c"} {
			call := begin()
			w.faults.take(away)
			err := call()
			w.faults.take()
			if errors.Is(err, store.ErrUnavailable) != (away != "c") || away == "c" && err != nil {
				t.Errorf("%s while %s is away: %v", name, away, err)
			}
			if again := call(); err != nil && again != nil {
				t.Errorf("%s when %s is back: %v", name, away, again)
			}
		}
	}
}

// spec: directory-sign-in
func TestAnAccountWhoseDatabaseIsAwayIsLeftOutAndNotRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.granted("b", "c")
	session := w.signedIn(w.signInBy(nil, i))
	w.faults.take("b")
	w.is("the session while b is away", w.ofSession(session), "[c]")
	_, err := w.key(session, "b")
	w.failsWith(err, store.ErrUnavailable)
	_, err = w.key(session, "c")
	w.succeeds(err)
	_, err = w.key(session, "")
	w.succeeds(err)
	second := w.signInBy(nil, i)
	second.Earlier = &session
	w.is("a session that begins while b is away", w.ofSession(w.signedIn(second)), "[c]")
	w.faults.take("b", "c")
	w.is("the session while both are away", w.ofSession(second.Session), "unavailable")
	w.faults.take()
	w.is("the session when they are back", w.ofSession(second.Session), "[b c]")
}

// spec: directory-sign-in
func TestASignInWhoseOnlyAccountsAreAwayIsUnavailableAndNotRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known, stranger, ruled := w.granted("b"), w.somebody(), w.granted("b")
	w.signedIn(w.signInBy(nil, known))
	known.Claims = nil
	named := w.signInBy(nil, w.granted("c"))
	named.Account = "b"
	_, l := w.invited("b")
	for _, c := range []struct {
		name    string
		away    string
		i       *contract.Identity
		link    *contract.LinkDigest
		account string
		back    error // when the database is back
	}{
		{"a member of b", "b", known, nil, "", nil},
		{"whom a rule of b admits", "b", ruled, nil, "", nil},
		{"a stranger", "c", stranger, nil, "", store.ErrNotFound},
		{"a stranger who names b", "b", stranger, nil, "b", store.ErrNotFound},
		{"a member of c who names b", "b", named.Identity, nil, "b", store.ErrNotFound},
		{"a member of c whom a link invites to b", "b", named.Identity, &l.Digest, "", nil},
	} {
		w.faults.take(c.away)
		in := w.signInBy(c.link, c.i)
		in.Account = c.account
		_, err := w.SignIn(w.Context(), in)
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s, while %s is away: %v", c.name, c.away, err)
		}
		w.faults.take()
		again := w.signInBy(c.link, c.i)
		again.Account = c.account
		if _, err = w.SignIn(w.Context(), again); !errors.Is(err, c.back) {
			t.Errorf("%s, when %s is back: %v", c.name, c.away, err)
		}
	}
}

// spec: directory-sign-in
func TestTheEndOfASessionGoesOnWhenADatabaseIsBack(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]func(w *world, session contract.SessionDigest) error{
		"a repeat": func(w *world, session contract.SessionDigest) error {
			return w.EndSession(w.Context(), session, w.newID, w.now)
		},
		"a sweep": func(w *world, _ contract.SessionDigest) error {
			_, err := w.SweepSessions(w.Context(), w.now)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			session, keys := w.ofTwo()
			w.faults.take("b")
			for range 2 {
				w.failsWith(w.EndSession(w.Context(), session, w.newID, w.now), store.ErrUnavailable)
			}
			w.is("the session", w.ofSession(session), "none")
			w.is("the key of c works", w.works(keys[1]), false)
			_, err := w.key(session, "c")
			w.failsWith(err, store.ErrNotFound)
			w.faults.take()
			w.is("the key of b works", w.works(keys[0]), true)
			w.succeeds(goOn(w, session))
			w.over(session, keys)
			w.succeeds(w.EndSession(w.Context(), session, w.newID, w.now))
		})
	}
}

// spec: directory-sign-in, sign-in-link
func TestOfIdentitiesThatUseALinkAtOnceOneBecomesTheMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, l := w.invited("b")
	var racers []*contract.Identity
	for range 8 {
		racers = append(racers, w.somebody())
	}
	won := together(len(racers), func(i int) error {
		_, err := w.SignIn(w.Context(), w.signInBy(&l.Digest, racers[i]))
		return err
	})
	same := 0
	for i, err := range won {
		_, later := w.SignIn(w.Context(), w.signInBy(nil, racers[i]))
		if err == nil {
			same++
			w.succeeds(later)
			continue
		}
		w.failsWith(err, store.ErrLinkInvalid)
		w.failsWith(later, store.ErrNotFound)
	}
	w.is("winners", same, 1)
}

// spec: directory-sign-in, openid-members
func TestSignInsOfOneIdentityAtOnceAddOneMemberInEachDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.granted("home", "b", "c")
	for _, err := range together(8, func(int) error {
		_, err := w.SignIn(w.Context(), w.signInBy(nil, i))
		return err
	}) {
		w.succeeds(err)
	}
	for _, name := range []string{"home", "b", "c"} {
		w.is("members of "+name, len(w.people(name)), 1)
	}
}

// spec: directory-sign-in, session-sweep
func TestAKeyOfASessionThatIsSweptIsForgottenByTheDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, keys := w.ofTwo()
	w.now = w.now.AddDate(0, 0, 1)
	w.swept()
	for _, key := range keys {
		place, err := w.Directory.SQL.OfKey(w.Context(), key)
		w.succeeds(err)
		w.is("the account of the key", place.Account.IsZero(), true)
	}
}
