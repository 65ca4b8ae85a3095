package storetest

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// declares has an object declare an account of a name.
func (f *fixture) declares(t *testing.T, name string, object prism.UUID) (prism.AccountID, error) {
	t.Helper()
	return f.DeclareAccount(t.Context(), prism.AccountID{UUID: f.id()}, name, object, f.by(moment(1)))
}

// declaredAccount is a new account that an object has declared.
func (f *fixture) declaredAccount(t *testing.T) prism.AccountID {
	t.Helper()
	account, err := f.declares(t, "declared", prism.UUID{1})
	succeeds(t, err)
	return account
}

// activeKeys are the names of an account's keys that are listed and not revoked.
func (f *fixture) activeKeys(t *testing.T, account prism.AccountID) (names []string) {
	t.Helper()
	listed, _, err := f.ListKeys(t.Context(), account, store.Page{Limit: 100})
	succeeds(t, err)
	for _, k := range listed {
		if k.RevokedAt == nil {
			names = append(names, k.Name)
		}
	}
	return names
}

// spec: operator-token
func declaredTests() []test {
	digest := contract.KeyDigest{9, 31: 9}
	return []test{
		{"an object's account is made once, also at once", func(t *testing.T, f *fixture) {
			made := make([]prism.AccountID, racers)
			for _, err := range together(racers, func(i int) (err error) {
				if made[i], err = f.declares(t, "declared", prism.UUID{1}); err != nil { // made at the same time
					made[i], err = f.declares(t, "declared", prism.UUID{1})
				}
				return err
			}) {
				succeeds(t, err)
			}
			for _, account := range made {
				same(t, account, made[0])
			}
			found, err := f.AccountByName(t.Context(), "declared")
			succeeds(t, err)
			same(t, found, made[0])
		}},
		{"an object that was made again, as after a restore, has the account of its name", func(t *testing.T, f *fixture) {
			first := f.declaredAccount(t)
			for _, object := range []prism.UUID{{2}, {2}} {
				again, err := f.declares(t, "declared", object)
				succeeds(t, err)
				same(t, again, first)
			}
			other, err := f.declares(t, "other", prism.UUID{1})
			succeeds(t, err)
			if other == first {
				t.Error("two names have one account")
			}
		}},
		{"no object gets an account that none has declared, or another name", func(t *testing.T, f *fixture) {
			_, err := f.declares(t, "mine", prism.UUID{1})
			failsWith(t, err, store.ErrNameTaken)
			f.declaredAccount(t)
			_, err = f.declares(t, "another", prism.UUID{1})
			failsWith(t, err, contract.ErrNameChanged)
		}},
		{"a key is made once with its id", func(t *testing.T, f *fixture) {
			account := f.declaredAccount(t)
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "k", Role: prism.Editor, CreatedAt: moment(2)}
			refused := 0
			for _, err := range together(racers, func(i int) error {
				return f.DeclareKey(t.Context(), account, k, contract.KeyDigest{8, 31: byte(i)}, keys.MaxActiveKeys, f.by(moment(2)))
			}) {
				if err != nil {
					failsWith(t, err, contract.ErrKeyMade)
					refused++
				}
			}
			same(t, refused, racers-1)
			same(t, f.activeKeys(t, account), []string{"k"})
		}},
		{"a key that was withdrawn is never made", func(t *testing.T, f *fixture) {
			account := f.declaredAccount(t)
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "k", Role: prism.Reader, CreatedAt: moment(2)}
			for i := range 2 {
				succeeds(t, f.WithdrawKey(t.Context(), account, k, contract.KeyDigest{7, 31: byte(i)}, f.by(moment(3))))
			}
			failsWith(t, f.DeclareKey(t.Context(), account, k, digest, keys.MaxActiveKeys, f.by(moment(4))), contract.ErrKeyMade)
			same(t, f.activeKeys(t, account), nil)
			for _, shown := range []contract.KeyDigest{digest, {7}, {7, 31: 1}} {
				caller, err := f.Authenticate(t.Context(), shown)
				succeeds(t, err)
				same(t, caller, store.Caller{})
			}
		}},
		{"a key that is withdrawn is revoked", func(t *testing.T, f *fixture) {
			account := f.declaredAccount(t)
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "k", Role: prism.Caller, CreatedAt: moment(2)}
			succeeds(t, f.DeclareKey(t.Context(), account, k, digest, keys.MaxActiveKeys, f.by(moment(2))))
			caller, err := f.Authenticate(t.Context(), digest)
			succeeds(t, err)
			same(t, caller, store.Caller{Account: account, Key: k.ID, Role: prism.Caller})
			for range 2 {
				succeeds(t, f.WithdrawKey(t.Context(), account, k, contract.KeyDigest{7}, f.by(moment(3))))
			}
			caller, err = f.Authenticate(t.Context(), digest)
			succeeds(t, err)
			same(t, caller, store.Caller{})
			same(t, f.activeKeys(t, account), nil)
		}},
		{"nothing is made or revoked in an account that no object has declared", func(t *testing.T, f *fixture) {
			f.declaredAccount(t)
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "k", Role: prism.Reader, CreatedAt: moment(2)}
			was := keys.APIKey{ID: f.mine.keyID}
			for _, account := range []prism.AccountID{f.mine.account, {UUID: f.id()}} {
				failsWith(t, f.DeclareKey(t.Context(), account, k, digest, keys.MaxActiveKeys, f.by(moment(2))), store.ErrNotFound)
				failsWith(t, f.CreateOperatorKey(t.Context(), account, k, digest, f.by(moment(2))), store.ErrNotFound)
				failsWith(t, f.WithdrawKey(t.Context(), account, was, digest, f.by(moment(2))), store.ErrNotFound)
			}
			same(t, f.activeKeys(t, f.mine.account), []string{"the key"})
		}},
		{"the operator's own key is not listed, does not count, and goes after its end", func(t *testing.T, f *fixture) {
			account := f.declaredAccount(t)
			ends := moment(2).Add(time.Hour)
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "operator", Role: prism.Editor, CreatedAt: moment(2), ExpiresAt: &ends}
			succeeds(t, f.CreateOperatorKey(t.Context(), account, k, digest, f.by(moment(2))))
			want := store.Caller{Account: account, Key: k.ID, Role: prism.Editor, ExpiresAt: &ends}
			caller, err := f.Authenticate(t.Context(), digest)
			succeeds(t, err)
			same(t, caller, want)
			same(t, f.activeKeys(t, account), nil)
			body, err := f.Account(t.Context(), account)
			succeeds(t, err)
			same(t, body.Keys, 0)
			_, err = f.SweepSessions(t.Context(), ends.Add(2*time.Hour))
			succeeds(t, err)
			caller, err = f.Authenticate(t.Context(), digest)
			succeeds(t, err)
			same(t, caller, store.Caller{})
		}},
		{"declared rules replace the others, with their grants, and members stay", func(t *testing.T, f *fixture) {
			f.granted(t, f.mine, prism.Owner, "groups", "old")
			remaining := f.granted(t, f.mine, prism.Reader, "groups", "kept")
			person := members.Member{ID: prism.MemberID{UUID: f.id()}, Name: "Ada", Role: prism.Editor, CreatedAt: moment(2)}
			succeeds(t, f.AddMember(t.Context(), f.mine.account, person, nil, f.by(moment(2))))
			rules := []members.Member{
				{Name: "new", Role: prism.Caller, Claim: &prism.Claim{Name: "groups", Value: "new"}},
				{Name: "kept", Role: prism.Editor, Claim: remaining.Claim},
			}
			newID := func() (prism.UUID, error) { return prism.NewUUID(moment(9), rand.Reader) } // not those of other entries
			declare := func(rules ...members.Member) error {
				return f.DeclareRules(t.Context(), f.mine.account, rules, newID, f.by(moment(3)))
			}
			for _, err := range together(racers, func(int) error { return declare(rules...) }) {
				succeeds(t, err)
			}
			entries := len(f.audit(t, audit.Filter{}))
			succeeds(t, declare(rules...)) // which changes nothing
			same(t, len(f.audit(t, audit.Filter{})), entries)
			got := map[string]prism.Role{}
			for _, m := range f.members(t) {
				got[m.Name] = m.Role
			}
			same(t, got, map[string]prism.Role{"new": prism.Caller, "kept": prism.Editor, "Ada": prism.Editor})
			claims, err := f.ListClaims(t.Context(), f.mine.account)
			succeeds(t, err)
			same(t, claims, []prism.Claim{*remaining.Claim, *rules[0].Claim})
			succeeds(t, declare())
			same(t, len(f.members(t)), 1)
			claims, err = f.ListClaims(t.Context(), f.mine.account)
			succeeds(t, err)
			same(t, len(claims), 0)
			err = f.DeclareRules(t.Context(), prism.AccountID{UUID: f.id()}, nil, newID, f.by(moment(3)))
			failsWith(t, err, store.ErrNotFound)
		}},
	}
}
