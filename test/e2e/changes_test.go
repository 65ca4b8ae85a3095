package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
)

// changePage is a page of changes.
type changePage struct {
	Data []struct {
		Seq      int64
		Type     string
		ResultID string `json:"result_id"`
		Prism    string
	}
	Next int64
}

func (r reply) changes(t *testing.T) (page changePage) {
	t.Helper()
	r.wantStatus(t, 200)
	if err := json.Unmarshal(r.body, &page); err != nil {
		t.Fatal(err)
	}
	return page
}

// told reads changes behind a number until there are as many as wanted.
func (c *client) told(t *testing.T, after int64, wanted int) (told []string) {
	t.Helper()
	for end := time.Now().Add(patience); len(told) < wanted; {
		page := c.get(t, fmt.Sprintf("/v1/changes?wait=5&limit=2&after=%d", after)).changes(t)
		for _, one := range page.Data {
			if one.Seq <= after {
				t.Fatalf("%d is told behind %d", one.Seq, after)
			}
			after = one.Seq
			told = append(told, one.Type+" "+one.ResultID+" "+one.Prism)
		}
		after = page.Next
		if time.Now().After(end) {
			t.Fatalf("only these changes are told: %v", told)
		}
	}
	return told
}

// TestChanges holds that what happened to results is told once, in its order.
func TestChanges(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: changes, changes-list, changes-order, changes-next
		t.Run("a saved, labelled and deleted result is told in this order", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			id := own.create(t, slug, text("x")).ok(t).ID
			own.put(t, "/v1/results/"+id+"/labels", `{"labels":{"`+own.question(t, slug)+`":true}}`).wantStatus(t, 200)
			own.delete(t, "/v1/results/"+id).wantStatus(t, 204)
			var want []string
			for _, what := range []string{"created ", "labelled ", "deleted "} {
				want = append(want, what+id+" "+slug)
			}
			wantEqual(t, "the changes", strings.Join(own.told(t, 0, 3), "\n"), strings.Join(want, "\n"))
			wantEqual(t, "the page behind them", string(own.get(t, "/v1/changes?after=3").body), `{"data":[],"next":3}`)
			s.other.get(t, "/v1/changes?prism="+slug).wantFail(t, noPrism)
			// spec: changes-kept
			own.get(t, "/v1/changes?after=4").wantFail(t, fail{409, "conflict", "The changes after this number are not kept. List the results anew."})
			own.get(t, "/v1/changes?after=-1&limit=1001&wait=31").wantFail(t, invalid("after: Number must be greater than or equal to 0; "+
				"limit: Number must be less than or equal to 1000; wait: Number must be less than or equal to 30"))
		})
		// spec: changes-wait
		t.Run("a call waits for a change", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			waiting := own.start(t, call{path: "/v1/changes?wait=30"})
			id := own.create(t, slug, text("x")).ok(t).ID
			if page := await(t, waiting).changes(t); len(page.Data) != 1 || page.Data[0].ResultID != id || page.Next != 1 {
				t.Errorf("got %+v", page)
			}
		})
	})
}

// TestAWaitForChangesEnds holds that a stopping gateway waits for no change.
//
// spec: changes-wait, stopping
func TestAWaitForChangesEnds(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		t.Run("when the gateway stops", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			began := time.Now()
			waiting := own.main.start(t, call{path: "/v1/changes?wait=30"})
			held := regexp.MustCompile(`(?m)^prism_http_event_streams\{[^}]*\} 1$`)
			for end := time.Now().Add(patience); !held.MatchString(own.metrics(t)); {
				if time.Now().After(end) {
					t.Fatal("no place is held")
				}
			}
			if err := own.front.Process().Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "the page", string(await(t, waiting).body), `{"data":[],"next":0}`)
			if took := time.Since(began); took > 25*time.Second {
				t.Errorf("it waited for %v", took)
			}
			ctx, cancel := context.WithTimeout(t.Context(), launch.StopBudget)
			defer cancel()
			if code, err := own.front.Process().Wait(ctx); err != nil || code != 0 {
				t.Fatalf("exit code %d: %v", code, err)
			}
			if err := own.front.Start(ctx); err != nil {
				t.Fatal(err)
			}
		})
	})
}
