package storetest

import (
	"math"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: account-limits
func limitTests() []test {
	return []test{
		{"accounts have no limits at first", func(t *testing.T, f *fixture) {
			f.limitsAre(t, nil)
		}},
		{"a change sets the limits that it has and keeps the others", func(t *testing.T, f *fixture) {
			for _, step := range []struct {
				change keys.LimitsChange
				want   prism.Limits
			}{
				{keys.LimitsChange{Concurrency: new(int32(7))}, prism.Limits{Concurrency: 7}},
				{keys.LimitsChange{RequestsPerSecond: new(int32(5))}, prism.Limits{RequestsPerSecond: 5, Concurrency: 7}},
				{keys.LimitsChange{}, prism.Limits{RequestsPerSecond: 5, Concurrency: 7}},
				{
					keys.LimitsChange{Concurrency: new(int32(0)), ResultsPerDay: new(int32(math.MaxInt32))},
					prism.Limits{RequestsPerSecond: 5, ResultsPerDay: math.MaxInt32},
				},
			} {
				got, err := f.SetLimits(t.Context(), f.mine.account, step.change)
				succeeds(t, err)
				same(t, got, step.want)
				f.limitsAre(t, map[prism.AccountID]prism.Limits{f.mine.account: step.want})
			}
		}},
		{"an account whose last limit is removed has no limits", func(t *testing.T, f *fixture) {
			for range 2 {
				for _, n := range []int32{3, 0} {
					_, err := f.SetLimits(t.Context(), f.mine.account, keys.LimitsChange{ResultsPerDay: &n})
					succeeds(t, err)
				}
				f.limitsAre(t, nil)
			}
		}},
		{"accounts have limits of their own", func(t *testing.T, f *fixture) {
			for n, account := range []prism.AccountID{f.mine.account, f.theirs.account} {
				_, err := f.SetLimits(t.Context(), account, keys.LimitsChange{Concurrency: new(int32(n + 1))})
				succeeds(t, err)
			}
			f.limitsAre(t, map[prism.AccountID]prism.Limits{f.mine.account: {Concurrency: 1}, f.theirs.account: {Concurrency: 2}})
		}},
		{"changes at once all count", func(t *testing.T, f *fixture) {
			changes := []keys.LimitsChange{
				{RequestsPerSecond: new(int32(1))}, {Concurrency: new(int32(2))}, {ResultsPerDay: new(int32(3))},
			}
			for _, err := range together(len(changes), func(i int) error {
				_, err := f.SetLimits(t.Context(), f.mine.account, changes[i])
				return err
			}) {
				succeeds(t, err)
			}
			f.limitsAre(t, map[prism.AccountID]prism.Limits{
				f.mine.account: {RequestsPerSecond: 1, Concurrency: 2, ResultsPerDay: 3},
			})
		}},
		// spec: account-read
		{"an account has its limits, and counts what it has", func(t *testing.T, f *fixture) {
			read := func() api.Account {
				account, err := f.Account(t.Context(), f.mine.account)
				succeeds(t, err)
				return account
			}
			before := read()
			same(t, before.Limits, api.AccountLimits{StoredBytes: new(int64(prism.DefaultStoredBytes))})
			r, upload := f.ok(f.mine.prism), f.upload(t)
			f.save(t, r)
			member := members.Member{ID: prism.MemberID{UUID: f.id()}, Name: "Ada", Role: prism.Reader, CreatedAt: moment(1)}
			rule := members.Member{ID: prism.MemberID{UUID: f.id()}, Name: "All", Role: prism.Reader, CreatedAt: moment(1), Claim: &prism.Claim{Name: "a", Value: "b"}}
			for _, m := range []members.Member{member, rule} {
				succeeds(t, f.AddMember(t.Context(), f.mine.account, m, nil, f.by(moment(1))))
			}
			_, err := f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, moment(2))
			succeeds(t, err)
			_, err = f.SetArchived(t.Context(), f.mine.account, f.mine.prism.ID, new(moment(2)))
			succeeds(t, err)
			_, err = f.SetLimits(t.Context(), f.mine.account, keys.LimitsChange{Concurrency: new(int32(7)), StoredBytes: new(int64(prism.AnyStoredBytes))})
			succeeds(t, err)
			want := before
			want.Limits = api.AccountLimits{Concurrency: new(int64(7))}
			want.Prisms, want.Keys, want.Members, want.StoredBytes = before.Prisms-1, before.Keys-1, before.Members+1, bytesOf(t, r)+upload.Bytes
			for range 2 { // before and after the bytes are folded
				same(t, read(), want)
				succeeds(t, f.Fold(t.Context()))
			}
			_, err = f.Account(t.Context(), prism.AccountID{UUID: f.id()})
			failsWith(t, err, store.ErrNotFound)
		}},
		{"an account that is not there gets no limits", func(t *testing.T, f *fixture) {
			_, err := f.SetLimits(t.Context(), prism.AccountID{UUID: f.id()}, keys.LimitsChange{Concurrency: new(int32(1))})
			failsWith(t, err, store.ErrNotFound)
			f.limitsAre(t, nil)
		}},
	}
}

// limitsAre fails the test unless these are the accounts with limits.
func (f *fixture) limitsAre(t *testing.T, want map[prism.AccountID]prism.Limits) {
	t.Helper()
	listed, err := f.ListLimits(t.Context())
	succeeds(t, err)
	got := map[prism.AccountID]prism.Limits{}
	for _, l := range listed {
		got[l.Account] = l.Limits
	}
	if want == nil {
		want = map[prism.AccountID]prism.Limits{}
	}
	same(t, got, want)
	same(t, len(listed), len(want))
}
