package contracttest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// declarations returns what the test sets, and keeps the last call.
type declarations struct {
	heard heard
	key   contract.DeclaredKey
	err   error
}

func (d *declarations) DeclareAccount(_ context.Context, a contract.DeclareAccount) (prism.AccountID, error) {
	d.heard = heard{"DeclareAccount", []any{a}}
	return account, d.err
}

func (d *declarations) DeclareKey(_ context.Context, k contract.DeclareKey) (contract.DeclaredKey, error) {
	d.heard = heard{"DeclareKey", []any{k}}
	return d.key, d.err
}

func (d *declarations) WithdrawKey(_ context.Context, k contract.WithdrawKey) error {
	d.heard = heard{"WithdrawKey", []any{k}}
	return d.err
}

func (d *declarations) OperatorKey(_ context.Context, k contract.OperatorKey) (contract.DeclaredKey, error) {
	d.heard = heard{"OperatorKey", []any{k}}
	return d.key, d.err
}

// Declarations runs the suite. connect returns a client of what it is given.
func Declarations(t *testing.T, connect func(*testing.T, contract.Declarations) contract.Declarations) {
	t.Helper()
	object, id := prism.UUID{0xf5, 15: 1}, prism.KeyID{UUID: prism.UUID{0xf6, 15: 2}}
	members := []contract.DeclaredMember{{Name: odd, Role: prism.Reader, Claim: prism.Claim{Name: "groups", Value: odd}}}
	t.Run("arguments and responses arrive whole", func(t *testing.T) {
		t.Parallel()
		far := &declarations{}
		near := connect(t, far)
		for _, a := range []contract.DeclareAccount{
			{Object: object, Name: odd},
			{Object: object, Name: "a", HasLimits: true},
			{Object: object, Name: "a", HasLimits: true, Limits: prism.Limits{Concurrency: 1, StoredBytes: prism.AnyStoredBytes}, Members: members},
			{Object: object, Name: "a", Members: []contract.DeclaredMember{}},
		} {
			got, err := near.DeclareAccount(patience(t), a)
			if want := (heard{"DeclareAccount", []any{a}}); err != nil || got != account || !reflect.DeepEqual(far.heard, want) {
				t.Errorf("heard %+v\nwant  %+v: %v, %v", far.heard, want, got, err)
			}
		}
		for _, far.key = range []contract.DeclaredKey{{Key: odd}, {Key: "k", ExpiresAt: &at}} {
			for _, k := range []contract.DeclareKey{
				{Account: account, ID: id, Name: odd, Role: prism.Editor}, {Account: account, ID: id, Name: "n", Role: prism.Reader, Seconds: 1 << 40},
			} {
				got, err := near.DeclareKey(patience(t), k)
				if want := (heard{"DeclareKey", []any{k}}); err != nil || !reflect.DeepEqual(got, far.key) || !reflect.DeepEqual(far.heard, want) {
					t.Errorf("heard %+v\nwant  %+v: %v, %v", far.heard, want, got, err)
				}
			}
			k := contract.OperatorKey{Account: account, Role: prism.Owner}
			got, err := near.OperatorKey(patience(t), k)
			if want := (heard{"OperatorKey", []any{k}}); err != nil || !reflect.DeepEqual(got, far.key) || !reflect.DeepEqual(far.heard, want) {
				t.Errorf("heard %+v\nwant  %+v: %v, %v", far.heard, want, got, err)
			}
		}
		k := contract.WithdrawKey{Account: account, ID: id}
		err := near.WithdrawKey(patience(t), k)
		if want := (heard{"WithdrawKey", []any{k}}); err != nil || !reflect.DeepEqual(far.heard, want) {
			t.Errorf("heard %+v\nwant  %+v: %v", far.heard, want, err)
		}
	})
	t.Run("errors keep their type", func(t *testing.T) {
		t.Parallel()
		far := &declarations{}
		near := connect(t, far)
		for _, want := range []error{
			contract.ErrNameTaken, contract.ErrNameChanged, contract.ErrKeyMade, contract.ErrNotDeclared, contract.ErrUnavailable, apierr.TooManyKeys(),
		} {
			far.err = want
			_, made := near.DeclareAccount(patience(t), contract.DeclareAccount{})
			_, key := near.DeclareKey(patience(t), contract.DeclareKey{})
			_, own := near.OperatorKey(patience(t), contract.OperatorKey{})
			for i, err := range []error{made, key, own, near.WithdrawKey(patience(t), contract.WithdrawKey{})} {
				if !errors.Is(err, want) {
					t.Errorf("%d: got %v, want %v", i, err, want)
				}
			}
		}
	})
}
