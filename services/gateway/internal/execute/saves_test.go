package execute_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/gateway/internal/execute"
)

func TestTriesToSaveAreCountedByHowTheyEnd(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	fake := newFakeResults()
	// One that is saved at once comes last.
	fake.saveErrs = []error{errors.New("away"), errLostResponse, contract.ErrKeyTaken, &contract.RetriedError{}}
	results := execute.CountSaves(fake, reg)
	for i := range 5 {
		_, _ = results.Save(t.Context(), contract.Save{ID: prism.ResultID{UUID: prism.UUID{byte(i)}}})
	}
	got := metrictest.Values(t, reg)
	for outcome, want := range map[string]float64{"saved": 1, "beaten": 2, "failed": 2} {
		if value := got["prism_save_tries_total "+outcome]; value != want {
			t.Errorf("%s is %v, want %v", outcome, value, want)
		}
	}
}
