package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

// racers is the number of concurrent calls: enough to contend on a small machine.
const racers = 12

func raceTests() []test {
	return []test{
		{"look-ups at once find what each of them asked for", func(t *testing.T, f *fixture) { f.lookUpAtOnce(t) }},
		{"saving one id at once is one save", func(t *testing.T, f *fixture) {
			for _, key := range []string{"", "a key"} {
				r := keyed(f.ok(f.mine.prism), key)
				for _, err := range together(racers, func(int) error {
					saved, err := f.SaveResult(t.Context(), f.mine.account, r)
					return errors.Join(err, differs(saved.Result, r))
				}) {
					succeeds(t, err)
				}
			}
			same(t, f.count(t), 2)
		}},
		{"of results with some idempotency keys at once each key has one, and results without are all saved", func(t *testing.T, f *fixture) {
			f.saveAtOnce(t)
		}},
		{"a result that can't be saved stops none that is saved at once", func(t *testing.T, f *fixture) {
			for n, err := range together(4*racers, func(n int) error {
				r := f.ok(f.mine.prism)
				if n%racers == 0 {
					r.Status = "neither"
				}
				saved, err := f.SaveResult(t.Context(), f.mine.account, r)
				if n%racers == 0 && err == nil {
					return errors.New("it is saved")
				} else if n%racers == 0 {
					return nil
				}
				return errors.Join(err, differs(saved.Result, r))
			}) {
				if err != nil {
					t.Errorf("%d: %v", n, err)
				}
			}
			same(t, f.count(t), 4*racers-4)
		}},
		{"of results with one idempotency key at once exactly one is saved", func(t *testing.T, f *fixture) {
			f.raceForKey(t, func(int) prism.Prism { return f.mine.prism })
		}},
		{"of results of different prisms with one idempotency key at once exactly one is saved", func(t *testing.T, f *fixture) {
			prisms := make([]prism.Prism, racers)
			for i := range prisms {
				prisms[i] = f.addPrism(t, f.mine, fmt.Sprintf("prism-%d", i))
			}
			f.raceForKey(t, func(i int) prism.Prism { return prisms[i] })
		}},
		{"of retries at once exactly one is saved, and the others name it", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			f.raceToRetry(t, old)
		}},
		{"a chain of races to retry keeps the idempotency key at its end", func(t *testing.T, f *fixture) {
			last := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			for range 5 {
				last = f.raceToRetry(t, last)
			}
			same(t, f.count(t), 6)
		}},
		{"saving one retry at once is one save", func(t *testing.T, f *fixture) {
			for range 3 {
				old := f.save(t, f.failed(f.mine.prism)).Result
				r := f.ok(f.mine.prism)
				for _, err := range together(racers, func(int) error {
					saved, err := f.SaveRetry(t.Context(), f.mine.account, r, old.ID)
					return errors.Join(err, differs(saved.Result, r))
				}) {
					succeeds(t, err)
				}
			}
			same(t, f.count(t), 6)
		}},
		{"first saves sent again, other results of the key and retries at once agree", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			retries := make([]prism.Result, racers)
			errs := together(racers, func(i int) error {
				switch i % 3 {
				case 0: // a save whose answer was lost
					saved, err := f.SaveResult(t.Context(), f.mine.account, old)
					if err == nil && saved.Result.ID != old.ID {
						err = errors.New("another result was returned")
					}
					return err
				case 1: // a call that did not see the key
					_, err := f.SaveResult(t.Context(), f.mine.account, keyed(f.ok(f.mine.prism), "a key"))
					if !errors.Is(err, contract.ErrKeyTaken) {
						return errors.Join(errors.New("the key is not taken"), err)
					}
					return nil
				default:
					retries[i] = f.ok(f.mine.prism)
					_, err := f.SaveRetry(t.Context(), f.mine.account, retries[i], old.ID)
					return err
				}
			})
			var retried []error
			for i, err := range errs {
				if i%3 == 2 {
					retried = append(retried, err)
					continue
				}
				succeeds(t, err)
			}
			won := retries[winner(t, retried, isRetried)*3+2]
			f.holds(t, "a key", won.ID)
			same(t, f.count(t), 2)
		}},
		{"versions added at once follow each other without a gap", func(t *testing.T, f *fixture) {
			errs := together(racers, func(int) error { return f.addNext(t) })
			for _, err := range errs {
				succeeds(t, err)
			}
			p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{Slug: "triage"})
			succeeds(t, err)
			same(t, p.Latest.Number, racers+1)
			for n := range int32(racers + 1) {
				_, err := f.Version(t.Context(), f.mine.account, p.ID, n+1)
				succeeds(t, err)
			}
			same(t, p.Lens, lens(fmt.Sprintf("version-%d", racers+1))) // the Lens is that of the version that won
		}},
		// spec: archive-and-unarchive
		{"archiving and unarchiving at once each return what they stored", func(t *testing.T, f *fixture) {
			for n, err := range together(30, func(n int) error {
				at := moment(n)
				change := &at
				if n%2 == 0 {
					change = nil
				}
				stored, err := f.SetArchived(t.Context(), f.mine.account, f.mine.prism.ID, change)
				if err == nil && (stored == nil) != (change == nil) {
					return errors.New("it contradicts its call")
				}
				return err
			}) {
				if err != nil {
					t.Errorf("%d: %v", n, err)
				}
			}
		}},
		{"of prisms with one slug at once exactly one is made", func(t *testing.T, f *fixture) {
			made := make([]prism.Prism, racers)
			errs := together(racers, func(i int) error {
				made[i] = f.newPrism("contended")
				return f.CreatePrism(t.Context(), f.mine.account, made[i])
			})
			won := made[winner(t, errs, is(store.ErrSlugTaken))]
			got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{Slug: "contended"})
			succeeds(t, err)
			same(t, got, won)
		}},
		{"of accounts with one name at once exactly one is made", func(t *testing.T, f *fixture) {
			ids := make([]prism.AccountID, racers)
			errs := together(racers, func(i int) error {
				ids[i] = prism.AccountID{UUID: f.id()}
				return f.CreateAccount(t.Context(), ids[i], "contended", moment(0))
			})
			won := ids[winner(t, errs, is(store.ErrNameTaken))]
			got, err := f.AccountByName(t.Context(), "contended")
			succeeds(t, err)
			same(t, got, won)
		}},
		{"keys revoked at once have one time", func(t *testing.T, f *fixture) {
			keys := make([]keys.APIKey, racers)
			for _, err := range together(racers, func(i int) (err error) {
				keys[i], err = f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, moment(100+i))
				return err
			}) {
				succeeds(t, err)
			}
			for _, k := range keys {
				same(t, k, keys[0])
			}
		}},
		{"keys touched at once in any order end with the latest times", func(t *testing.T, f *fixture) {
			used := make([]prism.KeyID, 20)
			for i := range used {
				used[i] = prism.KeyID{UUID: f.id()}
				k := keys.APIKey{ID: used[i], CreatedAt: moment(i)}
				succeeds(t, f.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{30: 7, 31: byte(i)}))
			}
			for _, err := range together(racers, func(i int) error {
				times := map[prism.KeyID]time.Time{}
				for _, id := range used {
					times[id] = moment(1000 + i)
				}
				return f.TouchKeys(t.Context(), times)
			}) {
				succeeds(t, err)
			}
			keys, _, err := f.ListKeys(t.Context(), f.mine.account, store.Page{Limit: 100})
			succeeds(t, err)
			for _, k := range keys {
				if slices.Contains(used, k.ID) {
					same(t, *k.LastUsedAt, moment(1000+racers-1))
				}
			}
		}},
	}
}

// lookUpAtOnce looks up concurrently for many accounts that differ only in their ids.
func (f *fixture) lookUpAtOnce(t *testing.T) {
	t.Helper()
	tenants := make([]tenant, racers)
	results := make([]prism.Result, racers)
	for i := range tenants {
		tenants[i] = f.tenant(t, string(rune('A'+i)))
		results[i] = keyed(f.ok(tenants[i].prism), "a key")
		_, err := f.SaveResult(t.Context(), tenants[i].account, results[i])
		succeeds(t, err)
	}
	for _, err := range together(4*racers, func(n int) error {
		mine := tenants[n%racers]
		who := store.Caller{Account: mine.account, Key: mine.keyID, Role: prism.Editor}
		for i := range racers {
			other := (n + i) % racers // is mine once
			found, err := f.ResultFacts(t.Context(), mine.digest, results[other].ID, store.WithInput)
			if err != nil || found.Caller != who || (found.Result != nil) != (i == 0) {
				return fmt.Errorf("%d looks for %d: got %+v, %w", n, other, found, err)
			}
			nobody, err := f.ResultFacts(t.Context(), contract.KeyDigest{31: byte(n)}, results[other].ID, store.WithInput)
			if err != nil || nobody != (store.ResultFacts{}) {
				return fmt.Errorf("nobody looks for %d: got %+v, %w", other, nobody, err)
			}
			facts, err := f.CreateFacts(t.Context(), contract.CreateQuery{
				Key: mine.digest, Prism: prism.Ref{ID: tenants[other].prism.ID}, IdempotencyKey: "a key",
			})
			if err != nil || facts.Caller != who || (facts.Prism != nil) != (i == 0) || facts.Stored.ID != results[n%racers].ID {
				return fmt.Errorf("%d looks for prism %d: got %+v, %w", n, other, facts, err)
			}
		}
		return nil
	}) {
		succeeds(t, err)
	}
}

// saveAtOnce saves concurrently for two accounts: results without a key, and results of which each key takes one.
func (f *fixture) saveAtOnce(t *testing.T) {
	t.Helper()
	tenants := []tenant{f.mine, f.theirs}
	var mu sync.Mutex
	won := map[string]prism.ResultID{}
	for _, err := range together(4*racers, func(n int) error {
		who := tenants[n%2]
		for i := range racers {
			r := f.ok(who.prism)
			r.Context = fmt.Sprintf("%d of %d", i, n)
			saved, err := f.SaveResult(t.Context(), who.account, r)
			if err := errors.Join(err, differs(saved.Result, r)); err != nil {
				return err
			}
			key := fmt.Sprint((n/2 + i*5) % racers) // each in an order of its own
			r = keyed(f.ok(who.prism), key)
			saved, err = f.SaveResult(t.Context(), who.account, r)
			if errors.Is(err, contract.ErrKeyTaken) {
				continue
			} else if err := errors.Join(err, differs(saved.Result, r)); err != nil {
				return err
			}
			mu.Lock()
			if id, taken := won[who.account.String()+key]; taken {
				err = fmt.Errorf("%s and %s have both got the key %s", id, r.ID, key)
			}
			won[who.account.String()+key] = r.ID
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	}) {
		succeeds(t, err)
	}
	same(t, len(won), 2*racers)
	for i := range racers {
		f.holds(t, fmt.Sprint(i), won[f.mine.account.String()+fmt.Sprint(i)])
	}
	same(t, f.count(t), 2*racers*racers+racers)
}

func (f *fixture) raceForKey(t *testing.T, of func(i int) prism.Prism) {
	t.Helper()
	results := make([]prism.Result, racers)
	errs := together(racers, func(i int) error {
		results[i] = keyed(f.ok(of(i)), "a key")
		_, err := f.SaveResult(t.Context(), f.mine.account, results[i])
		return err
	})
	won := winner(t, errs, is(contract.ErrKeyTaken))
	f.holds(t, "a key", results[won].ID)
	same(t, f.count(t), 1)
}

// raceToRetry retries old concurrently and returns the failed result that won, which holds "a key".
func (f *fixture) raceToRetry(t *testing.T, old prism.Result) prism.Result {
	t.Helper()
	results := make([]prism.Result, racers)
	errs := together(racers, func(i int) error {
		results[i] = f.failed(f.mine.prism)
		_, err := f.SaveRetry(t.Context(), f.mine.account, results[i], old.ID)
		return err
	})
	won := results[winner(t, errs, isRetried)]
	for i, err := range errs {
		if err != nil {
			retriedBy(t, err, won.ID)
			same(t, f.stored(t, results[i].ID), nil)
		}
	}
	same(t, *f.stored(t, old.ID).RetriedBy, won.ID)
	same(t, f.stored(t, old.ID).IdempotencyKey, "")
	f.holds(t, "a key", won.ID)
	return won
}

// addNext adds a version as callers do: based on the latest, and again if another version was added first.
func (f *fixture) addNext(t *testing.T) error {
	t.Helper()
	for {
		p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
		if err != nil {
			return err
		}
		next := p.Latest.Number + 1
		err = f.AddVersion(t.Context(), f.mine.account, changed(p.ID, next, lens(fmt.Sprintf("version-%d", next))))
		if !errors.Is(err, store.ErrStale) {
			return err
		}
	}
}

func isRetried(err error) bool {
	_, ok := errors.AsType[*store.RetriedError](err)
	return ok
}

func retriedBy(t *testing.T, err error, want prism.ResultID) {
	t.Helper()
	retried, ok := errors.AsType[*store.RetriedError](err)
	if !ok || retried.By != want {
		t.Errorf("got error %#v, want one that names %s", err, want)
	}
}
