package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// watched records the look-ups. A call of a method that it does not implement panics: its Store is nil.
type watched struct {
	sqlstore.Store
	inner sqlstore.Store
	mu    sync.Mutex
	calls []string
}

func (w *watched) note(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
}

func (w *watched) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *watched) CreateFacts(ctx context.Context, q contract.CreateQuery) (store.CreateFacts, error) {
	w.note("CreateFacts")
	return w.inner.CreateFacts(ctx, q)
}

func (w *watched) ResultFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input) (store.ResultFacts, error) {
	w.note("ResultFacts")
	return w.inner.ResultFacts(ctx, key, id, in)
}

func (w *watched) Authenticate(ctx context.Context, key contract.KeyDigest) (store.Caller, error) {
	w.note("Authenticate")
	return w.inner.Authenticate(ctx, key)
}

// An unknown and a revoked key must take the same time. A test can check that they take the same work: one look-up, the
// same for both, nothing after it, and the same response.
func TestAnUnknownAndARevokedKeyCostTheSameLookUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	ctx := t.Context()
	revoked, id := contract.KeyDigest{77}, prism.KeyID{UUID: w.id()}
	k := keys.APIKey{ID: id, CreatedAt: time.UnixMilli(0)}
	if err := w.store.CreateKey(ctx, w.account, k, revoked, 9, storetest.By()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.RevokeKey(ctx, w.account, id, storetest.By()); err != nil {
		t.Fatal(err)
	}
	watch := &watched{inner: w.store}
	a := facade{service.New(service.Deps{Store: watch, Now: time.Now, NewID: w.NewID, NewKey: w.NewKey})}
	ref := prism.Ref{Slug: "a"}
	only := func(_ any, err error) (string, error) { return "", err }
	for name, call := range map[string]func(contract.KeyDigest) (string, error){
		"CreateFacts": func(k contract.KeyDigest) (string, error) {
			f, err := a.CreateFacts(ctx, contract.CreateQuery{Key: k, Prism: ref, IdempotencyKey: "k", Format: contract.JSON})
			return fmt.Sprintf("%+v", f), err
		},
		"RetryFacts": func(k contract.KeyDigest) (string, error) {
			f, err := a.RetryFacts(ctx, k, prism.ResultID{})
			return fmt.Sprintf("%+v", f), err
		},
		"Read": func(k contract.KeyDigest) (string, error) {
			return only(a.Read(ctx, k, prism.ResultID{}, contract.JSON))
		},
		"ListResults": func(k contract.KeyDigest) (string, error) {
			return only(a.ListResults(ctx, k, api.ListResultsRequest{}))
		},
		"Export": func(k contract.KeyDigest) (string, error) {
			return only(a.Export(ctx, k, ref, api.ExportResultsRequest{}))
		},
		"CreatePrism": func(k contract.KeyDigest) (string, error) {
			return only(a.CreatePrism(ctx, k, api.NewPrism{Slug: "b", NewVersion: api.NewVersion{Definition: definition("text")}}))
		},
		"ListPrisms": func(k contract.KeyDigest) (string, error) { return only(a.ListPrisms(ctx, k, "", contract.Page{})) },
		"ListVersions": func(k contract.KeyDigest) (string, error) {
			return only(a.ListVersions(ctx, k, ref, contract.Page{Limit: 1}))
		},
		"RenamePrism": func(k contract.KeyDigest) (string, error) {
			return only(a.RenamePrism(ctx, k, ref, ""))
		},
		"Prism":       func(k contract.KeyDigest) (string, error) { return only(a.Prism(ctx, k, ref)) },
		"Version":     func(k contract.KeyDigest) (string, error) { return only(a.Version(ctx, k, ref, 1)) },
		"PutLens":     func(k contract.KeyDigest) (string, error) { return only(a.PutLens(ctx, k, ref, prism.Lens{})) },
		"SetArchived": func(k contract.KeyDigest) (string, error) { return only(a.SetArchived(ctx, k, ref, true)) },
		"CreateKey": func(k contract.KeyDigest) (string, error) {
			return only(a.CreateKey(ctx, k, api.NewKey{Name: "n"}))
		},
		"ListKeys":  func(k contract.KeyDigest) (string, error) { return only(a.ListKeys(ctx, k, contract.Page{Limit: 1})) },
		"RevokeKey": func(k contract.KeyDigest) (string, error) { return only(a.RevokeKey(ctx, k, id)) },
		"Record":    func(k contract.KeyDigest) (string, error) { return only(a.Record(ctx, k, prism.ResultID{})) },
		"Usage":     func(k contract.KeyDigest) (string, error) { return only(a.Usage(ctx, k, api.ReadUsageRequest{})) },
		"ListAudit": func(k contract.KeyDigest) (string, error) {
			return only(a.ListAudit(ctx, k, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 1}}))
		},
	} {
		saidUnknown, errUnknown := call(contract.KeyDigest{66})
		unknown := watch.taken()
		saidRevoked, errRevoked := call(revoked)
		if after := watch.taken(); len(unknown) != 1 || !slices.Equal(unknown, after) {
			t.Errorf("%s: an unknown key costs %v, a revoked one %v", name, unknown, after)
		}
		if saidUnknown != saidRevoked || fmt.Sprint(errUnknown) != fmt.Sprint(errRevoked) {
			t.Errorf("%s: %s, %v for an unknown key, %s, %v for a revoked one", name, saidUnknown, errUnknown, saidRevoked, errRevoked)
		}
		if !errors.Is(errRevoked, apierr.InvalidAPIKey()) {
			t.Errorf("%s: got %v", name, errRevoked)
		}
	}
}
