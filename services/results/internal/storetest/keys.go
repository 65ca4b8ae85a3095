package storetest

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

func keyTests() []test {
	return []test{
		{"an account is found by its name", func(t *testing.T, f *fixture) {
			got, err := f.AccountByName(t.Context(), "mine")
			succeeds(t, err)
			same(t, got, f.mine.account)
			for _, other := range []string{"", "Mine", "mine ", "nobody"} {
				_, err := f.AccountByName(t.Context(), other)
				failsWith(t, err, store.ErrNotFound)
			}
		}},
		{"accounts are listed by name", func(t *testing.T, f *fixture) {
			first := keys.Account{ID: prism.AccountID{UUID: f.id()}, Name: "first", CreatedAt: moment(9)}
			first.Limit = prism.DefaultStoredBytes
			succeeds(t, f.CreateAccount(t.Context(), first.ID, first.Name, first.CreatedAt))
			got, err := f.ListAccounts(t.Context())
			succeeds(t, err)
			var names []string
			for _, a := range got {
				names = append(names, a.Name)
			}
			same(t, names, []string{"first", "mine", "theirs"})
			same(t, got[0], first)
		}},
		{"an account's name is taken once", func(t *testing.T, f *fixture) {
			err := f.CreateAccount(t.Context(), prism.AccountID{UUID: f.id()}, "mine", moment(0))
			failsWith(t, err, store.ErrNameTaken)
		}},
		{"keys are listed newest first as they were made, a page at a time", func(t *testing.T, f *fixture) {
			want := []keys.APIKey{f.firstKey()}
			for i, role := range prism.Roles() {
				expires := moment(1000 + i)
				k := keys.APIKey{
					ID: prism.KeyID{UUID: f.id()}, Name: "“é” 🙂", Prefix: "prism_xyz", Role: role, CreatedAt: moment(3 - i), ExpiresAt: &expires,
				}
				succeeds(t, f.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{5, 31: byte(i)}))
				want = append([]keys.APIKey{k}, want...)
			}
			list := func(p store.Page) ([]keys.APIKey, bool, error) { return f.ListKeys(t.Context(), f.mine.account, p) }
			for limit := 1; limit <= len(want)+1; limit++ {
				same(t, pages(t, limit, list, func(k keys.APIKey) prism.UUID { return k.ID.UUID }), want)
			}
		}},
		{"every look-up finds the key's role and expiry", func(t *testing.T, f *fixture) {
			for year, role := range map[int]prism.Role{0: prism.Reader, 2027: prism.Caller, 9999: prism.Owner} {
				expires := time.Date(year, time.January, 2, 3, 4, 5, 678_000_000, time.UTC)
				k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Role: role, CreatedAt: moment(1), ExpiresAt: &expires}
				digest := contract.KeyDigest{5, 30: byte(year >> 8), 31: byte(year)}
				succeeds(t, f.CreateKey(t.Context(), f.mine.account, k, digest))
				want := store.Caller{Account: f.mine.account, Key: k.ID, Role: role, ExpiresAt: &expires}
				caller, err := f.Authenticate(t.Context(), digest)
				succeeds(t, err)
				same(t, caller, want)
				result, err := f.ResultFacts(t.Context(), digest, f.resultID(), store.WithInput)
				succeeds(t, err)
				same(t, result.Caller, want)
				created, err := f.CreateFacts(t.Context(), contract.CreateQuery{Key: digest, Prism: prism.Ref{ID: f.mine.prism.ID}})
				succeeds(t, err)
				same(t, created.Caller, want)
			}
		}},
		// spec: active-keys-limit
		{"an account has so many active keys at most, also of keys made at once", func(t *testing.T, f *fixture) {
			const most, room = 12, 5
			made := make([]prism.KeyID, most-1) // the fixture made one
			create := func(i int) error {
				made[i] = prism.KeyID{UUID: f.id()}
				k := keys.APIKey{ID: made[i], Role: prism.Caller, CreatedAt: moment(i)}
				return f.Store.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{6, 31: byte(i)}, most, f.by(moment(i)))
			}
			for i := range len(made) - room {
				succeeds(t, create(i))
			}
			refused := 0
			for _, err := range together(racers, func(i int) error {
				k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Role: prism.Caller, CreatedAt: moment(i)}
				return f.Store.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{7, 31: byte(i)}, most, f.by(moment(i)))
			}) {
				if err != nil {
					failsWith(t, err, store.ErrTooManyKeys)
					refused++
				}
			}
			same(t, refused, racers-room)
			failsWith(t, create(len(made)-1), store.ErrTooManyKeys)
			_, err := f.RevokeKey(t.Context(), f.mine.account, made[0], moment(5000))
			succeeds(t, err)
			succeeds(t, create(len(made)-1))
		}},
		{"an account without keys has an empty list", func(t *testing.T, f *fixture) {
			got, _, err := f.ListKeys(t.Context(), prism.AccountID{UUID: f.id()}, store.Page{Limit: 10})
			succeeds(t, err)
			same(t, len(got), 0)
		}},
		{"a key of an account that is not there is not made", func(t *testing.T, f *fixture) {
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, CreatedAt: moment(0)}
			err := f.CreateKey(t.Context(), prism.AccountID{UUID: f.id()}, k, contract.KeyDigest{6})
			failsWith(t, err, store.ErrNotFound)
		}},
		{"revoking ends a key, and revoking again keeps the first time", func(t *testing.T, f *fixture) {
			want, at := f.firstKey(), moment(5)
			want.RevokedAt = &at
			for _, ms := range []int{5, 6} {
				got, err := f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, moment(ms))
				succeeds(t, err)
				same(t, got, want)
			}
			facts, err := f.Authenticate(t.Context(), f.mine.digest)
			succeeds(t, err)
			same(t, facts, store.Caller{})
			facts, err = f.Authenticate(t.Context(), f.theirs.digest)
			succeeds(t, err)
			same(t, facts.Account, f.theirs.account)
		}},
		{"another account's key can't be revoked", func(t *testing.T, f *fixture) {
			_, err := f.RevokeKey(t.Context(), f.mine.account, f.theirs.keyID, moment(5))
			failsWith(t, err, store.ErrNotFound)
			facts, err := f.Authenticate(t.Context(), f.theirs.digest)
			succeeds(t, err)
			same(t, facts.Key, f.theirs.keyID)
		}},
		{"a key that is not there can't be revoked", func(t *testing.T, f *fixture) {
			_, err := f.RevokeKey(t.Context(), f.mine.account, prism.KeyID{UUID: f.id()}, moment(5))
			failsWith(t, err, store.ErrNotFound)
			_, err = f.RevokeAnyKey(t.Context(), prism.KeyID{UUID: f.id()}, moment(5))
			failsWith(t, err, store.ErrNotFound)
		}},
		{"the operator revokes a key of any account, once", func(t *testing.T, f *fixture) {
			want, at := f.firstKey(), moment(5)
			want.RevokedAt = &at
			for _, ms := range []int{5, 6} {
				got, err := f.RevokeAnyKey(t.Context(), f.mine.keyID, moment(ms))
				succeeds(t, err)
				same(t, got, want)
			}
		}},
		{"a key's last use is the latest that was recorded", func(t *testing.T, f *fixture) {
			for _, step := range []struct{ used, want int }{{50, 50}, {40, 50}, {50, 50}, {60, 60}} {
				succeeds(t, f.TouchKeys(t.Context(), map[prism.KeyID]time.Time{
					f.mine.keyID: moment(step.used), {UUID: f.id()}: moment(1), // one that is not there is no error
				}))
				listed, _, err := f.ListKeys(t.Context(), f.mine.account, store.Page{Limit: 10})
				succeeds(t, err)
				want, at := f.firstKey(), moment(step.want)
				want.LastUsedAt = &at
				same(t, listed, []keys.APIKey{want})
			}
			keys, _, err := f.ListKeys(t.Context(), f.theirs.account, store.Page{Limit: 10})
			succeeds(t, err)
			same(t, keys[0].LastUsedAt, nil)
		}},
		{"touching no keys is no error", func(t *testing.T, f *fixture) {
			succeeds(t, f.TouchKeys(t.Context(), nil))
		}},
	}
}

// firstKey is the key that the fixture created for mine.
func (f *fixture) firstKey() keys.APIKey {
	return keys.APIKey{ID: f.mine.keyID, Name: "the key", Prefix: "prism_abc", Role: prism.Editor, CreatedAt: moment(0)}
}
