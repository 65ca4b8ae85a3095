package storetest

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

func savingTests() []test {
	return []test{
		{"a result comes back as it was saved, with its prism", func(t *testing.T, f *fixture) {
			ref := "order 12"
			r := keyed(f.ok(f.mine.prism), "a key")
			r.Ref = &ref
			same(t, f.save(t, r), store.Saved{Result: r, Prism: state(f.mine.prism)})
			same(t, *f.stored(t, r.ID), r)
		}},
		{"a failed result comes back as it was saved", func(t *testing.T, f *fixture) {
			r := f.failed(f.mine.prism)
			same(t, f.save(t, r).Result, r)
			same(t, *f.stored(t, r.ID), r)
		}},
		// spec: unwritable-store
		{"a probe of writing leaves nothing", func(t *testing.T, f *fixture) {
			succeeds(t, f.ProbeWrite(t.Context()))
			succeeds(t, f.ProbeWrite(t.Context()))
			f.save(t, f.ok(f.mine.prism))
		}},
		{"an empty ref is not an absent one", func(t *testing.T, f *fixture) {
			empty := ""
			r := f.ok(f.mine.prism)
			r.Ref = &empty
			f.save(t, r)
			same(t, f.stored(t, r.ID).Ref, &empty)
		}},
		{"values of any characters and the greatest length are kept", func(t *testing.T, f *fixture) {
			ref := strings.Repeat("🙂", 200)
			r := keyed(f.failed(f.mine.prism), strings.Repeat("\"'`\\;--急", 20))
			r.Ref, r.Context, r.Error = &ref, long(), "It said “no”\r\n\t<&>\u2028"
			r.Fields = []prism.FieldValue{
				{Key: "zulu", Value: long()},
				{Key: "alpha", Value: "\x01\x1f\"\\/\b\f\n\r\t\u007f\u2028\u2029\ufeff\uffff <>&' $1 ?1 %s {}"},
				{Key: "mike", Value: ""},
			}
			same(t, f.save(t, r).Result, r)
			same(t, *f.stored(t, r.ID), r)
			f.holds(t, r.IdempotencyKey, r.ID)
		}},
		{"answers come back byte by byte", func(t *testing.T, f *fixture) {
			for _, answers := range []string{
				`{}`,
				`{"z":{"type":"yes_no","probability":1e-7},"a":{"type":"yes_no","probability":0.30000000000000004}}`,
				"{ \"b\" : 1.0,\n\t\"a\":1, \"b\":\"<>&\\u0041\\ud83d\\ude42🙂\" }",
				`{"long":"` + long() + `"}`,
			} {
				r := f.ok(f.mine.prism)
				r.Answers = []byte(answers)
				f.save(t, r)
				if got := string(f.stored(t, r.ID).Answers); got != answers {
					t.Errorf("got %.100s, want %.100s", got, answers)
				}
			}
		}},
		{"saving an id twice is one save and returns the first", func(t *testing.T, f *fixture) {
			first := f.save(t, keyed(f.ok(f.mine.prism), "a key"))
			again := first.Result
			again.TookMS, again.Context = 99, "another"
			same(t, f.save(t, again), first)
			same(t, f.count(t), 1)
		}},
		{"saving again shows the prism as it is now", func(t *testing.T, f *fixture) {
			first := f.save(t, f.ok(f.mine.prism))
			succeeds(t, f.PutLens(t.Context(), f.mine.account, f.mine.prism.ID, 1, lens("edited")))
			again := f.save(t, first.Result)
			same(t, again.Result, first.Result)
			same(t, again.Prism.Lens, stored(lens("edited")))
		}},
		{"an idempotency key belongs to one result of a prism", func(t *testing.T, f *fixture) {
			first := f.save(t, keyed(f.ok(f.mine.prism), "a key"))
			second := keyed(f.ok(f.mine.prism), "a key")
			_, err := f.SaveResult(t.Context(), f.mine.account, second)
			failsWith(t, err, contract.ErrKeyTaken)
			same(t, f.stored(t, second.ID), nil)
			f.holds(t, "a key", first.Result.ID)
		}},
		{"an idempotency key belongs to one result of all prisms", func(t *testing.T, f *fixture) {
			first := f.save(t, keyed(f.ok(f.mine.prism), "a key"))
			second := keyed(f.ok(f.addPrism(t, f.mine, "other")), "a key")
			_, err := f.SaveResult(t.Context(), f.mine.account, second)
			failsWith(t, err, contract.ErrKeyTaken)
			same(t, f.stored(t, second.ID), nil)
			f.holds(t, "a key", first.Result.ID)
		}},
		{"results without an idempotency key don't meet", func(t *testing.T, f *fixture) {
			for range 3 {
				f.save(t, f.ok(f.mine.prism))
			}
			same(t, f.count(t), 3)
		}},
		{"accounts may use the same ids and the same idempotency keys", func(t *testing.T, f *fixture) {
			mine := keyed(f.ok(f.mine.prism), "a key")
			theirs := mine
			theirs.Prism, theirs.Context = f.theirs.prism.ID, "theirs"
			f.save(t, mine)
			saved, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			same(t, saved.Result, theirs)
			same(t, *f.stored(t, mine.ID), mine)
		}},
		{"a result of what the account does not have is not saved", func(t *testing.T, f *fixture) {
			noVersion, noPrism, notMine := f.ok(f.mine.prism), f.ok(f.mine.prism), f.ok(f.theirs.prism)
			noVersion.Version, noPrism.Prism = 2, prism.PrismID{UUID: f.id()}
			for _, r := range []prism.Result{noVersion, noPrism, notMine} {
				for _, key := range []string{"", "a key"} {
					_, err := f.SaveResult(t.Context(), f.mine.account, keyed(r, key))
					failsWith(t, err, store.ErrNotFound)
					same(t, f.stored(t, r.ID), nil)
				}
			}
		}},
	}
}

func retryingTests() []test {
	return []test{
		{"a retry marks the old result and takes its idempotency key", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			r := f.ok(f.mine.prism)
			saved := f.retry(t, keyed(r, "ignored"), old)
			same(t, saved, store.Saved{Result: keyed(r, "a key"), Prism: state(f.mine.prism)})
			same(t, *f.stored(t, r.ID), keyed(r, "a key"))
			old.IdempotencyKey, old.RetriedBy = "", &r.ID
			same(t, *f.stored(t, old.ID), old)
			f.holds(t, "a key", r.ID)
			same(t, f.holder(t, "ignored"), nil)
		}},
		{"a retry of a result without an idempotency key has none", func(t *testing.T, f *fixture) {
			old := f.save(t, f.failed(f.mine.prism)).Result
			saved := f.retry(t, keyed(f.ok(f.mine.prism), "ignored"), old)
			same(t, saved.Result.IdempotencyKey, "")
			same(t, *f.stored(t, old.ID).RetriedBy, saved.Result.ID)
		}},
		{"saving a retry twice is one save and returns the first", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			first := f.retry(t, f.failed(f.mine.prism), old)
			again := first.Result
			again.TookMS = 99
			same(t, f.retry(t, again, old), first)
			same(t, f.count(t), 2)
		}},
		{"a second retry names the first and saves nothing", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			first := f.retry(t, f.ok(f.mine.prism), old).Result
			second := f.ok(f.mine.prism)
			_, err := f.SaveRetry(t.Context(), f.mine.account, second, old.ID)
			retriedBy(t, err, first.ID)
			same(t, f.stored(t, second.ID), nil)
			same(t, *f.stored(t, old.ID).RetriedBy, first.ID)
			f.holds(t, "a key", first.ID)
		}},
		{"a chain of retries moves the idempotency key to its end, and each link may be saved again", func(t *testing.T, f *fixture) {
			chain := []prism.Result{f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result}
			for range 4 {
				chain = append(chain, f.retry(t, f.failed(f.mine.prism), chain[len(chain)-1]).Result)
				f.holds(t, "a key", chain[len(chain)-1].ID)
			}
			same(t, f.save(t, chain[0]).Result, *f.stored(t, chain[0].ID))
			for i, r := range chain[1:] {
				same(t, f.retry(t, r, chain[i]).Result, *f.stored(t, r.ID))
			}
			f.holds(t, "a key", chain[4].ID)
			same(t, f.count(t), 5)
			_, err := f.SaveResult(t.Context(), f.mine.account, keyed(f.ok(f.mine.prism), "a key"))
			failsWith(t, err, contract.ErrKeyTaken)
		}},
		{"what is not a failed result of the account's prism version can't be retried", func(t *testing.T, f *fixture) {
			succeeded := f.save(t, keyed(f.ok(f.mine.prism), "a key")).Result
			theirs := f.failed(f.theirs.prism)
			_, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			ofOther := f.save(t, f.failed(f.addPrism(t, f.mine, "other"))).Result
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("l"))))
			second := f.failed(f.mine.prism)
			second.Version = 2
			f.save(t, second)
			for _, of := range []prism.ResultID{succeeded.ID, theirs.ID, ofOther.ID, second.ID, f.resultID()} {
				r := f.ok(f.mine.prism)
				_, err := f.SaveRetry(t.Context(), f.mine.account, r, of)
				failsWith(t, err, store.ErrNotFound)
				same(t, f.stored(t, r.ID), nil)
			}
			f.holds(t, "a key", succeeded.ID)
			same(t, f.stored(t, second.ID).RetriedBy, nil)
		}},
		{"a retry with the id of another result changes nothing", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			other := f.save(t, f.ok(f.mine.prism)).Result
			if _, err := f.SaveRetry(t.Context(), f.mine.account, other, old.ID); err == nil {
				t.Error("no error")
			}
			same(t, *f.stored(t, old.ID), old)
			same(t, *f.stored(t, other.ID), other)
		}},
	}
}
