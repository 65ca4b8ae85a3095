package openid

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

const (
	clientID     = "prism"
	clientSecret = "openidsecretmark-4f1c7a90d3e2"
	ownPage      = "/console/keys"
	expired      = "/console/sign-in?error=openid_expired"
	refused      = "/console/sign-in?error=openid_failed"
	notAMember   = "/console/sign-in?error=not_a_member"
)

// people are the claims of the people whom the provider knows, by their login, which is their subject too.
var people = map[string]map[string]any{
	"alice":   {"name": "Alice", "email": "alice@example.com", "email_verified": true},
	"bob":     {"name": "Bob", "email": "bob@example.com", "email_verified": true},
	"carol":   {"name": "Carol", "email": "carol@example.org", "email_verified": true, "hd": "example.org"},
	"mallory": {"name": "Mallory", "email": "alice@example.com", "email_verified": false, "hd": "example.net"},
}

// add invites a member, or makes a rule.
func (w *world) add(t *testing.T, m client.NewMember) client.InvitedMember {
	t.Helper()
	added, err := w.owner.AddMember(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// grant is the operator's grant of a claim to the owner's account.
func (w *world) grant(t *testing.T, claim string) {
	t.Helper()
	if _, err := w.store.Operate(t.Context(), "account", "allow-claim", w.account, claim); err != nil {
		t.Fatal(err)
	}
}

// invite makes a person a member by an invitation, and returns the browser, which is signed in.
func (w *world) invite(t *testing.T, login string, role client.Role) *browser {
	t.Helper()
	b := w.browser(t)
	invited := w.add(t, client.NewMember{Name: "Invited " + login, Role: role})
	if page := b.finish(b.authorize(b.beginInvited(invited.Link), login)); page != ownPage {
		t.Fatalf("the invitation leads %s to %s", login, page)
	}
	return b
}

// wantKey fails unless the key of a session may list prisms, and make one if the role may.
func wantKey(t *testing.T, c *client.Client, slug string, makes bool) {
	t.Helper()
	_, err := c.CreatePrism(t.Context(), client.NewPrism{Slug: slug, NewVersion: client.NewVersion{
		Definition: client.Definition{
			Fields: []client.Field{{Key: "text"}}, Questions: []client.Question{{Key: "urgent", Type: client.YesNo, Text: "Is it urgent?"}},
		},
	}})
	if (err == nil) != makes || !makes && status(err) != 403 {
		t.Errorf("a new prism with the session's key: %v", err)
	}
	if _, err := c.ListPrisms(t.Context(), client.PrismFilter{}, client.PageOptions{}); err != nil {
		t.Errorf("the list of prisms with the session's key: %v", err)
	}
}

func status(err error) int {
	var e *client.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Status
}

// spec: openid-sign-in, openid-members, openid-identity, session-key, console-session
func TestPeopleWhoAreInvitedSignInWithTheProvider(t *testing.T) {
	t.Parallel()
	w := start(t)
	alice := w.invite(t, "alice", client.Editor)
	alice.wantSession("Invited alice", client.Editor)
	wantKey(t, alice.api(), "urgency", true)

	again := w.browser(t)
	again.signIn("alice")
	again.wantSession("Invited alice", client.Editor)

	for _, login := range []string{"bob", "mallory"} {
		stranger := w.browser(t)
		if page := stranger.finish(stranger.authorize(stranger.begin(), login)); page != notAMember {
			t.Errorf("the stranger %s is led to %s", login, page)
		}
		stranger.wantNobody()
	}
	members, err := w.owner.ListMembers(t.Context(), client.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(members.Data); n != 2 || members.Data[1].Name != "Operator" { // Operator is of the link that the first start prints
		t.Fatalf("the members are %+v", members.Data)
	}
	if by := members.Data[0].SignedInBy; by == nil || *by != client.ByOpenID {
		t.Errorf("the invited member is %+v", members.Data[0])
	}
}

// spec: member-rule, openid-members, openid-identity, claim-grant
func TestARuleAdmitsPeopleByAVerifiedClaim(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.grant(t, "hd=example.org")
	w.grant(t, "email=alice@example.com")
	w.add(t, client.NewMember{Name: "example.org", Role: client.Reader, Claim: &client.Claim{Name: "hd", Value: "example.org"}})
	w.add(t, client.NewMember{Name: "Alice", Role: client.Editor, Claim: &client.Claim{Name: "email", Value: "alice@example.com"}})

	carol := w.browser(t)
	carol.signIn("carol")
	carol.wantSession("Carol", client.Reader)
	wantKey(t, carol.api(), "reader", false)

	alice := w.browser(t)
	alice.signIn("alice")
	alice.wantSession("Alice", client.Editor)
	wantKey(t, alice.api(), "editor", true)

	mallory := w.browser(t) // has the address of alice, which the provider has not verified
	if page := mallory.finish(mallory.authorize(mallory.begin(), "mallory")); page != notAMember {
		t.Errorf("an address that is not verified leads to %s", page)
	}
	mallory.wantNobody()
}

// spec: claim-grant, named-sign-in, session-accounts, session-leave
func TestARuleWithoutAGrantAdmitsWhoAgreesAlone(t *testing.T) {
	t.Parallel()
	w := startServices(t)
	key, err := w.store.Account(t.Context(), "aaa") // before acme in the alphabet
	if err != nil {
		t.Fatal(err)
	}
	greedy := &world{w.issuer, w.prism, w.processes, newClient(t, w.prism.URL(), key), w.store, "aaa"}
	org := client.NewMember{Name: "example.org", Role: client.Reader, Claim: &client.Claim{Name: "hd", Value: "example.org"}}
	w.add(t, org)
	greedy.add(t, org)

	carol := w.browser(t)
	for range 2 {
		if page := carol.finish(carol.authorize(carol.begin(), "carol")); page != notAMember {
			t.Errorf("a rule without a grant leads carol to %s", page)
		}
		// Any site can lead a browser to this address.
		if page := carol.finish(carol.authorize(carol.beginAt("account=aaa&return=/console/keys"), "carol")); page != notAMember {
			t.Errorf("a link with the name of an account leads carol to %s", page)
		}
	}
	for _, each := range []*world{w, greedy} {
		members, err := each.owner.ListMembers(t.Context(), client.PageOptions{})
		if err != nil || len(members.Data) != 1 {
			t.Errorf("%s knows %+v, %v", each.account, members.Data, err)
		}
	}

	w.grant(t, "hd=example.org")
	carol.signIn("carol")
	carol.wantAccounts("acme")
	if page := carol.finish(carol.authorize(carol.beginFor(`{"account":"aaa","return":"/console/keys"}`), "carol")); page != ownPage {
		t.Errorf("with an agreement carol is led to %s", page)
	}
	carol.wantAccounts("aaa", "acme")
	another := w.browser(t)
	another.signIn("carol")
	another.wantAccounts("acme", "aaa") // that of which she is a member longest

	left := another.ask("POST", "/console/session/leave", `{"account":"`+another.accounts()[1].ID+`"}`)
	if left.status != 204 {
		t.Errorf("leaving is %d, %s", left.status, left.body)
	}
	for _, b := range []*browser{carol, another} {
		b.wantAccounts("acme")
	}
	again := carol.beginFor(`{"account":"aaa"}`)
	if page := carol.finish(carol.authorize(again, "carol")); page != notAMember {
		t.Errorf("who has left is led to %s", page)
	}
}

// spec: openid-transaction, openid-errors, console-behind-the-gateway
func TestOnlyTheBrowserThatBeganASignInFinishesIt(t *testing.T) {
	t.Parallel()
	w := startServices(t)
	w.invite(t, "mallory", client.Reader)
	alice := w.invite(t, "alice", client.Editor)
	alice.ask("DELETE", "/console/session", "")

	mallory := w.browser(t)
	theirs := mallory.authorize(mallory.begin(), "mallory")
	if page := alice.finish(theirs); page != expired {
		t.Errorf("the answer to another browser leads to %s", page)
	}
	own := alice.authorize(alice.begin(), "alice")
	if page := alice.finish(theirs); page != expired {
		t.Errorf("the answer to another browser during a sign-in leads to %s", page)
	}
	alice.wantNobody()

	// The verifier of PKCE is that of mallory's browser.
	stolen := change(t, mallory.authorize(mallory.begin(), "mallory"), "code", query(t, own, "code"))
	if page := mallory.finish(stolen); page != refused {
		t.Errorf("a stolen code leads to %s", page)
	}
	mallory.wantNobody()

	kept := alice.cookie("prism-openid")
	if page := alice.finish(own); page != ownPage {
		t.Fatalf("the answer to this browser leads to %s", page)
	}
	alice.wantSession("Invited alice", client.Editor)
	replay := w.browser(t)
	replay.setCookie("prism-openid", kept)
	if page := replay.finish(own); page != refused {
		t.Errorf("the replayed code leads to %s", page)
	}
	replay.wantNobody()

	denied := w.browser(t)
	if page := denied.finish(denied.authorize(denied.begin(), "")); page != "/console/sign-in?error=openid_denied" {
		t.Errorf("a person who refuses at the provider is led to %s", page)
	}
	for _, secret := range []string{query(t, own, "code"), clientSecret, kept} {
		for _, p := range w.processes {
			if secret == "" || strings.Contains(p.Process().Output(), secret) {
				t.Errorf("the log of %s has %q", p.Name, secret)
			}
		}
	}
}

// spec: session-rotation, session-key-revocation, console-session
func TestASignInWithASessionBeginsAnother(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.invite(t, "alice", client.Editor)
	earlier, key := b.cookie("prism"), b.api()
	b.signIn("alice")
	if b.cookie("prism") == earlier {
		t.Error("the session is the earlier one")
	}
	b.wantSession("Invited alice", client.Editor)
	old := w.browser(t)
	old.setCookie("prism", earlier)
	old.wantNobody()
	wantRefused(t, key)

	key = b.api()
	kept := b.cookie("prism")
	if r := b.ask("DELETE", "/console/session", ""); r.status != 204 || b.cookie("prism") != "" {
		t.Errorf("the sign-out is %d, %s", r.status, r.body)
	}
	b.setCookie("prism", kept)
	b.wantNobody()
	wantRefused(t, key)
}

// wantRefused fails unless a key is unknown.
func wantRefused(t *testing.T, c *client.Client) {
	t.Helper()
	if _, err := c.ListPrisms(t.Context(), client.PrismFilter{}, client.PageOptions{}); status(err) != 401 {
		t.Errorf("the key of an ended session: %v", err)
	}
}

// query is a parameter of an address.
func query(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// change is an address with another value of a parameter.
func change(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}
