package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/crash"
)

// A process that dies at a step of the fold tells no change twice, and none is lost or told out of order, whoever folds next.
//
// spec: changes, changes-order, changes-next
func TestChangesAreToldOnceAfterTheFoldDied(t *testing.T) {
	t.Parallel()
	for _, point := range []crash.Point{crash.InFold, crash.AfterFold} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
			defer cancel()
			foldsAcross(ctx, t, standalone(t, true), point)
		})
	}
}

func foldsAcross(ctx context.Context, t *testing.T, st *stage, point crash.Point) {
	t.Helper()
	create := func() {
		(&crashCase{stage: st, race: int(st.begun.Add(1))}).create(ctx, st.at) // which a process that dies may not answer
	}
	var told []string
	after := int64(0)
	read := func(wait int) {
		got := st.do(ctx, st.at, http.MethodGet, fmt.Sprintf("/v1/changes?wait=%d&after=%d", wait, after), nil)
		var page struct {
			Data []struct {
				Seq      int64
				Type     string
				ResultID string `json:"result_id"`
			}
			Next int64
		}
		if got.Status != http.StatusOK {
			return // it dies
		}
		if err := json.Unmarshal(got.Body, &page); err != nil {
			t.Fatal(err)
		}
		for _, change := range page.Data {
			if change.Seq <= after || change.Type != "created" {
				t.Fatalf("behind %d is told: %s", after, got)
			}
			after = change.Seq
			told = append(told, change.ResultID)
		}
	}
	results := func() (ids []string) {
		got := st.do(ctx, st.at, http.MethodGet, "/v1/results?limit=100", nil)
		var list struct{ Data []saved }
		if err := json.Unmarshal(got.Body, &list); err != nil || got.Status != http.StatusOK {
			t.Fatalf("%s, %v", got, err)
		}
		for _, r := range list.Data {
			ids = append(ids, r.ID)
		}
		return ids
	}
	for range 3 {
		// What waits for its number, as that the prism was made, would have the armed process die before it answers.
		if got := st.do(ctx, st.at, http.MethodGet, "/v1/events", nil); got.Status != http.StatusOK {
			t.Fatal(got)
		}
		if err := st.victim.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := st.victim.StartArmed(ctx, point); err != nil {
			t.Fatal(err)
		}
		st.reachable(ctx, t)
		create()
		read(1)
		dying, ended := context.WithTimeout(ctx, toDie)
		err := st.victim.Died(dying)
		ended()
		if err != nil {
			t.Fatal(err)
		}
		if err := st.victim.Start(ctx); err != nil {
			t.Fatal(err)
		}
		st.reachable(ctx, t)
		create()
		all := results()
		until(t, "every result is told", func() bool {
			read(1)
			return len(told) >= len(all)
		})
	}
	all := results()
	slices.Sort(all)
	slices.Sort(told)
	if len(all) < 3 || !slices.Equal(told, all) {
		t.Errorf("told are %v, and there are %v", told, all)
	}
}
