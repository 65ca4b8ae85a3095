package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/wallclock"
)

func (c *client) delete(t *testing.T, path string) reply {
	t.Helper()
	return c.do(t, call{method: http.MethodDelete, path: path})
}

// TestRecordsAndUsage holds what is kept of calls beside their answers, and its sums.
func TestRecordsAndUsage(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: record-read, record-members, error-codes
		t.Run("a record says which key called and which model answered", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			second, key := own.newAPIKey(t)
			made := second.create(t, slug, text("x", "ref", "r", "context", "c")).ok(t)
			path := "/v1/results/" + made.ID + "/record"
			r := own.get(t, path)
			r.wantStatus(t, 200)
			for _, part := range []string{
				`{"id":"` + made.ID + `","prism":"` + slug + `","version":1,"status":"ok","error":null,"error_code":null,"created_at":"`,
				`"ref":"r","context":"c","fields":{"message":"x"},"idempotency_key":null,"retry_of":null,"retried_by":null,"key_id":"` + key +
					`","run_id":null,"run_row":null,"model":{"name":"default","provider":"systemone",`, `"probabilities":"native","tries":1,"fell_back":false},"usage":{`,
			} {
				if !strings.Contains(string(r.body), part) {
					t.Errorf("%s has no %s", r.body, part)
				}
			}
			failed, _ := own.refused(t, slug)
			if r := own.get(t, "/v1/results/"+failed.ID+"/record"); !strings.Contains(string(r.body), `"error_code":"parameter"`) {
				t.Errorf("got %s", r.body)
			}
			s.other.get(t, path).wantFail(t, noResult)
		})
		// spec: usage-query, usage-is-exact, result-delete
		t.Run("usage counts every result, and deleting one does not change it", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			var ids []string
			for range 3 {
				ids = append(ids, own.create(t, slug, text("x")).ok(t).ID)
			}
			own.refused(t, slug)
			usage := func(by string) string {
				r := own.get(t, "/v1/usage?by="+by)
				r.wantStatus(t, 200)
				return string(r.body)
			}
			before := map[string]string{}
			for _, by := range []string{"day", "prism", "model", "key"} {
				before[by] = usage(by)
				if !strings.Contains(before[by], `"results":4,"failed":1,`) || strings.Count(before[by], `"results":`) != 1 {
					t.Errorf("by %s: %s", by, before[by])
				}
			}
			own.delete(t, "/v1/results/"+ids[0]).wantStatus(t, 204)
			for by, want := range before {
				wantEqual(t, "by "+by, usage(by), want)
			}
			s.other.get(t, "/v1/usage?prism="+slug).wantFail(t, noPrism)
		})
	})
}

// TestDeletion holds what is deleted, and by whom.
func TestDeletion(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: result-delete
		t.Run("a deleted result is gone, and its idempotency key is free", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			first := s.main.create(t, slug, text("x", "idempotency_key", "delete-"+slug)).ok(t)
			path := "/v1/results/" + first.ID
			s.other.delete(t, path).wantFail(t, noResult)
			reader, _ := s.main.withRole(t, "reader", "")
			reader.delete(t, path).wantFail(t, fail{403, "unauthorized", "Your role does not allow this."})
			s.main.delete(t, path).wantStatus(t, 204)
			s.main.delete(t, path).wantFail(t, noResult)
			for _, format := range []string{"json", "raw", "csv", "tsv", "jsonl"} {
				s.main.read(t, first.ID, format).wantFail(t, noResult)
			}
			s.main.retry(t, first.ID).wantFail(t, noResult)
			s.main.get(t, path+"/record").wantFail(t, noResult)
			if again := s.main.create(t, slug, text("y", "idempotency_key", "delete-"+slug)).ok(t); again.ID == first.ID {
				t.Error("the same result")
			}
		})
		// spec: results-delete, deletion-entry
		t.Run("the results of a ref are counted and deleted, and the audit does not name the ref", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			for _, ref := range []string{"a person", "a person", "another"} {
				own.create(t, slug, text("x", "ref", ref)).ok(t)
			}
			path := "/v1/prisms/" + slug + "/results/delete"
			own.post(t, path, "{}").wantStatus(t, 400)
			r := own.post(t, path, `{"ref":"a person"}`)
			r.wantStatus(t, 202)
			wantEqual(t, "the count", string(r.body), `{"deleting":2}`)
			if entries, body := own.audit(t, "limit=1"); entries[0].Action != "results.delete" || strings.Contains(body, "a person") {
				t.Errorf("got %s", body)
			}
		})
		// spec: retention-set
		t.Run("a prism shows its retention", func(t *testing.T) {
			t.Parallel()
			slug := s.main.triage(t)
			path := "/v1/prisms/" + slug
			for _, days := range []string{"30", "null"} {
				r := s.main.put(t, path+"/retention", `{"days":`+days+`}`)
				r.wantStatus(t, 200)
				if !strings.HasSuffix(string(r.body), `"retention_days":`+days+"}") {
					t.Errorf("got %s", r.body)
				}
				s.main.get(t, path).wantBody(t, string(r.body))
			}
			s.main.put(t, path+"/retention", `{"days":3651}`).wantStatus(t, 400)
		})
	})
}

// No call deletes what was saved less than a minute ago, so the clock of a process of its own is set ahead.
func TestDeletionsComeToTheirEnd(t *testing.T) {
	only(t, standalone, func(t *testing.T, s *stack) {
		own := s.private(t, nil)
		clock, err := wallclock.TakeOver(own.front.Process().PID())
		if err != nil {
			t.Fatal(err)
		}
		defer clock.Close()
		slug := own.main.triage(t)
		ids := map[string]string{}
		for _, ref := range []string{"a person", "another", "a third"} {
			ids[ref] = own.main.create(t, slug, text("x", "ref", ref)).ok(t).ID
		}
		ids["a fourth"] = own.main.create(t, slug, text("unwanted")).ok(t).ID
		set := func(ahead time.Duration) {
			if err := clock.Set(ahead); err != nil {
				t.Fatal(err)
			}
		}
		awaitGone := func(ref string) {
			tick, deadline := time.NewTicker(50*time.Millisecond), time.NewTimer(patience)
			defer tick.Stop()
			defer deadline.Stop()
			for own.main.read(t, ids[ref], "json").status != 404 {
				select {
				case <-tick.C:
				case <-deadline.C:
					t.Fatalf("the result of %s is still there", ref)
				}
			}
		}
		// spec: results-delete, deletion-age
		own.main.post(t, "/v1/prisms/"+slug+"/results/delete", `{"ref":"a person"}`).wantStatus(t, 202)
		own.main.read(t, ids["a person"], "json").wantStatus(t, 200)
		set(2 * time.Minute)
		awaitGone("a person")
		// spec: search-of-all
		own.main.post(t, "/v1/prisms/"+slug+"/results/delete", `{"q":"unwanted","where":["@status:is:ok"]}`).wantBody(t, `{"deleting":1}`)
		awaitGone("a fourth")
		own.main.read(t, ids["another"], "json").wantStatus(t, 200)
		// spec: retention-set
		set(26 * time.Hour)
		own.main.put(t, "/v1/prisms/"+slug+"/retention", `{"days":1}`).wantStatus(t, 200)
		awaitGone("another")
		awaitGone("a third")
	})
}
