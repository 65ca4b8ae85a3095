package storetest

import (
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// staff is ada with claims.
func staff() contract.Identity {
	i := ada()
	i.Claims = map[string][]string{"groups": {"staff", "people"}}
	return i
}

func names(s contract.Session) (names []string) {
	for _, a := range s.Accounts {
		names = append(names, a.Name)
	}
	return names
}

// spec: claim-grant
func claimTests() []test {
	return []test{
		{"a rule without a grant makes nobody a member, and sees nobody", func(t *testing.T, f *fixture) {
			f.granted(t, f.theirs, prism.Reader, "groups", "people")
			f.rule(t, f.mine, prism.Owner, "groups", "staff")
			for _, c := range []prism.Claim{{Name: "groups", Value: "people"}, {Name: "hd", Value: "staff"}} { // other claims
				succeeds(t, f.GrantClaim(t.Context(), f.mine.account, c, true, f.by(moment(3))))
			}
			before := len(f.audit(t, audit.Filter{}))
			s, err := f.identify(t, staff(), nil)
			succeeds(t, err)
			same(t, names(s), []string{"theirs"})
			same(t, len(f.members(t)), 1)
			same(t, len(f.audit(t, audit.Filter{})), before)
			i := staff()
			i.Subject, i.Claims["groups"] = "2", []string{"staff"}
			_, err = f.identify(t, i, nil)
			failsWith(t, err, store.ErrNotFound)
		}},
		{"a grant that is taken back admits nobody new, and its members stay", func(t *testing.T, f *fixture) {
			rule := f.granted(t, f.mine, prism.Reader, "groups", "staff")
			_, err := f.identify(t, staff(), nil)
			succeeds(t, err)
			succeeds(t, f.GrantClaim(t.Context(), f.mine.account, *rule.Claim, false, f.by(moment(4))))
			_, err = f.identify(t, staff(), nil)
			succeeds(t, err)
			i := staff()
			i.Subject = "2"
			_, err = f.identify(t, i, nil)
			failsWith(t, err, store.ErrNotFound)
		}},
		{"a rule without a grant gives no role beside one that has it", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Reader, "groups", "staff")
			f.rule(t, f.mine, prism.Owner, "groups", "people")
			s, err := f.identify(t, staff(), nil)
			succeeds(t, err)
			same(t, s.Accounts[0].Member.Role, prism.Reader)
		}},
		{"who signs in to an account by name becomes a member by its rules, and of no other account", func(t *testing.T, f *fixture) {
			f.rule(t, f.mine, prism.Reader, "groups", "staff")
			f.rule(t, f.theirs, prism.Owner, "groups", "staff")
			s, err := f.identifyAt(t, staff(), nil, "mine")
			succeeds(t, err)
			same(t, names(s), []string{"mine"})
			same(t, s.Accounts[0].Member.Role, prism.Reader)
			again, err := f.identify(t, staff(), nil)
			succeeds(t, err)
			same(t, again.Accounts, s.Accounts)
		}},
		{"a sign-in to an account by name fails for who is no member of it then, and changes nothing", func(t *testing.T, f *fixture) {
			f.rule(t, f.mine, prism.Reader, "groups", "admins")
			f.granted(t, f.theirs, prism.Reader, "groups", "people")
			for _, name := range []string{"mine", "nobody"} {
				_, err := f.identifyAt(t, staff(), nil, name)
				failsWith(t, err, store.ErrNotFound)
			}
			succeeds(t, f.GrantClaim(t.Context(), f.theirs.account, prism.Claim{Name: "groups", Value: "people"}, false, f.by(moment(4))))
			_, err := f.identify(t, staff(), nil)
			failsWith(t, err, store.ErrNotFound) // was not made a member of theirs meanwhile
		}},
		// spec: member-remove
		{"who was removed does not become a member again by a name", func(t *testing.T, f *fixture) {
			f.rule(t, f.mine, prism.Reader, "groups", "staff")
			s, err := f.identifyAt(t, staff(), nil, "mine")
			succeeds(t, err)
			succeeds(t, f.remove(t, s.Accounts[0].Member.ID))
			_, err = f.identifyAt(t, staff(), nil, "mine")
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: session-accounts
		{"an account that is new to the person comes behind the others, whatever its name is, unless the sign-in names it", func(t *testing.T, f *fixture) {
			f.granted(t, f.theirs, prism.Reader, "groups", "people")
			i := staff()
			_, err := f.identify(t, i, nil)
			succeeds(t, err)
			f.granted(t, f.mine, prism.Owner, "groups", "staff") // mine is before theirs in the alphabet
			later := members.SignIn{Session: f.sessionDigest(), ID: f.id(), Identity: &i, NewID: f.newID, At: moment(41)}
			s, err := f.SignIn(t.Context(), later)
			succeeds(t, err)
			same(t, names(s), []string{"theirs", "mine"})
			for name, want := range map[string][]string{"": {"theirs", "mine"}, "mine": {"mine", "theirs"}, "theirs": {"theirs", "mine"}} {
				s, err := f.identifyAt(t, i, nil, name)
				succeeds(t, err)
				same(t, names(s), want)
			}
		}},
		// spec: session-accounts
		{"the account of an invitation comes first", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Reader, "groups", "people")
			_, err := f.identify(t, staff(), nil)
			succeeds(t, err)
			_, l := f.invited(t, f.theirs, prism.Editor)
			s, err := f.identify(t, staff(), &l.Digest)
			succeeds(t, err)
			same(t, names(s), []string{"theirs", "mine"})
		}},
		// spec: audit-actions
		{"grants are listed, and recorded when they change", func(t *testing.T, f *fixture) {
			before := len(f.audit(t, audit.Filter{}))
			claim, address := prism.Claim{Name: "hd", Value: "example.com"}, prism.Claim{Name: "email", Value: "ada@example.com"}
			for _, step := range []struct {
				claim   prism.Claim
				granted bool
			}{{claim, true}, {claim, true}, {address, true}, {claim, false}, {claim, false}, {claim, true}} {
				succeeds(t, f.GrantClaim(t.Context(), f.mine.account, step.claim, step.granted, f.by(moment(5))))
			}
			listed, err := f.ListClaims(t.Context(), f.mine.account)
			succeeds(t, err)
			same(t, listed, []prism.Claim{address, claim})
			entries := f.audit(t, audit.Filter{})
			same(t, len(entries), before+4)
			same(t, string(entries[1].Action)+" "+string(entries[1].Detail), `account.claims {"claim":"hd","granted":false}`)
			failsWith(t, f.GrantClaim(t.Context(), prism.AccountID{UUID: f.id()}, claim, true, f.by(moment(5))), store.ErrNotFound)
			theirs, err := f.ListClaims(t.Context(), f.theirs.account)
			succeeds(t, err)
			same(t, len(theirs), 0)
		}},
	}
}
