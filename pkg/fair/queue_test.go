package fair_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/fair"
)

// spec: fair-shares
func TestWhoGetsAPlaceOfAQueue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		places, reserve int
		calls           []string // in the order in which they come: account, and + for a preferred one
		want            string   // the accounts in the order in which they get a place
	}{
		{"accounts take turns", 1, 0, []string{"a", "a", "a", "a", "b", "b", "c"}, "abcabaa"},
		{"an account alone gets all", 3, 0, []string{"a", "a", "a", "a"}, "aaaa"},
		{"the account with the fewest places is first", 3, 0, []string{"a", "a", "a", "a", "a", "b", "b"}, "aaababa"},
		{"yielding calls leave the reserve to preferred calls", 3, 1, []string{"a", "a", "a", "b+", "c+"}, "aabca"},
		{"preferred calls of an account are before its others", 1, 0, []string{"a", "a", "a+", "b"}, "abaa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := fair.NewQueue(c.places, c.reserve)
				var mu sync.Mutex
				var calls sync.WaitGroup
				got := ""
				for i, call := range c.calls {
					class := fair.Yielding
					if len(call) > 1 {
						class = fair.Preferred
					}
					calls.Go(func() {
						if err := q.Take(t.Context(), call[:1], class); err != nil {
							t.Error(err)
						}
						mu.Lock()
						got += call[:1]
						mu.Unlock()
						<-time.After(time.Hour + time.Duration(i)*time.Minute) // of the bubble's clock
						q.Give(call[:1])
					})
					synctest.Wait()
				}
				calls.Wait()
				if got != c.want {
					t.Errorf("served %s, want %s", got, c.want)
				}
				if q.Taken() != 0 || q.Waiting() != 0 {
					t.Errorf("%d places are held, and %d calls wait", q.Taken(), q.Waiting())
				}
			})
		})
	}
}

// Accounts that come again and again do not keep one waiting whose turn was before they came.
//
// spec: fair-shares
func TestAnAccountThatWaitsIsBeforeTheOnesThatComeLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := fair.NewQueue(1, 0)
		served := make(chan string, 1)
		take := func(account string) {
			go func() {
				if q.Take(t.Context(), account, fair.Yielding) == nil {
					served <- account
				}
			}()
			synctest.Wait()
		}
		order := ""
		give := func() {
			account := <-served
			order += account
			q.Give(account)
			synctest.Wait()
		}
		for _, account := range []string{"a", "a", "b", "c"} {
			take(account)
		}
		for _, account := range []string{"d", "e", "f"} { // one comes whenever one leaves
			give()
			take(account)
		}
		for range 4 {
			give()
		}
		if want := "abcadef"; order != want {
			t.Errorf("served %s, want %s", order, want)
		}
	})
}

// spec: fair-shares
func TestWhoStopsWaitingLeavesTheQueue(t *testing.T) {
	t.Parallel()
	q := fair.NewQueue(1, 0)
	if !q.TryTake("a", fair.Yielding) || q.TryTake("b", fair.Preferred) {
		t.Fatal("one place was not taken once")
	}
	for _, account := range []string{"a", "b"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.Take(ctx, account, fair.Preferred); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", account, err)
		}
	}
	if q.Waiting() != 0 {
		t.Errorf("%d calls wait", q.Waiting())
	}
	q.Give("a")
	if q.Taken() != 0 || !q.TryTake("b", fair.Yielding) {
		t.Error("the place was given to a call that had left")
	}
}

// spec: fair-shares
func TestACallYieldsToOtherAccountsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := fair.NewQueue(1, 0)
		order := make(chan string, 10)
		call := func(account, name string, yields int) {
			go func() {
				if err := q.Take(t.Context(), account, fair.Yielding); err != nil {
					t.Error(err)
				}
				for range yields {
					<-time.After(time.Second)
					order <- name
					if err := q.Yield(t.Context(), account, fair.Yielding); err != nil {
						t.Error(err)
					}
				}
				q.Give(account)
			}()
			synctest.Wait()
		}
		call("a", "a1", 3)
		call("a", "a2", 1)
		call("b", "b1", 2)
		<-time.After(time.Minute)
		got := ""
		for range 6 {
			got += <-order + ","
		}
		// a1 yields to b1, b1 to the account a, whose call that waits longest is a2.
		if want := "a1,b1,a2,b1,a1,a1,"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestACallThatCannotWaitToYieldHasItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := fair.NewQueue(1, 0)
		if !q.TryTake("a", fair.Yielding) {
			t.Fatal("no place")
		}
		go func() {
			if err := q.Take(t.Context(), "b", fair.Yielding); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Yield(ctx, "a", fair.Yielding); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if q.Taken() != 2 {
			t.Errorf("%d places are held", q.Taken())
		}
		q.Give("b")
		if q.TryTake("c", fair.Preferred) {
			t.Error("a place beyond the bound was lent again")
		}
		q.Give("a")
		if q.Taken() != 0 {
			t.Errorf("%d places are held", q.Taken())
		}
	})
}

// Whatever is taken, waited for and given back, a queue lends its places and no more, and lets nobody wait for a free one.
//
// spec: fair-shares
func TestPropertiesOfAQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 6).Draw(t, "places")
		reserve := rapid.IntRange(0, places-1).Draw(t, "reserve")
		q := fair.NewQueue(places, reserve)
		ctx, stop := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		defer calls.Wait()
		defer stop()
		var mu sync.Mutex
		held, most := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			account := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "account")
			class := rapid.SampledFrom([]fair.Class{fair.Preferred, fair.Yielding}).Draw(t, "class")
			patient := rapid.Bool().Draw(t, "patient")
			calls.Go(func() {
				ctx := ctx
				if !patient {
					short, cancel := context.WithTimeout(ctx, time.Microsecond)
					defer cancel()
					ctx = short
				}
				if q.Take(ctx, account, class) != nil {
					return
				}
				mu.Lock()
				held++
				most = max(most, held)
				mu.Unlock()
				mu.Lock()
				held--
				mu.Unlock()
				q.Give(account)
			})
		}
		calls.Wait() // a call that waits for ever would hang here
		if most > places || q.Taken() != 0 || q.Waiting() != 0 {
			t.Fatalf("%d places of %d were held; %d are left, and %d calls wait", most, places, q.Taken(), q.Waiting())
		}
	})
}
