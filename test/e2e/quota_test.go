package e2e

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// limit sets limits of the client's account, as an operator does, and waits until the gateway knows them: until a call is
// over them. The call must be one that the limits refuse.
func (c *client) limit(t *testing.T, over func() reply, flags ...string) reply {
	t.Helper()
	if _, err := c.stack.store.Operate(t.Context(), append([]string{"account", "limits", c.account}, flags...)...); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(startBudget); ; {
		switch r := over(); {
		case r.status == 503:
			return r
		case r.status >= 500 || r.status == 401:
			t.Fatalf("status %d: %.300s", r.status, r.body)
		case time.Now().After(end):
			t.Fatal("the limits had no effect")
		}
	}
}

// wantRefused checks the 503 of a limit, and returns its Retry-After in seconds.
func (r reply) wantRefused(t *testing.T) int {
	t.Helper()
	r.wantUnavailableBody(t)
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 24*60*60 {
		t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
	}
	return seconds
}

// TestLimitsOfAccounts holds the limits that an operator sets, over HTTP.
// spec: account-limits, limit-of-results, error-service-unavailable
func TestLimitsOfAccounts(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		t.Run("requests a second", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			own.impatient = true
			list := func() reply { return own.get(t, "/v1/prisms") }
			if seconds := own.limit(t, list, "--requests-per-second", "1").wantRefused(t); seconds != 1 {
				t.Errorf("Retry-After is %d", seconds)
			}
			own.get(t, "/v1/results/1").wantFail(t, badResultID) // a request that is invalid does not count
			own.do(t, call{path: "/v1/prisms", auth: "Bearer " + wellFormedKey()}).wantFail(t, invalidKey)
			s.other.get(t, "/v1/prisms").wantStatus(t, 200)
			// Of many at once, one enters now, and at most one in each second that the calls take.
			var entered atomic.Int64
			began := time.Now()
			var group sync.WaitGroup
			for range 30 {
				group.Go(func() {
					if list().status == 200 {
						entered.Add(1)
					}
				})
			}
			group.Wait()
			if most := 2 + int64(time.Since(began)/time.Second); entered.Load() > most {
				t.Errorf("%d requests entered in %s", entered.Load(), time.Since(began))
			}
		})
		t.Run("requests in flight", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			own.impatient = true
			slug := own.prism(t, oneField, yesNo)
			if _, err := s.store.Operate(t.Context(), "account", "limits", own.account, "--concurrency", "1"); err != nil {
				t.Fatal(err)
			}
			// while makes a request while another one is at the model.
			while := func() reply {
				release := make(chan struct{})
				script := s.model.Script(model.Hold(release, model.Likely()))
				held := own.start(t, call{path: "/v1/prisms/" + slug + "/results", body: text(script.Tag)})
				if err := script.Await(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				r := own.get(t, "/v1/prisms")
				close(release)
				await(t, held).ok(t)
				return r
			}
			r := while()
			for end := time.Now().Add(startBudget); r.status == 200 && time.Now().Before(end); r = while() {
			}
			r.wantRefused(t)
			own.get(t, "/v1/prisms").wantStatus(t, 200)
		})
		t.Run("results a day", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			first := own.create(t, slug, text(model.Mark, "idempotency_key", "k")).ok(t)
			failed := own.create(t, slug, text(s.model.Script(model.Status(400)).Tag)).failed(t)
			own.limit(t, func() reply { return own.create(t, slug, text(model.Mark)) }, "--results-per-day", "1").wantRefused(t)
			asked := s.model.Script(model.Likely())
			own.create(t, slug, text(asked.Tag)).wantRefused(t)
			own.post(t, "/v1/results/"+failed.ID+"/retry", "").wantRefused(t)
			if n := asked.Calls(); n != 0 {
				t.Errorf("%d model calls", n)
			}
			// A stored result is returned, reads are not counted, and other checks come first.
			repeated := own.create(t, slug, text(model.Mark, "idempotency_key", "k")).ok(t)
			wantEqual(t, "the id of the repeat", repeated.ID, first.ID)
			own.get(t, "/v1/results/"+first.ID).wantStatus(t, 200)
			own.create(t, "unknown", text(model.Mark)).wantFail(t, noPrism)
		})
		t.Run("a limit that is removed ends", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			create := func() reply { return own.create(t, slug, text(model.Mark)) }
			own.limit(t, create, "--results-per-day", "1")
			if _, err := s.store.Operate(t.Context(), "account", "limits", own.account, "--results-per-day", "none"); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(startBudget); create().status != 200; {
				if time.Now().After(end) {
					t.Fatal("the limit did not end")
				}
			}
		})
	})
}

// TestStoredBytes holds the limit of what an account stores.
// spec: stored-bytes, full-account
func TestStoredBytes(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		t.Run("an account that is full creates nothing, and reads and deletes", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			keyed := text(model.Mark, "idempotency_key", "k")
			first := own.create(t, slug, keyed).ok(t)
			failed := own.create(t, slug, text(s.model.Script(model.Status(400)).Tag)).failed(t)
			create := func() reply { return own.create(t, slug, text(model.Mark)) }
			if seconds := own.limit(t, create, "--stored-bytes", "1").wantRefused(t); seconds != 60 {
				t.Errorf("Retry-After is %d", seconds)
			}
			own.post(t, "/v1/results/"+failed.ID+"/retry", "").wantRefused(t)
			own.post(t, "/v1/files", `{"name":"a","format":"csv","bytes":9}`).wantFail(t, fail{
				409, "conflict", "This account may store 1 bytes, and this file is larger than what is left. Delete files or results.",
			})
			wantEqual(t, "the id of the repeat", own.create(t, slug, keyed).ok(t).ID, first.ID)
			own.get(t, "/v1/results").wantStatus(t, 200)
			own.get(t, "/v1/prisms/"+slug+"/results?format=csv").wantStatus(t, 200)
			s.other.create(t, s.other.prism(t, oneField, yesNo), text(model.Mark)).ok(t)
			for _, id := range []string{first.ID, failed.ID} {
				own.delete(t, "/v1/results/"+id).wantStatus(t, 204)
			}
			for end := time.Now().Add(startBudget); ; {
				if r := own.get(t, "/v1/results"); !bytes.Contains(r.body, []byte(`"data":[]`)) { // a create got in before the limit was known
					var page struct{ Data []struct{ ID string } }
					r.decode(t, &page)
					for _, d := range page.Data {
						own.delete(t, "/v1/results/"+d.ID).wantStatus(t, 204)
					}
				}
				if create().status == 200 {
					break
				}
				if time.Now().After(end) {
					t.Fatal("the account stays full")
				}
			}
		})
		t.Run("a run of it pauses with the reason", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			f := own.upload(t, "csv", "text\n"+strings.Repeat("x\n", 200)) // it is not over before it is tended
			own.limit(t, func() reply { return own.create(t, slug, text(model.Mark)) }, "--stored-bytes", "1")
			made := own.runFile(t, slug, f.ID, `,"rows_per_second":1`).run(t, 201)
			for end := time.Now().Add(startBudget); made.Status != "paused"; made = own.get(t, "/v1/runs/"+made.ID).run(t, 200) {
				if time.Now().After(end) {
					t.Fatalf("the run is %+v", made)
				}
			}
			wantEqual(t, "the reason", *made.Reason, "This account stores as much as it may.")
		})
		t.Run("the operator sees what is stored", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			own.newFile(t, "csv", 1000)
			out, err := s.store.Operate(t.Context(), "account", "list")
			if err != nil || !regexp.MustCompile(own.account+` +\S+ +1000 +50GiB`).MatchString(out) {
				t.Errorf("%s, %v", out, err)
			}
		})
	})
}

// TestGatewaysShareLimits holds that the gateways of one Redis count together.
// spec: account-limits
func TestGatewaysShareLimits(t *testing.T) {
	only(t, services, func(t *testing.T, s *stack) {
		own := s.private(t, nil)
		beside := own.secondGateway(t)
		slug := own.main.prism(t, oneField, yesNo)
		create := func(c *client) func() reply {
			return func() reply { return c.create(t, slug, text(model.Mark)) }
		}
		own.main.limit(t, create(own.main), "--results-per-day", "3")
		// The other gateway learns of the limit within seconds, and has counted nothing itself.
		beside.limit(t, create(beside)).wantRefused(t)
	})
}
