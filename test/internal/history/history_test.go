package history_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/internal/history"
)

// book writes a history down: each call lasts from one tick to another.
type book struct{ calls []history.Call }

func (b *book) add(from, to int, c history.Call) *book {
	c.Client, c.Began, c.Ended = len(b.calls), time.Duration(from)*time.Second, time.Duration(to)*time.Second
	b.calls = append(b.calls, c)
	return b
}

func (b *book) create(from, to int, prism, ref string, a history.Response) *book {
	return b.add(from, to, history.Call{Kind: history.Create, Keyed: true, Prism: prism, Ref: ref, Response: a})
}

func (b *book) unkeyed(from, to int, ref string, a history.Response) *book {
	return b.add(from, to, history.Call{Kind: history.Create, Prism: "a", Ref: ref, Response: a})
}

func (b *book) retry(from, to int, id string, a history.Response) *book {
	return b.add(from, to, history.Call{Kind: history.Retry, Target: id, Response: a})
}

func (b *book) read(from, to int, id string, a history.Response) *book {
	return b.add(from, to, history.Call{Kind: history.Read, Target: id, Response: a})
}

// is and failed are results of prism a that began as ref "one".
func is(id string) history.Response { return answer(id, history.OK, "one") }

func failed(id string) history.Response { return answer(id, history.Failed, "one") }

func answer(id string, status history.Status, ref string) history.Response {
	return history.Response{Meaning: history.Result, ID: id, Status: status, Prism: "a", Ref: ref}
}

func retriedAs(id string) history.Response { return history.Response{Meaning: history.Retried, By: id} }

var (
	unknown    = history.Response{Meaning: history.Unknown}
	nothing    = history.Response{Meaning: history.Nothing}
	otherPrism = history.Response{Meaning: history.OtherPrism}
	succeeded  = history.Response{Meaning: history.Succeeded}
	notFound   = history.Response{Meaning: history.NotFound}
)

func TestHistoriesThatTheContractAllowsAreExplained(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*book{
		"a repeat is told the stored result":            (&book{}).create(0, 1, "a", "one", is("1")).create(2, 3, "a", "two", is("1")),
		"repeats at once are told one result":           (&book{}).create(0, 9, "a", "one", is("1")).create(1, 8, "a", "two", is("1")),
		"a repeat of a failed result retries it":        (&book{}).create(0, 1, "a", "one", failed("1")).create(2, 3, "a", "two", is("2")).read(4, 5, "1", failed("1")),
		"a key of another prism is refused":             (&book{}).create(0, 1, "a", "one", is("1")).create(2, 3, "b", "two", otherPrism),
		"the later of two prisms at once may win":       (&book{}).create(0, 9, "b", "two", otherPrism).create(1, 8, "a", "one", is("1")),
		"the second retry is told the first":            (&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 9, "1", is("2")).retry(3, 9, "1", retriedAs("2")),
		"a keyed repeat and a retry are the same race":  (&book{}).create(0, 1, "a", "one", failed("1")).create(2, 9, "a", "two", is("2")).retry(3, 9, "1", retriedAs("2")),
		"an ok result is not retried":                   (&book{}).unkeyed(0, 1, "one", is("1")).retry(2, 3, "1", succeeded),
		"what was refused with the 503 did nothing":     (&book{}).create(0, 1, "a", "zero", nothing).create(2, 3, "a", "one", is("1")),
		"a lost create never happened":                  (&book{}).create(0, 1, "a", "zero", unknown).create(2, 3, "a", "one", is("1")),
		"a lost create happened":                        (&book{}).create(0, 1, "a", "one", unknown).create(2, 3, "a", "two", is("1")).read(4, 5, "1", is("1")),
		"a lost create happens late":                    (&book{}).create(0, 1, "a", "one", unknown).create(2, 9, "a", "two", is("1")).create(10, 11, "b", "three", otherPrism),
		"a lost create failed and was retried":          (&book{}).create(0, 1, "a", "one", unknown).create(2, 3, "a", "two", is("2")).create(4, 5, "a", "three", is("2")),
		"a lost retry shows in a later one":             (&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", unknown).retry(4, 5, "1", retriedAs("2")).read(6, 7, "2", is("2")),
		"a lost retry of a key shows in a repeat":       (&book{}).create(0, 1, "a", "one", failed("1")).retry(2, 3, "1", unknown).create(4, 5, "a", "two", is("3")).retry(6, 7, "1", retriedAs("2")),
		"lost calls of both prisms: one of them it was": (&book{}).create(0, 1, "a", "one", unknown).create(0, 1, "b", "two", unknown).create(2, 3, "b", "three", otherPrism).create(4, 5, "a", "four", is("1")),
		"reads that were lost say nothing":              (&book{}).create(0, 1, "a", "one", is("1")).read(2, 3, "1", unknown).read(2, 3, "1", nothing),
	} {
		if found := history.Check([]history.Race{{Name: name, Calls: b.calls}}); len(found) != 0 {
			t.Errorf("%s: %s", name, found[0])
		}
	}
}

// bad are histories that break a promise, and how many of their calls are enough to see it.
var bad = map[string]struct {
	*book
	enough int
}{
	"a key was answered by two results":           {(&book{}).create(0, 1, "a", "one", is("1")).create(2, 3, "a", "two", answer("2", history.OK, "two")), 2},
	"two creates at once saved twice":             {(&book{}).create(0, 9, "a", "one", is("1")).create(0, 9, "a", "two", answer("2", history.OK, "two")), 2},
	"one create saved under two ids":              {(&book{}).create(0, 9, "a", "one", is("1")).create(1, 8, "a", "two", is("2")), 2},
	"a saved result was lost":                     {(&book{}).create(0, 1, "a", "one", is("1")).read(2, 3, "1", notFound), 2},
	"a saved result was lost and the key is new":  {(&book{}).create(0, 1, "a", "one", failed("1")).create(2, 3, "a", "two", answer("2", history.OK, "two")), 2},
	"a key serves two prisms":                     {(&book{}).create(0, 1, "a", "one", is("1")).create(2, 3, "b", "two", history.Response{Meaning: history.Result, ID: "2", Status: history.OK, Prism: "b", Ref: "two"}), 2},
	"a key is refused that nobody used":           {(&book{}).create(0, 1, "a", "one", otherPrism), 1},
	"a key is refused to its own prism":           {(&book{}).create(0, 1, "a", "one", is("1")).create(2, 3, "a", "two", otherPrism), 2},
	"two retries of one result won":               {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 9, "1", is("2")).retry(3, 9, "1", is("3")), 3},
	"a repeat and a retry of one result won":      {(&book{}).create(0, 1, "a", "one", failed("1")).create(2, 9, "a", "two", is("2")).retry(3, 9, "1", is("3")), 3},
	"the 409 names a result that did not do it":   {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", is("2")).retry(4, 5, "1", retriedAs("3")), 3},
	"the 409 names the end of the chain":          {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", failed("2")).retry(4, 5, "2", is("3")).retry(6, 7, "1", retriedAs("3")), 4},
	"an ok result was retried":                    {(&book{}).unkeyed(0, 1, "one", is("1")).retry(2, 3, "1", is("2")), 2},
	"a retry is refused before anybody retried":   {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", retriedAs("2")), 2},
	"a failed result counts as ok":                {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", succeeded), 2},
	"a read after the answer does not find it":    {(&book{}).unkeyed(0, 1, "one", is("1")).read(2, 3, "1", notFound), 2},
	"a read shows another status":                 {(&book{}).unkeyed(0, 1, "one", is("1")).read(2, 3, "1", failed("1")), 2},
	"a failed result changed by being retried":    {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", is("2")).read(4, 5, "1", is("1")), 3},
	"a repeat is told a failed result again":      {(&book{}).create(0, 1, "a", "one", failed("1")).create(2, 3, "a", "two", failed("1")), 2},
	"a stale answer after a newer one":            {(&book{}).create(0, 1, "a", "one", failed("1")).create(2, 3, "a", "two", is("2")).create(4, 5, "a", "three", is("1")), 3},
	"a retry forgets the ref":                     {(&book{}).unkeyed(0, 1, "one", failed("1")).retry(2, 3, "1", answer("2", history.OK, "two")), 2},
	"the 503 took something after all":            {(&book{}).create(0, 1, "a", "one", nothing).create(2, 3, "a", "two", is("1")), 1},
	"one lost retry does not explain two results": {(&book{}).create(0, 1, "a", "one", failed("1")).retry(2, 3, "1", unknown).retry(4, 5, "1", retriedAs("2")).create(6, 7, "a", "two", is("4")).retry(8, 9, "2", retriedAs("3")), 4},
}

func TestHistoriesThatBreakAPromiseAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, b := range bad {
		found := history.Check([]history.Race{{Name: name, Calls: b.calls}})
		if len(found) != 1 || found[0].Undecided {
			t.Errorf("%s: not found", name)
			continue
		}
		path, err := found[0].Picture(dir)
		if err != nil {
			t.Fatal(err)
		}
		if page, err := os.ReadFile(path); err != nil || !strings.Contains(string(page), "<html") {
			t.Errorf("%s: no picture: %v", name, err)
		}
	}
}

func TestAViolationIsShownByTheCallsThatAreEnough(t *testing.T) {
	t.Parallel()
	for name, b := range bad {
		// Calls before, at the same time and after that have nothing to do with it.
		noise := &book{calls: append([]history.Call(nil), b.calls...)}
		for i := range 6 {
			noise.read(20+i, 21+i, b.calls[0].Response.ID, unknown).create(20+i, 22+i, "a", "noise", nothing)
		}
		found := history.Check([]history.Race{{Name: name, Calls: noise.calls}})
		if len(found) != 1 {
			t.Errorf("%s: not found", name)
			continue
		}
		if n := len(found[0].Shortest); n != b.enough {
			t.Errorf("%d calls are shown, not %d: %s", n, b.enough, found[0])
		}
	}
}

// The order of repeats at once that all failed is known only from what retries of their results are told afterwards.
func TestManyFailedRepeatsAtOnceAreDecidedQuickly(t *testing.T) {
	t.Parallel()
	const n = 24
	id := func(i int) string { return fmt.Sprint("id-", i) }
	crowd := func() *book {
		b := &book{}
		for i := range n {
			a := failed(id(i))
			if i%5 == 4 {
				a = unknown
			}
			b.create(i, 100, "a", map[bool]string{true: "one", false: "more"}[i == 0], a)
		}
		for i := range n - 1 {
			b.retry(200, 201, id(i), retriedAs(id(i+1)))
		}
		return b
	}
	began := time.Now()
	if found := history.Check([]history.Race{{Name: "crowd", Calls: crowd().calls}}); len(found) != 0 {
		t.Errorf("%s", found[0])
	}
	b := crowd().retry(202, 203, id(3), retriedAs(id(7)))
	if found := history.Check([]history.Race{{Name: "crowd", Calls: b.calls}}); len(found) != 1 || found[0].Undecided {
		t.Error("a result that was retried twice is not found")
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestAViolationIsReadable(t *testing.T) {
	t.Parallel()
	b := (&book{}).create(0, 1, "a", "one", is("0-1")).create(2, 3, "a", "two", answer("0-2", history.OK, "two"))
	got := history.Check([]history.Race{{Name: "race 7", Calls: b.calls}})[0].String()
	want := `race 7: no order explains these 2 of its 2 calls:
  0.000000 s  1.000000 s  client 0  create a with the key as one  → …1, ok, prism a, ref one
  2.000000 s  3.000000 s  client 1  create a with the key as two  → …2, ok, prism a, ref two
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
