package storetest

import (
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: openid-members
func identityTests() []test {
	return []test{
		{"an identity that nobody knows does not sign in", func(t *testing.T, f *fixture) {
			f.member(t, f.mine, prism.Owner) // with the address of ada
			f.granted(t, f.mine, prism.Reader, "groups", "staff")
			f.granted(t, f.mine, prism.Reader, "email", "ada@example.com")
			i := ada()
			i.EmailVerified = false
			_, err := f.identify(t, i, nil)
			failsWith(t, err, store.ErrNotFound)
			same(t, len(f.members(t)), 3)
		}},
		{"an invitation gives its member the identity, which then signs in without it", func(t *testing.T, f *fixture) {
			m, l := f.invited(t, f.mine, prism.Editor)
			want := contract.SessionMember{ID: m.ID, Name: "Ada", Role: prism.Editor}
			for _, link := range []*contract.LinkDigest{&l.Digest, nil} {
				s, err := f.identify(t, ada(), link)
				succeeds(t, err)
				same(t, s.Accounts, []contract.SessionAccount{{ID: f.mine.account, Name: "mine", Member: want}})
			}
			same(t, f.members(t)[0].SignedInBy, api.ByOpenID)
			for _, other := range []contract.Identity{
				{Issuer: "https://i.example", Subject: "2"},
				{Issuer: "https://j.example", Subject: "1"},
			} {
				_, err := f.identify(t, other, nil)
				failsWith(t, err, store.ErrNotFound)
				_, err = f.identify(t, other, &l.Digest)
				failsWith(t, err, store.ErrLinkInvalid)
			}
		}},
		{"the invitation of who is a member already is not used up", func(t *testing.T, f *fixture) {
			m, l := f.invited(t, f.mine, prism.Editor)
			_, err := f.identify(t, ada(), &l.Digest)
			succeeds(t, err)
			second, unused := f.invited(t, f.mine, prism.Owner)
			s, err := f.identify(t, ada(), &unused.Digest)
			succeeds(t, err)
			same(t, s.Accounts[0].Member.ID, m.ID)
			s, err = f.signIn(t, unused.Digest)
			succeeds(t, err)
			same(t, s.Accounts[0].Member.ID, second.ID)
		}},
		{"a rule makes a member of each account, with the greatest role of several rules", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Reader, "groups", "staff")
			f.granted(t, f.mine, prism.Editor, "email", "ada@example.com")
			f.granted(t, f.mine, prism.Owner, "groups", "admins")
			f.granted(t, f.mine, prism.Owner, "email", "staff")
			f.granted(t, f.theirs, prism.Labeller, "groups", "people")
			i := ada()
			i.Claims = map[string][]string{"groups": {"people", "staff"}, "email": {"ada@example.com"}}
			s, err := f.identify(t, i, nil)
			succeeds(t, err)
			var roles []prism.Role
			for _, a := range s.Accounts {
				same(t, a.Member.Name, "Ada L.")
				roles = append(roles, a.Member.Role)
			}
			same(t, roles, []prism.Role{prism.Editor, prism.Labeller})
			again, err := f.identify(t, i, nil)
			succeeds(t, err)
			same(t, again.Accounts, s.Accounts)
		}},
		{"an address that is not verified matches no rule", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Owner, "email", "ada@example.com")
			i := ada()
			i.Claims, i.EmailVerified = map[string][]string{"email": {"ada@example.com"}}, false
			_, err := f.identify(t, i, nil)
			failsWith(t, err, store.ErrNotFound)
		}},
		{"sign-ins of one identity at once make one member", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Reader, "groups", "staff")
			f.granted(t, f.theirs, prism.Reader, "groups", "staff")
			i := ada()
			i.Claims = map[string][]string{"groups": {"staff"}}
			for _, err := range together(racers, func(int) error {
				_, err := f.identify(t, i, nil)
				return err
			}) {
				succeeds(t, err)
			}
			same(t, len(f.members(t)), 2)
		}},
		// spec: member-remove
		{"no rule makes a removed member a member again, but an invitation does", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Reader, "groups", "staff")
			i := ada()
			i.Claims = map[string][]string{"groups": {"staff"}}
			s, err := f.identify(t, i, nil)
			succeeds(t, err)
			succeeds(t, f.remove(t, s.Accounts[0].Member.ID))
			_, err = f.identify(t, i, nil)
			failsWith(t, err, store.ErrNotFound)
			m, l := f.invited(t, f.mine, prism.Editor)
			s, err = f.identify(t, i, &l.Digest)
			succeeds(t, err)
			same(t, s.Accounts[0].Member.ID, m.ID)
		}},
		{"a rule that was removed makes nobody a member, and its members stay", func(t *testing.T, f *fixture) {
			rule := f.granted(t, f.mine, prism.Reader, "groups", "staff")
			i := ada()
			i.Claims = map[string][]string{"groups": {"staff"}}
			_, err := f.identify(t, i, nil)
			succeeds(t, err)
			succeeds(t, f.remove(t, rule.ID))
			_, err = f.identify(t, i, nil)
			succeeds(t, err)
			i.Subject = "2"
			_, err = f.identify(t, i, nil)
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: audit-actions
		{"a member that a rule makes has entries", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Reader, "groups", "staff")
			before := len(f.audit(t, audit.Filter{}))
			i := ada()
			i.Claims = map[string][]string{"groups": {"staff"}}
			_, err := f.identify(t, i, nil)
			succeeds(t, err)
			var actions []string
			for _, e := range f.audit(t, audit.Filter{Kind: store.MemberActor}) {
				actions = append(actions, string(e.Action)+" "+string(e.Detail)+" "+e.Actor.Name)
			}
			slices.Sort(actions)
			same(t, actions, []string{`member.add {"role":"reader"} Ada L.`, `member.sign_in {"signed_in_by":"openid"} Ada L.`})
			same(t, len(f.audit(t, audit.Filter{})), before+2)
		}},
	}
}

// ada is an identity.
func ada() contract.Identity {
	return contract.Identity{
		Issuer: "https://i.example", Subject: "1", Name: "Ada L.", Email: "ada@example.com", EmailVerified: true,
	}
}

func (f *fixture) identify(t *testing.T, i contract.Identity, l *contract.LinkDigest) (contract.Session, error) {
	t.Helper()
	return f.identifyAt(t, i, l, "")
}

// identifyAt is identify, in a sign-in that names an account.
func (f *fixture) identifyAt(t *testing.T, i contract.Identity, l *contract.LinkDigest, account string) (contract.Session, error) {
	t.Helper()
	in := members.SignIn{
		Session: f.sessionDigest(), ID: f.id(), Link: l, Identity: &i, Account: account, NewID: f.newID, At: moment(40),
	}
	return f.SignIn(t.Context(), in)
}

// granted adds a rule whose claim the operator has granted.
func (f *fixture) granted(t *testing.T, of tenant, role prism.Role, name, value string) members.Member {
	t.Helper()
	rule := f.rule(t, of, role, name, value)
	succeeds(t, f.GrantClaim(t.Context(), of.account, *rule.Claim, true, f.by(moment(3))))
	return rule
}
