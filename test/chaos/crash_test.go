package chaos

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// In the tests of this file a process kills itself at a step of a call (pkg/crash). The tests check what is left:
//
//	step           the model was   saved                               the lock on the key or the result
//	before-lock    not asked       nothing                             not taken
//	after-lock     not asked       nothing                             held until its lease ends
//	before-model   not asked       nothing                             held until its lease ends
//	after-model    asked once      nothing                             held until its lease ends
//	before-commit  asked once      nothing                             the gateway's, which lives
//	in-commit      asked once      SQLite: nothing; Postgres: perhaps  the gateway's, which lives
//	after-commit   asked once      the result, without a response      the gateway's, which lives
//
// A gateway that lives sends an unconfirmed save again, so its caller gets one result. When all of Prism is one process, the
// locks die with the process. In each case the next caller succeeds: with the saved result if there is one, and with one
// model call otherwise.

// kind is a call that can reach a step.
type kind struct {
	name   string
	keyed  bool // it has an idempotency key
	failed bool // there is a failed result, which it retries
}

var kinds = []kind{
	{name: "a first call with a key", keyed: true},
	{name: "a first call without a key"},
	{name: "a retry of a failed result", failed: true},
	{name: "a keyed repeat of a failed result", keyed: true, failed: true},
}

// races tells whether such a call takes a lock, because other calls can race with it.
func (k kind) races() bool { return k.keyed || k.failed }

// retries tells whether the call is a retry.
func (k kind) retries() bool { return k.failed && !k.keyed }

// possible are the kinds of calls that reach a step. A call without a key takes no lock.
func possible(at crash.Point) (some []kind) {
	for _, k := range kinds {
		if k.races() || at != crash.BeforeLock && at != crash.AfterLock {
			some = append(some, k)
		}
	}
	return some
}

// left is what a step leaves behind.
type left struct {
	asked     int // model calls
	min, most int // results
}

var nothingAsked = left{}

const (
	// goesOn is the promised time from the kill to the response of the next caller.
	goesOn = 6 * time.Second
	// caseBudget bounds one case, with the wait for other cases of its stage, on a machine of any load.
	caseBudget = 10 * time.Minute
	// toDie bounds the time from the call to its step, on a machine of any load.
	toDie = 3 * time.Minute
)

// spec: retry-of-a-dead-process
func TestAGatewayThatDiesAtAStepLeavesNothingInTheWay(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Flags: armable, Forgetful: true})
	st := newStage(t, s.Model, s)
	st.victim, st.at, st.next = s.Gateways[0], s.Gateways[0].Listen, s.Gateways[1].Listen
	st.prism(t)
	afterModel := left{asked: 1}
	st.plan(map[crash.Point]left{
		crash.BeforeLock:  nothingAsked,
		crash.AfterLock:   nothingAsked,
		crash.BeforeModel: nothingAsked,
		crash.AfterModel:  afterModel,
	})
	st.runAtOnce(t)
	report(t, s.Problems())
}

func TestResultsThatDiesAtAStepCostsTheCallerNothing(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Flags: armable, Forgetful: true})
	// Otherwise this service would take the save.
	if err := s.Results[1].Kill(); err != nil {
		t.Fatal(err)
	}
	st := newStage(t, s.Model, s)
	st.victim, st.at, st.next, st.answers = s.Results[0], s.Gateways[0].Listen, s.Gateways[1].Listen, true
	st.prism(t)
	saved := left{asked: 1, min: 1, most: 1}
	st.plan(map[crash.Point]left{crash.BeforeCommit: saved, crash.InCommit: saved, crash.AfterCommit: saved})
	st.runInTurn(t)
	report(t, s.Problems())
}

func TestAStandalonePrismThatDiesAtAStepGoesOnFromItsFiles(t *testing.T) {
	t.Parallel()
	st := standalone(t, false)
	st.plan(map[crash.Point]left{
		crash.BeforeLock:   nothingAsked,
		crash.AfterLock:    nothingAsked,
		crash.BeforeModel:  nothingAsked,
		crash.AfterModel:   {asked: 1},
		crash.BeforeCommit: {asked: 1},
		crash.InCommit:     {asked: 1},
		crash.AfterCommit:  {asked: 1, min: 1, most: 1},
	})
	st.runInTurn(t)
}

func TestAStandalonePrismThatDiesAtAStepGoesOnFromPostgres(t *testing.T) {
	t.Parallel()
	st := standalone(t, true)
	st.plan(map[crash.Point]left{
		crash.BeforeCommit: {asked: 1},
		crash.InCommit:     {asked: 1, most: 1},
		crash.AfterCommit:  {asked: 1, min: 1, most: 1},
	})
	st.runInTurn(t)
}

func standalone(t *testing.T, postgres bool) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	s, err := system.NewStandalone(ctx, armable, upstream.Config{}, t.TempDir(), postgres)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report(t, append(s.Problems(), s.Close()))
	})
	st := newStage(t, s.Model, s)
	st.victim, st.at, st.next = s.Part, s.Listen, s.Listen
	st.prism(t)
	return st
}

// report fails the test for each error.
func report(t *testing.T, problems []error) {
	t.Helper()
	for _, err := range drop(problems) {
		t.Error(err)
	}
}

// runInTurn runs the cases one after the other.
func (s *stage) runInTurn(t *testing.T) {
	t.Helper()
	for _, c := range s.cases {
		t.Run(c.name(), c.run)
	}
}

// runAtOnce runs the cases concurrently, so that their leases expire at the same time. The victim dies for one case after
// the other.
func (s *stage) runAtOnce(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range s.cases {
		all.Go(func() { t.Run(c.name(), c.run) })
	}
	all.Wait()
}

func (c *crashCase) run(t *testing.T) {
	onceOf(t, func() string { return c.once(t) })
}

// once kills the victim at the step, starts it again and checks what is left.
func (c *crashCase) once(t *testing.T) (late string) {
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	c.prepare(ctx, t)
	answer, died := c.crash(ctx, t)
	c.checkAnswer(t, answer)

	before := c.saved(ctx, t, c.next)
	if n := len(before); n < c.left.min || n > c.left.most {
		t.Errorf("%d results are saved, not %d to %d", n, c.left.min, c.left.most)
	}
	if n := c.asked(); n != c.left.asked {
		t.Errorf("the model was asked %d times, not %d", n, c.left.asked)
	}
	if c.answers && (len(before) != 1 || before[0].ID != answer.Result().ID) {
		t.Errorf("the response was %s, saved is %v", answer, before)
	}

	next, asked := c.watch(c.start(ctx, c.next))
	took := time.Since(died)
	t.Logf("left behind: %d saved, %d model calls; after the kill the next caller %s and was answered at %s",
		len(before), c.left.asked, since(died, asked), took.Round(time.Millisecond))
	after := c.saved(ctx, t, c.next)
	c.checkNext(t, next, len(before), after)
	c.checkAsked(t, len(before), len(after))
	c.confirm(ctx, t, after)
	if took > goesOn {
		return fmt.Sprintf("the next caller was answered %s after the kill", took)
	}
	return ""
}

// watch waits for a response and returns the time of the next model call, if there was one.
func (c *crashCase) watch(answered <-chan load.Reply) (answer load.Reply, asked time.Time) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for done := false; ; {
		if asked.IsZero() && c.asked() > c.left.asked {
			asked = time.Now()
		}
		if done {
			return answer, asked
		}
		select {
		case <-tick.C:
		case answer = <-answered:
			done = true
		}
	}
}

func since(died, asked time.Time) string {
	if asked.IsZero() {
		return "asked nothing"
	}
	return "asked the model at " + asked.Sub(died).Round(time.Millisecond).String()
}

// crash kills the victim at the step and starts it again.
func (c *crashCase) crash(ctx context.Context, t *testing.T) (answer load.Reply, died time.Time) {
	t.Helper()
	c.victimInUse.Lock()
	defer c.victimInUse.Unlock()
	if err := c.victim.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.victim.StartArmed(ctx, c.point); err != nil {
		t.Fatal(err)
	}
	c.reachable(ctx, t)
	answered := c.start(ctx, c.at)
	dying, cancel := context.WithTimeout(ctx, toDie)
	defer cancel()
	err := c.victim.Died(dying)
	died = time.Now()
	if err != nil {
		t.Error(err)
		_ = c.victim.Kill()
	}
	if err := c.victim.Start(ctx); err != nil {
		t.Fatal(err)
	}
	c.reachable(ctx, t)
	answer = <-answered
	if c.answers {
		t.Logf("the call was answered %s after the kill", time.Since(died).Round(time.Millisecond))
	}
	if err != nil {
		t.FailNow()
	}
	return answer, died
}

// checkAnswer checks the response of the call that reached the step.
func (c *crashCase) checkAnswer(t *testing.T, answer load.Reply) {
	t.Helper()
	switch {
	case c.answers && answer.Status != http.StatusOK:
		t.Errorf("the response of the call was %s", answer)
	case !c.answers && answer.Err == nil:
		t.Errorf("a process that died sent the response %s", answer)
	}
}

// checkNext checks the response of the next caller: a new result, or the result that was left.
func (c *crashCase) checkNext(t *testing.T, next load.Reply, before int, after []saved) {
	t.Helper()
	want := 1
	if !c.races() {
		want = before + 1 // nothing says that the two are one
	}
	ids := map[string]bool{}
	for _, r := range after {
		ids[r.ID] = true
		if r.Status != "ok" {
			t.Errorf("%s is %s", r.ID, r.Status)
		}
	}
	switch unsure := c.left.min != c.left.most; {
	case len(after) == want:
	case unsure && !c.races() && len(after) == want+1: // Postgres committed after it was looked at
	default:
		t.Fatalf("%d results are saved, not %d", len(after), want)
	}
	told := next.Result().ID
	if c.retries() && (before > 0 || c.left.most > 0 && next.Status == http.StatusConflict) {
		told = next.RetriedAs()
	} else if next.Status != http.StatusOK {
		t.Errorf("the next caller was answered %s", next)
	}
	if !ids[told] {
		t.Errorf("the next caller was told %s, and saved is %v", next, after)
	}
}

// checkAsked compares the model calls with the results.
func (c *crashCase) checkAsked(t *testing.T, before, after int) {
	t.Helper()
	least, most := c.left.asked, c.left.asked+1
	switch {
	case !c.races() || c.left.most == 0:
		least = most // the next caller had to ask
	case before > 0:
		most = least // it had an answer
	}
	if n := c.asked(); n < least || n > most {
		t.Errorf("the model was asked %d times for %d results, not %d to %d times", n, after, least, most)
	}
}

// confirm reads the result of the next caller from the restarted process.
func (c *crashCase) confirm(ctx context.Context, t *testing.T, after []saved) {
	t.Helper()
	c.victimInUse.Lock()
	defer c.victimInUse.Unlock()
	asked, last := c.asked(), after[0].ID
	if got := c.do(ctx, c.at, http.MethodGet, "/v1/results/"+last, nil); got.Status != http.StatusOK || got.Result().ID != last {
		t.Errorf("result %s reads as %s", last, got)
	}
	if c.keyed {
		if got := <-c.start(ctx, c.at); got.Status != http.StatusOK || got.Result().ID != last {
			t.Errorf("the key answers %s, not %s", got, last)
		}
	}
	if got := c.retry(ctx, c.at, last); got.Status != http.StatusConflict || message(got) != "Only a failed result can be retried." {
		t.Errorf("a retry of the new result was answered %s", got)
	}
	if c.failed {
		if got := c.retry(ctx, c.at, c.old); got.Status != http.StatusConflict || got.RetriedAs() != last {
			t.Errorf("another retry was answered %s, not that it was retried as %s", got, last)
		}
		got := c.do(ctx, c.at, http.MethodGet, "/v1/results/"+c.old, nil)
		if got.Status != http.StatusOK || got.Result().ID != c.old || got.Result().Status != "failed" {
			t.Errorf("the failed result reads as %s", got)
		}
	}
	if n := c.asked(); n != asked {
		t.Errorf("the model was asked %d times more by repeats", n-asked)
	}
}

func message(r load.Reply) string {
	_, text := r.Error()
	return text
}

func (c *crashCase) name() string { return fmt.Sprintf("%s, %s", c.point, c.kind.name) }
