package postgres_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
	"github.com/prism-results/prism/services/results/internal/usage"
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
	sums, _, err := s.ReadUsage(ctx, account(), usage.Filter{By: api.ByKey, To: math.MaxInt32})
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

// TestLookUpsThatAreSentTogetherFindWhatTheyWouldAlone sends look-ups of every kind in one round trip.
func TestLookUpsThatAreSentTogetherFindWhatTheyWouldAlone(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	ctx, s, _ := traced(t, u)
	answered := failed(11)
	answered.Status, answered.Error, answered.Answers, answered.IdempotencyKey = prism.OK, "", []byte(`{}`), "ok"
	for _, r := range []prism.Result{failed(10), answered} {
		if _, err := s.SaveResult(ctx, account(), r); err != nil {
			t.Fatal(err)
		}
	}
	theirs, theirKey := prism.AccountID{UUID: prism.UUID{9}}, contract.KeyDigest{9}
	unknown, revoked := contract.KeyDigest{200}, contract.KeyDigest{5}
	for _, err := range []error{
		s.CreateAccount(ctx, theirs, "b", storetest.By()),
		s.CreateKey(ctx, theirs, keys.APIKey{ID: prism.KeyID{UUID: prism.UUID{6}}}, theirKey, 9, storetest.By()),
		s.CreateKey(ctx, account(), keys.APIKey{ID: prism.KeyID{UUID: prism.UUID{5}}}, revoked, 9, storetest.By()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	exec(t, u, "UPDATE api_keys SET revoked_at = now() WHERE digest = decode(rpad('05', 64, '0'), 'hex')")

	type lookUp func() (any, error)
	read := func(key contract.KeyDigest, id byte, in store.Input) lookUp {
		return func() (any, error) { return s.ResultFacts(ctx, key, prism.ResultID{UUID: prism.UUID{id}}, in) }
	}
	create := func(key contract.KeyDigest, p prism.Ref, version int32, idempotencyKey string, f contract.Format) lookUp {
		q := contract.CreateQuery{Key: key, Prism: p, Version: version, IdempotencyKey: idempotencyKey, Format: f}
		return func() (any, error) { return s.CreateFacts(ctx, q) }
	}
	rows := func(key contract.KeyDigest) lookUp { // how many are read
		return func() (n any, err error) {
			n = 0
			err = s.LookUp(ctx, sqldb.Query("rows", "SELECT account_id FROM api_keys WHERE digest = $1", key[:]), func(*sqldb.Row) { n = 1 })
			return n, err
		}
	}
	bySlug, byID, none := prism.Ref{Slug: "triage"}, prism.Ref{ID: prismID()}, prism.Ref{Slug: "none"}
	lookUps := []lookUp{
		read(digest(), 10, store.WithInput), read(digest(), 10, store.WithoutInput), read(digest(), 11, store.WithInput),
		read(digest(), 99, store.WithInput), read(unknown, 10, store.WithInput), read(revoked, 10, store.WithInput),
		read(theirKey, 10, store.WithInput), read(theirKey, 10, store.WithoutInput),
		create(digest(), bySlug, 0, "", contract.JSON), create(digest(), bySlug, 1, "", contract.JSON),
		create(digest(), bySlug, 2, "", contract.JSON), create(digest(), byID, 0, "", contract.JSON),
		create(theirKey, bySlug, 0, "", contract.JSON), create(unknown, byID, 0, "", contract.JSON),
		create(digest(), bySlug, 0, secret, contract.JSON), create(digest(), byID, 0, secret, contract.CSV),
		create(digest(), byID, 0, "ok", contract.CSV), create(digest(), bySlug, 0, "ok", contract.JSON),
		create(digest(), bySlug, 0, "ok", contract.TSV), create(digest(), bySlug, 0, "free", contract.JSON),
		create(theirKey, bySlug, 0, "ok", contract.CSV), create(unknown, byID, 0, "ok", contract.JSON),
		create(digest(), none, 0, "ok", contract.JSON), create(digest(), none, 0, "", contract.JSON),
		func() (any, error) { return s.Authenticate(ctx, digest()) }, func() (any, error) { return s.Authenticate(ctx, theirKey) },
		func() (any, error) { return s.Authenticate(ctx, unknown) }, rows(digest()), rows(unknown),
	}
	want, distinct := make([]any, len(lookUps)), map[string]bool{}
	for i, lookUp := range lookUps {
		var err error
		if want[i], err = lookUp(); err != nil {
			t.Fatal(err)
		}
		distinct[fmt.Sprintf("%+v", want[i])] = true
	}
	if len(distinct) < 12 {
		t.Errorf("only %d of the look-ups find different things", len(distinct))
	}
	waiting, release := s.HoldLookUps(ctx)
	got := make([]chan any, len(lookUps))
	for i, lookUp := range lookUps {
		got[i] = make(chan any, 1)
		go func() {
			found, err := lookUp()
			if err != nil {
				found = err
			}
			got[i] <- found
		}()
	}
	for waiting() < len(lookUps) {
		runtime.Gosched()
	}
	release()
	for i := range lookUps {
		if found := <-got[i]; !reflect.DeepEqual(found, want[i]) {
			t.Errorf("look-up %d found %+v, alone %+v", i, found, want[i])
		}
	}
}

// TestThePlanOfLookUpsIsMadeOnce executes look-ups together, whose numbers differ, on one connection.
func TestThePlanOfLookUpsIsMadeOnce(t *testing.T) {
	t.Parallel()
	ctx, s, _ := traced(t, migrated(t))
	for n := range 20 {
		waiting, release := s.HoldLookUps(ctx)
		done := make(chan error, n+2)
		for range cap(done) {
			go func() {
				_, err := s.ResultFacts(ctx, digest(), prism.ResultID{UUID: prism.UUID{1}}, store.WithInput)
				done <- err
			}()
		}
		for waiting() < cap(done) {
			runtime.Gosched()
		}
		release()
		for range cap(done) {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	generic, custom := s.Plans(t, "SELECT found.*%")
	if generic+custom != 20 || custom > 5 { // Postgres makes five plans, to compare the one for all with
		t.Errorf("%d executions with one plan, %d with plans of their own", generic, custom)
	}
}
