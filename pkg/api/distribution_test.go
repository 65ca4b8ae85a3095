package api_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: distribution-time
func TestADistributionHasABoundedPeriod(t *testing.T) {
	t.Parallel()
	for by, most := range map[api.DistributionBy]prism.Day{
		api.DistributionByHour: 416, api.DistributionByDay: 10_000, api.DistributionByWeek: 70_000,
	} {
		for _, test := range []struct {
			name     string
			from, to prism.Day
			problem  bool
		}{
			{"the most", 1, 1 + most, false}, {"a day more", 1, 2 + most, true}, {"no day", 1, 1, true}, {"one day", 1, 2, false},
		} {
			_, _, problem := api.ReadDistributionRequest{By: by, From: &test.from, To: &test.to}.Period(7)
			if (problem != nil) != test.problem {
				t.Errorf("%s by %s: %v", test.name, by, problem)
			}
		}
	}
	from, to, problem := api.ReadDistributionRequest{By: api.DistributionByDay}.Period(40)
	if from != 11 || to != 41 || problem != nil {
		t.Errorf("without days it is from %d to %d, %v", from, to, problem)
	}
}
