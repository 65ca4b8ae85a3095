package service_test

import (
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: assignees-put
func TestAtMostAThousandResultsAreAssignedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.triage(t)
	w.store.Store = endlessResults{w.store.Store}
	for _, dry := range []bool{true, false} {
		in := api.AssignResultsRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: of}}}
		in.DryRun, in.Expect = dry, new(api.MaxAssigned)
		if _, err := contract.Do(t.Context(), w, w.key, api.AssignResults, in); !errors.Is(err, apierr.TooManyMatch(api.MaxAssigned)) {
			t.Errorf("a dry run: %v, got %v", dry, err)
		}
	}
}
