package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/declarations"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: operator-token, declared-accounts, declared-keys
func TestDeclarations(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	declared := contract.DeclareAccount{
		Object: prism.UUID{1}, Name: "declared", HasLimits: true, Limits: prism.Limits{Concurrency: 4},
		Members: []contract.DeclaredMember{{Name: "Staff", Role: prism.Editor, Claim: prism.Claim{Name: "groups", Value: "staff"}}},
	}
	account, err := w.DeclareAccount(ctx, declared)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.DeclareAccount(ctx, declared)
	if err != nil || again != account {
		t.Errorf("again: %v, %v", again, err)
	}
	id := prism.KeyID{UUID: prism.FirstUUID(time.UnixMilli(w.clock.Load()))}
	key := contract.DeclareKey{Account: account, ID: id, Name: "team/app", Role: prism.Caller, Seconds: 3600}
	made, err := w.DeclareKey(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	digest := w.digests[made.Key]
	if found, err := w.Account(ctx, digest); err != nil || found != account || made.ExpiresAt == nil {
		t.Errorf("the key is of %v until %v, %v", found, made.ExpiresAt, err)
	}
	if err := w.Authorize(ctx, digest, contract.Operation(api.CreateVersion.Name)); !errors.Is(err, apierr.RoleNotAllowed()) {
		t.Errorf("a caller makes a version: %v", err)
	}
	if _, err := w.DeclareKey(ctx, key); !errors.Is(err, contract.ErrKeyMade) {
		t.Errorf("the key again: %v", err)
	}
	own, err := w.OperatorKey(ctx, contract.OperatorKey{Account: account, Role: prism.Editor})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Authorize(ctx, w.digests[own.Key], contract.Operation(api.CreateVersion.Name)); err != nil {
		t.Errorf("the operator makes a version: %v", err)
	}
	for range 2 {
		if err := w.WithdrawKey(ctx, contract.WithdrawKey{Account: account, ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Account(ctx, digest); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("a key that was withdrawn: %v", err)
	}
	entries, _, err := w.store.ListAudit(ctx, account, audit.Filter{}, store.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []store.Action
	for _, e := range entries {
		got = append(got, e.Action)
		if e.Actor != (store.Actor{Kind: store.OperatorActor, Name: declarations.Operator}) {
			t.Errorf("%s is by %+v", e.Action, e.Actor)
		}
	}
	same(t, got, []store.Action{
		store.KeyRevoke, store.KeyCreate, store.KeyCreate, store.MemberAdd, store.AccountClaims, store.AccountLimits, store.AccountCreate,
	})
}

func same[T any](t *testing.T, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if any(got[i]) != any(want[i]) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// spec: operator-token, declared-accounts, declared-keys
func TestWhatMayNotBeDeclared(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	account, err := w.DeclareAccount(ctx, contract.DeclareAccount{Object: prism.UUID{1}, Name: "declared"})
	if err != nil {
		t.Fatal(err)
	}
	id := prism.KeyID{UUID: prism.UUID{2}}
	key := func(change func(*contract.DeclareKey)) error {
		k := contract.DeclareKey{Account: account, ID: id, Name: "k", Role: prism.Editor}
		change(&k)
		return failed(w.DeclareKey(ctx, k))
	}
	made := func(a contract.DeclareAccount) error { return failed(w.DeclareAccount(ctx, a)) }
	for _, c := range []struct {
		name string
		err  error
		want error // nil: a refusal of what was sent
	}{
		{"an owner's key", key(func(k *contract.DeclareKey) { k.Role = prism.Owner }), nil},
		{"an unknown role", key(func(k *contract.DeclareKey) { k.Role = "root" }), nil},
		{"no name", key(func(k *contract.DeclareKey) { k.Name = "" }), nil},
		{"no id", key(func(k *contract.DeclareKey) { k.ID = prism.KeyID{} }), nil},
		{"a time before now", key(func(k *contract.DeclareKey) { k.Seconds = -1 }), nil},
		{"a time beyond all", key(func(k *contract.DeclareKey) { k.Seconds = 1 << 62 }), nil},
		{"a key of an account that is not declared", key(func(k *contract.DeclareKey) { k.Account = w.account }), contract.ErrNotDeclared},
		{"a reader's key of the operator", failed(w.OperatorKey(ctx, contract.OperatorKey{Account: account, Role: prism.Reader})), nil},
		{"the operator in another account", failed(w.OperatorKey(ctx, contract.OperatorKey{Account: w.account, Role: prism.Owner})), contract.ErrNotDeclared},
		{"a withdrawal elsewhere", w.WithdrawKey(ctx, contract.WithdrawKey{Account: w.account, ID: id}), contract.ErrNotDeclared},
		{"an account's name with a control character", made(contract.DeclareAccount{Object: prism.UUID{2}, Name: "\x01"}), nil},
		{"an account of no object", made(contract.DeclareAccount{Name: "a"}), nil},
		{"a limit below 0", made(contract.DeclareAccount{Object: prism.UUID{2}, Name: "a", Limits: prism.Limits{Concurrency: -1}}), nil},
		{"a member without a claim", made(contract.DeclareAccount{
			Object: prism.UUID{2}, Name: "a", Members: []contract.DeclaredMember{{Name: "m", Role: prism.Reader}},
		}), nil},
		{"another name", made(contract.DeclareAccount{Object: prism.UUID{1}, Name: "a"}), contract.ErrNameChanged},
	} {
		refused, _ := errors.AsType[*apierr.Error](c.err)
		if c.want != nil && !errors.Is(c.err, c.want) || c.want == nil && (refused == nil || refused.Status != 400) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
}

func failed[T any](_ T, err error) error { return err }
