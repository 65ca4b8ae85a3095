package storetest

import (
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

func factsTests() []test {
	return []test{
		{"an unknown key finds the zero account and nothing behind it", func(t *testing.T, f *fixture) {
			f.noFacts(t, contract.KeyDigest{9})
		}},
		{"a revoked key finds the zero account and nothing behind it", func(t *testing.T, f *fixture) {
			_, err := f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, moment(5))
			succeeds(t, err)
			f.noFacts(t, f.mine.digest)
		}},
		{"a key finds its account and itself", func(t *testing.T, f *fixture) {
			want := store.Caller{Account: f.mine.account, Key: f.mine.keyID, Role: prism.Editor}
			got, err := f.Authenticate(t.Context(), f.mine.digest)
			succeeds(t, err)
			same(t, got, want)
			create := f.createFacts(t, contract.CreateQuery{Prism: prism.Ref{Slug: "nothing"}})
			same(t, create, store.CreateFacts{Caller: want})
			result, err := f.ResultFacts(t.Context(), f.mine.digest, f.resultID(), store.WithInput)
			succeeds(t, err)
			same(t, result, store.ResultFacts{Caller: want})
		}},
		{"a prism is found by slug and by id with what changes of it", func(t *testing.T, f *fixture) {
			for _, ref := range []prism.Ref{{Slug: "triage"}, {ID: f.mine.prism.ID}} {
				facts := f.createFacts(t, contract.CreateQuery{Prism: ref})
				if facts.Prism == nil {
					t.Fatalf("%v is not found", ref)
				}
				same(t, *facts.Prism, state(f.mine.prism))
				same(t, facts.Version, 1)
			}
		}},
		{"an archived prism is found as archived", func(t *testing.T, f *fixture) {
			at := moment(7)
			f.setArchived(t, f.mine.prism.ID, &at)
			same(t, f.createFacts(t, contract.CreateQuery{Prism: prism.Ref{Slug: "triage"}}).Prism.Archived, true)
			saved := f.save(t, f.failed(f.mine.prism)) // a call that was under way
			same(t, saved.Prism.Archived, true)
			facts, err := f.ResultFacts(t.Context(), f.mine.digest, saved.Result.ID, store.WithInput)
			succeeds(t, err)
			same(t, facts.Prism.Archived, true)
		}},
		{"version 0 is the latest, and a version that does not exist is 0", func(t *testing.T, f *fixture) {
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("second"))))
			for asked, want := range map[int32]int32{0: 2, 1: 1, 2: 2, 3: 0, 2147483647: 0} {
				facts := f.createFacts(t, contract.CreateQuery{Prism: prism.Ref{Slug: "triage"}, Version: asked})
				if facts.Version != want {
					t.Errorf("version %d is found as %d, want %d", asked, facts.Version, want)
				}
				same(t, facts.Prism.Latest, 2)
				same(t, facts.Prism.Lens, stored(lens("second")))
			}
		}},
		{"another account's prism is not found", func(t *testing.T, f *fixture) {
			same(t, f.createFacts(t, contract.CreateQuery{Prism: prism.Ref{ID: f.theirs.prism.ID}}).Prism, nil)
			only := f.addPrism(t, f.theirs, "only-theirs")
			same(t, f.createFacts(t, contract.CreateQuery{Prism: prism.Ref{Slug: only.Slug}}).Prism, nil)
		}},
		{"the result that holds the idempotency key is found whichever prism is asked", func(t *testing.T, f *fixture) {
			other := f.addPrism(t, f.mine, "other")
			held := f.save(t, keyed(f.ok(other), "a key"))
			facts := f.createFacts(t, contract.CreateQuery{Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: "a key"})
			same(t, facts.Stored.ID, held.Result.ID)
			same(t, *facts.StoredPrism, state(other))
			same(t, *facts.Prism, state(f.mine.prism))
		}},
		{"a result that holds an idempotency key is loaded with its input if it failed or its fields are shown", func(t *testing.T, f *fixture) {
			f.save(t, keyed(f.ok(f.mine.prism), "ok"))
			f.save(t, keyed(f.failed(f.mine.prism), "failed"))
			for _, c := range []struct {
				key    string
				format contract.Format
				input  bool
			}{
				{"ok", contract.JSON, false},
				{"ok", contract.Raw, false},
				{"ok", contract.CSV, true},
				{"ok", contract.TSV, true},
				{"ok", contract.JSONL, true},
				{"failed", contract.JSON, true},
				{"failed", contract.CSV, true},
			} {
				stored := f.createFacts(t, contract.CreateQuery{
					Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: c.key, Format: c.format,
				}).Stored
				want := *f.stored(t, stored.ID)
				if !c.input {
					want.Context, want.Fields = "", []prism.FieldValue{}
				}
				same(t, *stored, want)
			}
		}},
		{"idempotency keys are compared letter by letter", func(t *testing.T, f *fixture) {
			f.save(t, keyed(f.ok(f.mine.prism), "Key"))
			for _, other := range []string{"key", "Key ", " Key", "Ke", "Kéy"} {
				if r := f.holder(t, other); r != nil {
					t.Errorf("%q finds the result of another key", other)
				}
			}
		}},
		{"no idempotency key finds no result", func(t *testing.T, f *fixture) {
			f.save(t, f.ok(f.mine.prism))
			same(t, f.holder(t, ""), nil)
		}},
		{"another account's idempotency key finds nothing", func(t *testing.T, f *fixture) {
			_, err := f.SaveResult(t.Context(), f.theirs.account, keyed(f.ok(f.theirs.prism), "a key"))
			succeeds(t, err)
			same(t, f.holder(t, "a key"), nil)
		}},
		{"a result is found with its prism", func(t *testing.T, f *fixture) {
			saved := f.save(t, f.ok(f.mine.prism))
			facts, err := f.ResultFacts(t.Context(), f.mine.digest, saved.Result.ID, store.WithInput)
			succeeds(t, err)
			same(t, *facts.Result, saved.Result)
			same(t, *facts.Prism, state(f.mine.prism))
			facts, err = f.ResultFacts(t.Context(), f.mine.digest, saved.Result.ID, store.WithoutInput)
			succeeds(t, err)
			same(t, *facts.Result, withoutInput(saved.Result))
		}},
		{"another account's result is not found", func(t *testing.T, f *fixture) {
			r := f.ok(f.theirs.prism)
			_, err := f.SaveResult(t.Context(), f.theirs.account, r)
			succeeds(t, err)
			facts, err := f.ResultFacts(t.Context(), f.mine.digest, r.ID, store.WithInput)
			succeeds(t, err)
			same(t, facts.Result, nil)
			same(t, facts.Prism, nil)
			same(t, facts.Caller.Account, f.mine.account)
		}},
		{"a call whose context has ended is an error", func(t *testing.T, f *fixture) {
			if _, err := f.ResultFacts(canceled(t), f.mine.digest, f.resultID(), store.WithInput); err == nil {
				t.Error("no error")
			}
			r := f.ok(f.mine.prism)
			if _, err := f.SaveResult(canceled(t), f.mine.account, r); err == nil {
				t.Error("no error")
			}
			same(t, f.stored(t, r.ID), nil)
		}},
		{"a store that is up answers a ping", func(t *testing.T, f *fixture) { succeeds(t, f.Ping(t.Context())) }},
	}
}

// createFacts looks up with the key of mine.
func (f *fixture) createFacts(t *testing.T, q contract.CreateQuery) store.CreateFacts {
	t.Helper()
	q.Key = f.mine.digest
	facts, err := f.CreateFacts(t.Context(), q)
	succeeds(t, err)
	return facts
}

func (f *fixture) noFacts(t *testing.T, digest contract.KeyDigest) {
	t.Helper()
	r := f.save(t, keyed(f.ok(f.mine.prism), "a key"))
	create, err := f.CreateFacts(t.Context(), contract.CreateQuery{
		Key: digest, Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: "a key",
	})
	succeeds(t, err)
	same(t, create, store.CreateFacts{})
	result, err := f.ResultFacts(t.Context(), digest, r.Result.ID, store.WithInput)
	succeeds(t, err)
	same(t, result, store.ResultFacts{})
	key, err := f.Authenticate(t.Context(), digest)
	succeeds(t, err)
	same(t, key, store.Caller{})
}
