package postgres_test

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/storetest"
)

// TestSavesThatAreSentTogetherEndAsTheyWouldAlone sends saves of every outcome as one statement.
func TestSavesThatAreSentTogetherEndAsTheyWouldAlone(t *testing.T) {
	t.Parallel()
	ctx, s, _ := traced(t, migrated(t))
	theirs := prism.AccountID{UUID: prism.UUID{9}}
	theirPrism := prism.Prism{ID: prism.PrismID{UUID: prism.UUID{8}}, Slug: "theirs", Latest: prism.Version{Number: 1}}
	for _, err := range []error{
		s.CreateAccount(ctx, theirs, "b", storetest.By()), s.CreatePrism(ctx, theirs, theirPrism, storetest.By()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	result := func(id byte, change func(*prism.Result)) prism.Result {
		r := failed(id)
		r.IdempotencyKey, r.CreatedAt = "", time.UnixMilli(int64(id)).UTC()
		if change != nil {
			change(&r)
		}
		return r
	}
	stored := result(10, func(r *prism.Result) { r.IdempotencyKey = "held" })
	if _, err := s.SaveResult(ctx, account(), stored); err != nil {
		t.Fatal(err)
	}
	saves := []struct {
		name    string
		account prism.AccountID
		result  prism.Result
		want    error
	}{
		{"everything is kept", account(), result(20, func(r *prism.Result) {
			r.Status, r.Error, r.Answers, r.Ref, r.TookMS = prism.OK, "", []byte(`{"b":1, "a":2}`), new("a ref"), 15_000
			r.Key, r.Call = prism.KeyID{UUID: prism.UUID{7}}, &prism.ModelCall{
				Name: "fast", Provider: "offline", Tries: 2, LabelMass: []prism.LabelMass{{Question: "a", Mass: 0.5}},
				Usage: prism.Usage{InputTokens: new(int64(3)), OutputTokens: new(int64(4)), Cost: new(int64(5)), Currency: "EUR"},
			}
		}), nil},
		{"nothing more is invented", account(), result(21, nil), nil},
		{"a key of two saves, first", account(), result(22, func(r *prism.Result) { r.IdempotencyKey = "twice" }), nil},
		{"a key of two saves, second", account(), result(23, func(r *prism.Result) { r.IdempotencyKey = "twice" }), contract.ErrKeyTaken},
		{"the same key of another account", theirs, result(24, func(r *prism.Result) {
			r.IdempotencyKey, r.Prism = "twice", theirPrism.ID
		}), nil},
		{"a key that a stored result holds", account(), result(25, func(r *prism.Result) { r.IdempotencyKey = "held" }), contract.ErrKeyTaken},
		{"a stored result", account(), stored, nil},
		{"no such version", account(), result(26, func(r *prism.Result) { r.Version = 2 }), store.ErrNotFound},
		{"a prism of another account", account(), result(27, func(r *prism.Result) { r.Prism = theirPrism.ID }), store.ErrNotFound},
	}
	waiting, release := s.HoldSaves(ctx)
	type outcome struct {
		saved store.Saved
		err   error
	}
	outcomes := make([]chan outcome, len(saves))
	for i, save := range saves {
		outcomes[i] = make(chan outcome, 1)
		go func() {
			saved, err := s.SaveResult(ctx, save.account, save.result)
			outcomes[i] <- outcome{saved, err}
		}()
	}
	for waiting() < len(saves) {
		runtime.Gosched()
	}
	release()
	for i, save := range saves {
		got := <-outcomes[i]
		if !errors.Is(got.err, save.want) {
			t.Errorf("%s: %v, want %v", save.name, got.err, save.want)
		}
		if save.want != nil {
			continue
		}
		record, err := s.Record(ctx, save.account, save.result.ID)
		if err != nil || !reflect.DeepEqual(record.Result, save.result) {
			t.Errorf("%s: stored %+v, %v", save.name, record.Result, err)
		}
		if !reflect.DeepEqual(got.saved, store.Saved{Prism: record.Prism, Result: save.result}) || record.Prism.ID != save.result.Prism {
			t.Errorf("%s: saved %+v", save.name, got.saved)
		}
	}
	sums, _, err := s.ReadUsage(ctx, account(), store.UsageFilter{By: contract.ByKey, To: math.MaxInt32})
	if err != nil {
		t.Fatal(err)
	}
	var counted int64
	for _, sum := range sums {
		counted += sum.Results
	}
	if counted != 4 {
		t.Errorf("%d results are counted, want 4", counted)
	}
}
