package fair_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/fair"
)

// spec: fair-shares
func TestShares(t *testing.T) {
	t.Parallel()
	take := func(b *fair.Bound, account string, class fair.Class) (got int) {
		for b.Take(account, class) {
			got++
		}
		return got
	}
	for _, c := range []struct {
		name            string
		places, reserve int
		calls           []string // account:class:how many places it gets when it takes until it is refused
	}{
		{"an account alone gets all", 12, 0, []string{"a:preferred:12"}},
		{
			"the second gets half, the third a third, although the first holds all", 12, 0,
			[]string{"a:preferred:12", "b:preferred:6", "c:preferred:4"},
		},
		{
			"nobody gets more than twice the bound", 12, 0,
			[]string{"a:preferred:12", "b:preferred:6", "c:preferred:4", "d:preferred:2", "e:preferred:0"},
		},
		{
			"yielding calls leave the reserve to preferred calls of any account", 12, 4,
			[]string{"a:yielding:8", "a:preferred:4", "b:preferred:6"},
		},
		{"yielding calls of another account get their share", 12, 4, []string{"a:yielding:8", "b:yielding:4", "c:preferred:4"}},
		{"an account gets no more than it may, though places are left", 14, 0, []string{"a:preferred:13", "b:preferred:7"}},
		{"one place is shared, too", 1, 0, []string{"a:preferred:1", "b:preferred:1", "c:preferred:0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := fair.New(c.places, c.reserve).AtMost(13)
			for _, call := range c.calls {
				account, class := call[:1], fair.Preferred
				if strings.Contains(call, "yielding") {
					class = fair.Yielding
				}
				name := map[fair.Class]string{fair.Preferred: "preferred", fair.Yielding: "yielding"}[class]
				if got := fmt.Sprintf("%s:%s:%d", account, name, take(b, account, class)); got != call {
					t.Fatalf("%s, want %s", got, call)
				}
			}
		})
	}
}

// spec: fair-shares
func TestACallCountsForTheAccountThatIsFoundOut(t *testing.T) {
	t.Parallel()
	if got := fair.Account(t.Context()); got != "" {
		t.Errorf("got %q without an account", got)
	}
	fair.Identify(t.Context(), "nobody's call")
	b := fair.New(2, 0)
	for range 2 {
		if !b.Take("address", fair.Preferred) {
			t.Fatal("no place")
		}
		ctx := fair.With(t.Context(), "")
		fair.Hold(ctx, "address", b, nil)
		fair.Identify(ctx, "a")
		if got := fair.Account(ctx); got != "a" {
			t.Errorf("got %q", got)
		}
	}
	if b.Take("a", fair.Preferred) || !b.Take("address", fair.Preferred) {
		t.Error("the places do not count for the account")
	}
	b.Give("a")
	b.Give("a")
	b.Give("address")
	if n := b.Taken(); n != 0 {
		t.Errorf("%d places are left", n)
	}
}

// spec: response-budget
func TestCallsReserveBytesUntilTheyLeave(t *testing.T) {
	t.Parallel()
	places, bytes := fair.New(10, 0), fair.New(100, 0)
	begin := func(account string) context.Context {
		ctx := fair.With(t.Context(), "")
		if !places.Take(account, fair.Preferred) {
			t.Fatal("no place")
		}
		fair.Hold(ctx, account, places, bytes)
		return ctx
	}
	wantHeld := func(when string, want int) {
		t.Helper()
		if got := bytes.Taken(); got != want {
			t.Errorf("%s: %d bytes are held, want %d", when, got, want)
		}
	}
	first := begin("a")
	if !fair.Reserve(first, 1000, false) {
		t.Error("a response that is alone does not fit")
	}
	if !fair.Reserve(first, 1000, false) || !fair.Reserve(first, 10, false) {
		t.Error("bytes that are held do not fit")
	}
	wantHeld("more than fits", 1000)
	if !fair.Reserve(first, 2000, false) {
		t.Error("a response that is alone may not grow")
	}
	second := begin("b")
	if fair.Reserve(second, 1, false) {
		t.Error("a byte beyond twice the bound")
	}
	if !fair.Reserve(second, 7, true) {
		t.Error("what must be held is refused")
	}
	wantHeld("two calls", 2007)
	fair.Leave(first)
	wantHeld("one left", 7)
	third, fourth := begin("address"), begin("b")
	if !fair.Reserve(second, 99, false) || !fair.Reserve(fourth, 1, false) || fair.Reserve(second, 100, false) {
		t.Error("an account alone does not get the whole bound, and no more")
	}
	fair.Identify(third, "c")
	if !fair.Reserve(third, 50, false) || fair.Reserve(third, 51, false) || fair.Reserve(fourth, 2, false) {
		t.Error("the accounts do not share the bound")
	}
	fair.Identify(third, "b")
	if !fair.Reserve(begin("d"), 50, false) {
		t.Error("bytes do not count for the account that was found out")
	}
	for _, ctx := range []context.Context{first, second, third, fourth} {
		fair.Leave(ctx)
		fair.Leave(ctx)
		if !fair.Reserve(ctx, 1000, false) {
			t.Error("a call that has left is refused")
		}
	}
	wantHeld("all but one left", 50)
	if n := places.Taken(); n != 1 {
		t.Errorf("%d places are held", n)
	}
	if !fair.Reserve(t.Context(), 1<<40, false) {
		t.Error("a call that counts nowhere is refused")
	}
}

// Whatever is taken and given back, the bound keeps what the doc of the package says.
//
// spec: fair-shares
func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 20).Draw(t, "places")
		reserve := rapid.IntRange(0, places-1).Draw(t, "reserve")
		b, held, taken := fair.New(places, reserve), map[string]int{}, 0
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				account := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "account")
				class := rapid.SampledFrom([]fair.Class{fair.Preferred, fair.Yielding}).Draw(t, "class")
				soft := places
				if class == fair.Yielding {
					soft -= reserve
				}
				active := len(held)
				if held[account] == 0 {
					active++
				}
				below := held[account] < max(1, soft/active)
				got := b.Take(account, class)
				switch {
				case taken < soft && !got:
					t.Fatalf("refused while %d of %d places were taken", taken, soft)
				case taken >= soft && got && !below:
					t.Fatalf("%s got more than its share while the places were taken", account)
				case taken < soft+places && below && !got:
					t.Fatalf("%s was refused below its share", account)
				}
				if got {
					held[account]++
					taken++
				}
			},
			"give": func(t *rapid.T) {
				for account := range held {
					b.Give(account)
					taken--
					if held[account]--; held[account] == 0 {
						delete(held, account)
					}
					return
				}
				t.Skip("nothing is held")
			},
			"": func(t *rapid.T) {
				if b.Taken() != taken || taken > 2*places {
					t.Fatalf("%d places taken, the model says %d of at most %d", b.Taken(), taken, 2*places)
				}
			},
		})
	})
}
