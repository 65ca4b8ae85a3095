package client_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

// spec: if-match, if-latest
func TestAPrismThatWasChangedIsNotOverwritten(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()
	was, err := c.CreatePrism(ctx, triage("triage"))
	check(t, err)
	now, err := c.ReplaceLens(ctx, "triage", client.Lens{Columns: was.Lens.Columns[:2]}, client.IfUnchanged(was))
	check(t, err)
	if _, err := c.ReplaceLens(ctx, "triage", was.Lens, client.IfUnchanged(was)); !errors.Is(err, client.ErrConflict) {
		t.Error(err)
	}
	if _, err := c.CreateVersion(ctx, "triage", triage("").NewVersion, client.IfUnchanged(was)); !errors.Is(err, client.ErrConflict) {
		t.Error(err)
	}
	if _, err := c.CreateVersion(ctx, "triage", triage("").NewVersion, client.IfUnchanged(now), client.WithDryRun()); err != nil {
		t.Error(err)
	}
	if v, err := c.CreateVersion(ctx, "triage", triage("").NewVersion, client.IfUnchanged(now)); err != nil || v.Version != 2 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// spec: dry-run
func TestADryRunCountsAndChangesNothing(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()
	_, err := c.CreatePrism(ctx, triage("triage"))
	check(t, err)
	var failed *client.FailedError
	if _, err := c.CreateResult(ctx, "triage", client.NewResult{Text: prismtest.Refuse}); !errors.As(err, &failed) {
		t.Fatal(err)
	}
	for range 2 { // the second finds what the first has counted
		deleting, err := c.DeleteResults(ctx, "triage", client.ResultDeletion{Status: client.Failed}, client.WithDryRun())
		if err != nil || deleting.Deleting != 1 {
			t.Errorf("got %+v, %v", deleting, err)
		}
		retrying, err := c.RetryResults(ctx, client.ResultRetry{Prism: "triage"}, 7, client.WithDryRun())
		if err != nil || retrying.Retrying != 1 {
			t.Errorf("got %+v, %v", retrying, err)
		}
	}
	if _, err := c.RetryResults(ctx, client.ResultRetry{Prism: "triage"}, 7); !errors.Is(err, client.ErrConflict) {
		t.Error(err)
	}
	if retrying, err := c.RetryResults(ctx, client.ResultRetry{Prism: "triage"}, 1); err != nil || retrying.Retrying != 1 {
		t.Errorf("got %+v, %v", retrying, err)
	}
}

// spec: repeat-of-an-ok-result, repeat-of-a-failed-result
func TestABulkThatIsRunAgainDoublesNothing(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()
	_, err := c.CreatePrism(ctx, triage("triage"))
	check(t, err)
	const n = 20
	inputs := func(yield func(client.NewResult) bool) {
		for i := range n {
			text := fmt.Sprint("message ", i)
			if i == 7 {
				text = prismtest.Refuse
			}
			if !yield(client.NewResult{Text: text, Ref: fmt.Sprint(i)}) {
				return
			}
		}
	}
	ids := map[int]string{}
	for one, err := range c.CreateResults(ctx, "triage", inputs, client.Bulk{Job: "j"}) {
		check(t, err)
		if ids[one.Index] = one.Result.ID; one.Index == 4 {
			break // as a program that crashes
		}
	}
	next := 0
	for one, err := range c.CreateResults(ctx, "triage", inputs, client.Bulk{Job: "j", Concurrency: 3}) {
		var failed *client.FailedError
		if errors.As(err, &failed) != (one.Index == 7) || one.Index != next || *one.Result.Ref != fmt.Sprint(one.Index) || one.Meta.RequestID == "" {
			t.Errorf("got %+v, %v", one, err)
		}
		if id := ids[one.Index]; id != "" && id != one.Result.ID {
			t.Errorf("input %d was answered twice: %s and %s", one.Index, id, one.Result.ID)
		}
		next++
	}
	saved := map[string]int{}
	for r, err := range c.Results(ctx, client.ResultFilter{Status: client.OK}) {
		check(t, err)
		saved[*r.Ref]++
	}
	if len(saved) != n-1 || next != n {
		t.Errorf("got %d results and %d outcomes", len(saved), next)
	}
	for ref, times := range saved {
		if times != 1 {
			t.Errorf("input %s has %d results", ref, times)
		}
	}
}
