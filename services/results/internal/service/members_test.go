package service_test

import (
	"crypto/sha256"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// memberPart is a part of a member's body.
type memberPart struct {
	ID   prism.MemberID `json:"id"`
	Link string         `json:"link"`
}

// invited is a member of w's account whom its owner has invited, and the digest of the link.
func (w *world) invited(t *testing.T, role prism.Role) (prism.MemberID, contract.LinkDigest) {
	t.Helper()
	response, err := w.AddMember(t.Context(), w.key, api.NewMember{Name: "Ada", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	var body memberPart
	decode(t, response, &body)
	return body.ID, linkOf(t, body.Link)
}

func linkOf(t *testing.T, path string) contract.LinkDigest {
	t.Helper()
	token, ok := strings.CutPrefix(path, "/console/sign-in#")
	if !ok {
		t.Fatalf("the link is %q", path)
	}
	return sha256.Sum256([]byte(token))
}

// spec: member-members, member-invite, member-link, member-rule, member-change, member-remove, member-list, member-not-found
func TestTheBodiesOfMembers(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	const id, created = `"[0-9a-f-]{36}"`, `"2027-01-15T08:00:00\.\d{3}Z"`
	added, err := w.AddMember(ctx, w.key, api.NewMember{Name: "Ada", Email: "ada@example.com", Role: prism.Labeller})
	matches(t, added, err, `{"id":`+id+`,"name":"Ada","email":"ada@example.com","role":"labeller","claim":null,"signed_in_by":null,`+
		`"created_at":`+created+`,"last_seen_at":null,"link":"/console/sign-in#token\d+","expires_at":"2027-01-22T08:00:00\.\d{3}Z"}`)
	var first memberPart
	decode(t, added, &first)
	rule, err := w.AddMember(ctx, w.key, api.NewMember{
		Name: "Staff", Role: prism.Reader, Claim: &prism.Claim{Name: "groups", Value: "staff"},
	})
	const ruleBody = `{"id":` + id + `,"name":"Staff","email":null,"role":"reader","claim":{"name":"groups","value":"staff"},` +
		`"signed_in_by":null,"created_at":` + created + `,"last_seen_at":null}`
	matches(t, rule, err, ruleBody)
	changed, err := w.ChangeMember(ctx, w.key, first.ID, api.MemberChange{Name: "Countess", Role: prism.Editor})
	const head = `{"id":` + id + `,"name":"Countess","email":"ada@example.com","role":"editor","claim":null,`
	matches(t, changed, err, head+`"signed_in_by":null,"created_at":`+created+`,"last_seen_at":null}`)
	linked, err := w.LinkMember(ctx, w.key, first.ID)
	matches(t, linked, err, head+`"signed_in_by":null,"created_at":`+created+`,"last_seen_at":null,`+
		`"link":"/console/sign-in#token\d+","expires_at":"2027-01-22T08:00:00\.\d{3}Z"}`)
	decode(t, linked, &first)
	if _, err := w.SignIn(ctx, contract.SignIn{Link: linkOf(t, first.Link), Session: contract.SessionDigest{1}}); err != nil {
		t.Fatal(err)
	}
	listed, err := w.ListMembers(ctx, w.key, contract.Page{Limit: 1})
	matches(t, listed, err, `{"data":\[`+ruleBody+`\],"next_cursor":"[\w-]+"}`)
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	decode(t, listed, &page)
	listed, err = w.ListMembers(ctx, w.key, contract.Page{Limit: 1, Cursor: page.NextCursor})
	matches(t, listed, err, `{"data":\[`+head+`"signed_in_by":"link","created_at":`+created+`,"last_seen_at":`+created+`}\],`+
		`"next_cursor":null}`)
	removed, err := w.RemoveMember(ctx, w.key, first.ID)
	if err != nil || len(removed.Body) > 0 {
		t.Errorf("a removal: %s, %v", removed.Body, err)
	}
	for name, err := range map[string]error{
		"a removal": failure(w.RemoveMember(ctx, w.key, first.ID)),
		"a change":  failure(w.ChangeMember(ctx, w.key, first.ID, api.MemberChange{Name: "n"})),
		"a link":    failure(w.LinkMember(ctx, w.key, first.ID)),
	} {
		if !errors.Is(err, apierr.MemberNotFound()) {
			t.Errorf("%s of a removed member: %v", name, err)
		}
	}
}

// matches fails the test unless a body matches a pattern, in which braces are meant.
func matches(t *testing.T, got contract.Response, err error, pattern string) {
	t.Helper()
	pattern = strings.NewReplacer(`{36}`, `{36}`, `{3}`, `{3}`, `{`, `\{`, `}`, `\}`).Replace(pattern)
	if err != nil || !regexp.MustCompile("^"+pattern+"$").Match(got.Body) {
		t.Errorf("%s, %v\nwant %s", got.Body, err, pattern)
	}
}

func failure(_ contract.Response, err error) error { return err }

// spec: last-owner, error-last-owner, operator-link
func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	by, err := w.By(store.Actor{Kind: store.OperatorActor, Name: "o"})
	if err != nil {
		t.Fatal(err)
	}
	path, err := w.LinkOperator(ctx, w.account, by)
	if err != nil {
		t.Fatal(err)
	}
	begun, err := w.SignIn(ctx, contract.SignIn{Link: linkOf(t, path), Session: contract.SessionDigest{1}})
	if err != nil {
		t.Fatal(err)
	}
	operator := begun.Accounts[0].Member
	if operator.Name != "Operator" || operator.Role != prism.Owner {
		t.Errorf("%+v", operator)
	}
	if _, err := w.RemoveMember(ctx, w.key, operator.ID); !errors.Is(err, apierr.LastOwner()) {
		t.Errorf("removing the last owner: %v", err)
	}
	_, err = w.ChangeMember(ctx, w.key, operator.ID, api.MemberChange{Role: prism.Editor})
	if !errors.Is(err, apierr.LastOwner()) {
		t.Errorf("another role for the last owner: %v", err)
	}
	if err := w.Leave(ctx, contract.SessionDigest{1}, w.account); !errors.Is(err, apierr.LastOwner()) {
		t.Errorf("the last owner leaves: %v", err)
	}
}

// spec: session-leave, audit-actions
func TestAMemberLeavesAnAccount(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	member, link := w.invited(t, prism.Labeller)
	session := contract.SessionDigest{7}
	if _, err := w.SignIn(ctx, contract.SignIn{Link: link, Session: session}); err != nil {
		t.Fatal(err)
	}
	made, err := w.SessionKey(ctx, session, w.account)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []struct {
		session contract.SessionDigest
		account prism.AccountID
	}{{session, prism.AccountID{UUID: w.id()}}, {session, prism.AccountID{}}, {contract.SessionDigest{8}, w.account}} {
		if err := w.Leave(ctx, other.session, other.account); !errors.Is(err, apierr.NotSignedIn()) {
			t.Errorf("leaving what one is not in: %v", err)
		}
	}
	if err := w.Leave(ctx, session, w.account); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ListPrisms(ctx, w.digests[made.Key], "false", contract.Page{Limit: 1}); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("the key of who has left: %v", err)
	}
	if err := w.Leave(ctx, session, w.account); !errors.Is(err, apierr.NotSignedIn()) {
		t.Errorf("leaving again: %v", err)
	}
	entries, _, err := w.store.ListAudit(ctx, w.account, audit.Filter{}, store.Page{Limit: 1})
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if e := entries[0]; e.Action != store.MemberRemove || e.Actor.Kind != store.MemberActor || e.Object.ID != member.UUID ||
		e.Actor.Key.UUID != member.UUID {
		t.Errorf("the entry is %+v", e)
	}
}

// spec: session, session-key, session-key-id, error-not-signed-in, error-link-invalid
func TestASessionCallsWithKeysOfItsMember(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	member, link := w.invited(t, prism.Owner)
	session := contract.SessionDigest{7}
	if _, err := w.SignIn(ctx, contract.SignIn{Link: link, Session: session}); err != nil {
		t.Fatal(err)
	}
	_, err := w.SignIn(ctx, contract.SignIn{Link: link, Session: contract.SessionDigest{8}})
	if !errors.Is(err, apierr.LinkInvalid()) {
		t.Errorf("a link that was used: %v", err)
	}
	made, err := w.SessionKey(ctx, session, prism.AccountID{})
	if err != nil || made.Account.ID != w.account || made.Account.Member.ID != member {
		t.Fatalf("%+v, %v", made, err)
	}
	key := w.digests[made.Key]
	p := api.NewPrism{Slug: "a", NewVersion: api.NewVersion{Definition: definition("text")}}
	if _, err := w.CreatePrism(ctx, key, p); err != nil {
		t.Fatal(err)
	}
	facts, err := w.CreateFacts(ctx, contract.CreateQuery{Key: key, Prism: prism.Ref{Slug: "a"}, Format: contract.JSON})
	if err != nil || facts.Key != prism.KeyID(member) {
		t.Errorf("the call is of %s, %v; want %s", facts.Key, err, member)
	}
	_, body := w.audit(t, api.ListAuditRequest{Actor: member.String(), PageRequest: api.PageRequest{Limit: 9}})
	want := `"actor":{"kind":"member","id":"` + member.String() + `","name":"Ada"},"action":"prism.create"`
	if !strings.Contains(body, want) {
		t.Errorf("the audit has no %s: %s", want, body)
	}
	if strings.Contains(body, made.Key) {
		t.Error("the audit has a key")
	}
	if err := w.EndSession(ctx, session); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ListKeys(ctx, key, contract.Page{Limit: 1}); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("a key of a session that has ended: %v", err)
	}
	_, sessionErr := w.Session(ctx, session)
	_, keyErr := w.SessionKey(ctx, session, w.account)
	for _, err := range []error{sessionErr, keyErr} {
		if !errors.Is(err, apierr.NotSignedIn()) {
			t.Errorf("a session that has ended: %v", err)
		}
	}
	if err := w.EndSession(ctx, session); err != nil {
		t.Errorf("ending it again: %v", err)
	}
}

// spec: session-key
func TestASessionKeyEndsAfterFifteenMinutes(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	_, link := w.invited(t, prism.Reader)
	if _, err := w.SignIn(ctx, contract.SignIn{Link: link, Session: contract.SessionDigest{7}}); err != nil {
		t.Fatal(err)
	}
	made, err := w.SessionKey(ctx, contract.SessionDigest{7}, w.account)
	if err != nil {
		t.Fatal(err)
	}
	key := w.digests[made.Key]
	w.clock.Store(made.ExpiresAt.UnixMilli() - 2)
	if _, err := w.ListPrisms(ctx, key, "false", contract.Page{Limit: 1}); err != nil {
		t.Errorf("before its expiry: %v", err)
	}
	if _, err := w.ListPrisms(ctx, key, "false", contract.Page{Limit: 1}); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("at its expiry: %v", err)
	}
}

// spec: session-key-limit
func TestAKeyTooManyOfASessionSaysWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	_, link := w.invited(t, prism.Reader)
	session := contract.SessionDigest{7}
	if _, err := w.SignIn(ctx, contract.SignIn{Link: link, Session: session}); err != nil {
		t.Fatal(err)
	}
	var first contract.SessionKey
	for i := range members.MaxSessionKeys {
		made, err := w.SessionKey(ctx, session, w.account)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = made
		}
	}
	if _, err := w.SessionKey(ctx, session, w.account); !errors.Is(err, apierr.UnavailableFor(members.SessionKeyRest)) {
		t.Errorf("a key more: %v", err)
	}
	w.clock.Store(first.ExpiresAt.Add(members.SessionKeyRest - members.SessionKeyTime).UnixMilli())
	if _, err := w.SessionKey(ctx, session, w.account); err != nil {
		t.Errorf("a key more after the wait: %v", err)
	}
}

// spec: openid-members, error-not-a-member
func TestAnIdentityIsStoredWithinBounds(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	for i, value := range []string{"staff", "the last"} {
		if _, err := w.AddMember(ctx, w.key, api.NewMember{
			Name: "rule", Role: prism.Roles()[i+3], Claim: &prism.Claim{Name: "groups", Value: value},
		}); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", 501)
	signIn := func(i contract.Identity) (contract.Session, error) {
		session := contract.SessionDigest(sha256.Sum256([]byte(i.Name + i.Subject)))
		return w.SignInAs(ctx, contract.SignInAs{Identity: i, Session: session, Account: "acme"})
	}
	staff := map[string][]string{"groups": {"staff"}}
	for _, i := range []contract.Identity{
		{Subject: "s", Claims: staff},
		{Issuer: "i", Claims: staff},
		{Issuer: long, Subject: "s", Claims: staff},
		{Issuer: "i", Subject: "s\x00", Claims: staff},
		{Issuer: "i", Subject: "s\xff", Claims: staff},
		{Issuer: "i", Subject: "s"},
		{Issuer: "i", Subject: "s", Claims: map[string][]string{"groups": {long, "staff\x00", ""}, long: {"staff"}}},
		{Issuer: "i", Subject: "s", Claims: map[string][]string{"groups": append(slices.Repeat([]string{"another"}, 200), "the last")}},
	} {
		if _, err := signIn(i); !errors.Is(err, apierr.NotAMember()) {
			t.Errorf("%.20q %.20q: %v", i.Issuer, i.Subject, err)
		}
	}
	begun, err := signIn(contract.Identity{
		Issuer: "i", Subject: "s", Name: "A\x00d\na\xff" + strings.Repeat("é", 300), Claims: staff,
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := begun.Accounts[0].Member; m.Name != "Ada"+strings.Repeat("é", 197) || m.Role != prism.Labeller {
		t.Errorf("%+v, %v", begun, err)
	}
	for _, account := range []string{"nobody", "acme\x00", "\xff", long} {
		in := contract.SignInAs{Identity: contract.Identity{Issuer: "i", Subject: "s"}, Session: contract.SessionDigest{8}, Account: account}
		if _, err := w.SignInAs(ctx, in); !errors.Is(err, apierr.NotAMember()) {
			t.Errorf("the account %.20q: %v", account, err)
		}
	}
	expired := contract.LinkDigest{9}
	_, err = w.SignInAs(ctx, contract.SignInAs{Identity: contract.Identity{Issuer: "i", Subject: "s"}, Link: &expired})
	if !errors.Is(err, apierr.LinkInvalid()) {
		t.Errorf("a link that is not there: %v", err)
	}
}
