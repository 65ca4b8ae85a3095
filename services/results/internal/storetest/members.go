package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

func memberTests() []test {
	return []test{
		// spec: member-list
		{"members and rules are listed newest first as they were added, a page at a time", func(t *testing.T, f *fixture) {
			var want []members.Member
			for i, role := range prism.Roles() {
				m := members.Member{
					ID: prism.MemberID{UUID: f.id()}, Name: "“é” 🙂", Email: "a@example.com", Role: role, CreatedAt: moment(3 - i),
				}
				if role == prism.Reader {
					m.Email, m.Claim = "", &prism.Claim{Name: "groups", Value: "“é”"}
				}
				succeeds(t, f.AddMember(t.Context(), f.mine.account, m, nil, f.by(moment(1))))
				want = append([]members.Member{m}, want...)
			}
			f.member(t, f.theirs, prism.Owner)
			list := func(p store.Page) ([]members.Member, bool, error) {
				return f.ListMembers(t.Context(), f.mine.account, p)
			}
			for limit := 1; limit <= len(want)+1; limit++ {
				same(t, pages(t, limit, list, func(m members.Member) prism.UUID { return m.ID.UUID }), want)
			}
		}},
		// spec: member-change
		{"a name and a role are replaced, each alone or both", func(t *testing.T, f *fixture) {
			m := f.member(t, f.mine, prism.Reader)
			for _, c := range []api.MemberChange{{}, {Name: "new"}, {Role: prism.Editor}, {Name: "newer", Role: prism.Labeller}} {
				if c.Name != "" {
					m.Name = c.Name
				}
				if c.Role != "" {
					m.Role = c.Role
				}
				got, err := f.change(t, m.ID, c)
				succeeds(t, err)
				same(t, got, m)
				same(t, f.members(t), []members.Member{m})
			}
		}},
		{"a member of another account, a removed one and none are not found", func(t *testing.T, f *fixture) {
			removed := f.member(t, f.mine, prism.Reader)
			succeeds(t, f.remove(t, removed.ID))
			for _, id := range []prism.MemberID{f.member(t, f.theirs, prism.Reader).ID, removed.ID, {UUID: f.id()}} {
				_, err := f.change(t, id, api.MemberChange{Name: "n"})
				failsWith(t, err, store.ErrNotFound)
				failsWith(t, f.remove(t, id), store.ErrNotFound)
				_, err = f.LinkMember(t.Context(), f.mine.account, id, f.link(), f.by(moment(1)))
				failsWith(t, err, store.ErrNotFound)
			}
			nobody := prism.AccountID{UUID: f.id()}
			failsWith(t, f.AddMember(t.Context(), nobody, removed, nil, f.by(moment(1))), store.ErrNotFound)
			operator := members.Member{ID: prism.MemberID{UUID: f.id()}, Role: prism.Owner}
			failsWith(t, f.LinkOperator(t.Context(), nobody, operator, f.link(), f.newID, f.by(moment(1))), store.ErrNotFound)
		}},
		{"a rule has no link", func(t *testing.T, f *fixture) {
			rule := f.rule(t, f.mine, prism.Reader, "groups", "staff")
			_, err := f.LinkMember(t.Context(), f.mine.account, rule.ID, f.link(), f.by(moment(1)))
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: last-owner
		{"the last owner who has signed in is neither removed nor demoted", func(t *testing.T, f *fixture) {
			owner, _ := f.signedIn(t, f.mine, prism.Owner)
			invited := f.member(t, f.mine, prism.Owner) // who may never come
			f.rule(t, f.mine, prism.Owner, "groups", "admins")
			f.signedIn(t, f.mine, prism.Editor)
			f.signedIn(t, f.theirs, prism.Owner)
			failsWith(t, f.remove(t, owner.ID), store.ErrLastOwner)
			_, err := f.change(t, owner.ID, api.MemberChange{Name: "n", Role: prism.Editor})
			failsWith(t, err, store.ErrLastOwner)
			got, err := f.change(t, owner.ID, api.MemberChange{Name: "n", Role: prism.Owner})
			succeeds(t, err)
			same(t, got.Name, "n")
			succeeds(t, f.remove(t, invited.ID))
			second, _ := f.signedIn(t, f.mine, prism.Owner)
			_, err = f.change(t, owner.ID, api.MemberChange{Role: prism.Caller})
			succeeds(t, err)
			failsWith(t, f.remove(t, second.ID), store.ErrLastOwner)
		}},
		// spec: last-owner
		{"of owners who remove each other at once one stays", func(t *testing.T, f *fixture) {
			var owners []prism.MemberID
			for range 4 {
				m, _ := f.signedIn(t, f.mine, prism.Owner)
				owners = append(owners, m.ID)
			}
			refused := 0
			for _, err := range together(len(owners), func(i int) error {
				if i%2 == 0 {
					return f.remove(t, owners[i])
				}
				_, err := f.change(t, owners[i], api.MemberChange{Role: prism.Reader})
				return err
			}) {
				if err != nil {
					failsWith(t, err, store.ErrLastOwner)
					refused++
				}
			}
			same(t, refused, 1)
		}},
		// spec: operator-link
		{"the operator is made once, and is an owner again with each link", func(t *testing.T, f *fixture) {
			operators := func() (found []members.Member) {
				return slices.DeleteFunc(f.members(t), func(m members.Member) bool { return m.Name != "Operator" })
			}
			for _, err := range together(racers, func(int) error { return f.operate(t, f.link()) }) {
				succeeds(t, err)
			}
			same(t, len(operators()), 1)
			first := operators()[0]
			f.signedIn(t, f.mine, prism.Owner)
			_, err := f.change(t, first.ID, api.MemberChange{Role: prism.Reader})
			succeeds(t, err)
			l := f.link()
			succeeds(t, f.operate(t, l))
			same(t, operators(), []members.Member{first})
			s, err := f.signIn(t, l.Digest)
			succeeds(t, err)
			same(t, s.Accounts[0].Member, contract.SessionMember{ID: first.ID, Name: "Operator", Role: prism.Owner})
			succeeds(t, f.remove(t, first.ID))
			succeeds(t, f.operate(t, f.link()))
			if again := operators(); len(again) != 1 || again[0].ID == first.ID {
				t.Errorf("after a removal the operators are %v", again)
			}
		}},
		// spec: audit-actions, audit-actor-of-members, audit-changes-only, audit-holds-no-values
		{"what is done to members and by them has entries", func(t *testing.T, f *fixture) { f.memberEntries(t) }},
		// spec: run-pauses-itself
		{"a run pauses when its member is removed or may no longer call", func(t *testing.T, f *fixture) {
			m := f.member(t, f.mine, prism.Caller)
			mine := f.mine
			mine.keyID = prism.KeyID(m.ID)
			r := f.run(t, mine, moment(5), 2)
			f.tend(t, moment(6))
			f.has(t, r.ID, prism.RunQueued)
			_, err := f.change(t, m.ID, api.MemberChange{Role: prism.Labeller})
			succeeds(t, err)
			f.stopsAtOnce(t, r.ID, "The member who started this run may no longer run it.")
			_, err = f.change(t, m.ID, api.MemberChange{Role: prism.Editor})
			succeeds(t, err)
			f.act(t, r.ID, store.RunResume, moment(8))
			f.tend(t, moment(9))
			f.has(t, r.ID, prism.RunQueued)
			succeeds(t, f.remove(t, m.ID))
			f.stopsAtOnce(t, r.ID, "The member who started this run may no longer run it.")
		}},
	}
}

// member adds a member, who has no link, and rule a rule.
func (f *fixture) member(t *testing.T, of tenant, role prism.Role) members.Member {
	t.Helper()
	m := members.Member{ID: prism.MemberID{UUID: f.id()}, Name: "Ada", Email: "ada@example.com", Role: role, CreatedAt: moment(2)}
	succeeds(t, f.AddMember(t.Context(), of.account, m, nil, f.by(moment(2))))
	return m
}

func (f *fixture) rule(t *testing.T, owner tenant, role prism.Role, name, value string) members.Member {
	t.Helper()
	m := members.Member{
		ID: prism.MemberID{UUID: f.id()}, Name: "a rule", Role: role, CreatedAt: moment(2),
		Claim: &prism.Claim{Name: name, Value: value},
	}
	succeeds(t, f.AddMember(t.Context(), owner.account, m, nil, f.by(moment(2))))
	return m
}

func (f *fixture) change(t *testing.T, id prism.MemberID, c api.MemberChange) (members.Member, error) {
	t.Helper()
	return f.ChangeMember(t.Context(), f.mine.account, id, c, f.by(moment(20)))
}

func (f *fixture) remove(t *testing.T, id prism.MemberID) error {
	t.Helper()
	return f.RemoveMember(t.Context(), f.mine.account, id, f.by(moment(30)))
}

// operate links the operator of mine.
func (f *fixture) operate(t *testing.T, l members.Link) error {
	t.Helper()
	m := members.Member{ID: prism.MemberID{UUID: f.id()}, Name: "Operator", Role: prism.Owner, CreatedAt: moment(3)}
	return f.LinkOperator(t.Context(), f.mine.account, m, l, f.newID, f.by(moment(3)))
}

// members is those of mine.
func (f *fixture) members(t *testing.T) []members.Member {
	t.Helper()
	found, _, err := f.ListMembers(t.Context(), f.mine.account, store.Page{Limit: 100})
	succeeds(t, err)
	return found
}

// newID is that of another entry or member.
func (f *fixture) newID() (prism.UUID, error) { return f.by(time.Time{}).Entry, nil }

// memberEntries makes every change of members once.
func (f *fixture) memberEntries(t *testing.T) {
	t.Helper()
	ctx, me := t.Context(), f.mine.account
	before := len(f.audit(t, audit.Filter{}))
	l, again := f.link(), f.link()
	m := members.Member{
		ID: prism.MemberID{UUID: f.id()}, Name: "Ada", Email: "secret@example.com", Role: prism.Editor, CreatedAt: moment(1),
	}
	succeeds(t, f.AddMember(ctx, me, m, &l, f.by(moment(1))))
	rule := f.rule(t, f.mine, prism.Reader, "groups", "a secret")
	for range 2 { // the second changes nothing
		_, err := f.change(t, m.ID, api.MemberChange{Name: "Countess", Role: prism.Caller})
		succeeds(t, err)
	}
	_, err := f.change(t, m.ID, api.MemberChange{Name: "Lovelace"})
	succeeds(t, err)
	_, err = f.LinkMember(ctx, me, m.ID, again, f.by(moment(21)))
	succeeds(t, err)
	digest := f.sessionDigest()
	_, err = f.SignIn(ctx, f.signInBy(again.Digest, digest, moment(40)))
	succeeds(t, err)
	_, key := f.keyOf(t, digest, moment(50))
	caller, err := f.Authenticate(ctx, key)
	succeeds(t, err)
	same(t, caller.Actor(), store.Actor{Kind: store.MemberActor, Key: prism.KeyID(m.ID)})
	p := f.newPrism("by-a-member")
	succeeds(t, f.Store.CreatePrism(ctx, me, p, store.By{Entry: f.by(moment(60)).Entry, At: moment(60), Actor: caller.Actor()}))
	for range 2 { // the second ends nothing
		succeeds(t, f.EndSession(ctx, digest, f.newID, moment(70)))
	}
	succeeds(t, f.remove(t, rule.ID))
	succeeds(t, f.remove(t, m.ID))

	type entry struct {
		action store.Action
		actor  store.Actor
		object store.Object
		detail string
	}
	member := store.Actor{Kind: store.MemberActor, Key: prism.KeyID(m.ID), Name: "Lovelace"}
	object := func(name string) store.Object {
		return store.Object{Kind: store.MemberObject, ID: m.ID.UUID, Name: name}
	}
	aRule := store.Object{Kind: store.MemberObject, ID: rule.ID.UUID, Name: "a rule"}
	want := []entry{
		{store.MemberAdd, operator(), object("Ada"), `{"role":"editor"}`},
		{store.MemberAdd, operator(), aRule, `{"role":"reader","claim":"groups"}`},
		{store.MemberChange, operator(), object("Countess"), `{"role":"caller"}`},
		{store.MemberChange, operator(), object("Lovelace"), `{}`},
		{store.MemberLink, operator(), object("Lovelace"), `{"expires_at":"2026-03-29T01:10:00.001Z"}`},
		{store.MemberSignIn, member, object("Lovelace"), `{"signed_in_by":"link"}`},
		{store.MemberKey, member, object("Lovelace"), `{"role":"caller","expires_at":"2026-03-29T01:15:00.049Z"}`},
		{store.PrismCreate, member, store.Object{Kind: store.PrismObject, ID: p.ID.UUID, Name: "by-a-member"}, `{"version":1}`},
		{store.MemberSignOut, member, object("Lovelace"), `{}`},
		{store.MemberRemove, operator(), aRule, `{}`},
		{store.MemberRemove, operator(), object("Lovelace"), `{}`},
	}
	var got []entry
	for _, e := range f.audit(t, audit.Filter{}) {
		got = append(got, entry{e.Action, e.Actor, e.Object, string(e.Detail)})
	}
	slices.Reverse(got)
	same(t, got[before:], want)
	mine := f.audit(t, audit.Filter{Kind: store.MemberActor})
	same(t, len(mine), 4)
	same(t, f.audit(t, audit.Filter{Key: &member.Key}), mine)
}
