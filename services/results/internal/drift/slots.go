package drift

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
)

// maxQuestions is how many questions have metrics. Each has 5 series, and there are 2 more: 197 of the 200 that there may be
// (spec: drift-metrics).
const maxQuestions = 39

// Versions finds the versions of prisms.
type Versions interface {
	Version(ctx context.Context, account prism.AccountID, id prism.PrismID, number int32) (prism.Version, error)
}

// Slot is a watched prism, and how many of its latest version's questions, the first ones, have metrics.
type Slot struct {
	Watch
	Questions, Shown int
	definition       prism.Definition
}

// Slots are the watched prisms that have metrics, and how many prisms are left out, wholly or in part (spec: drift-slots).
func Slots(ctx context.Context, watches Store, versions Versions) (slots []Slot, leftOut int64, err error) {
	found, leftOut, err := watches.ListDriftWatches(ctx, maxQuestions)
	if err != nil {
		return nil, 0, err
	}
	for _, w := range found {
		v, err := versions.Version(ctx, w.Account, w.Prism, w.Latest)
		if err != nil {
			return nil, 0, err
		}
		slots = append(slots, Slot{Watch: w, Questions: len(v.Questions), definition: v.Definition})
	}
	share(slots)
	for _, s := range slots {
		if s.Shown < s.Questions {
			leftOut++
		}
	}
	return slots, leftOut, nil
}

// share shows one question after the other: of the account of which the fewest are shown, and of the prism of that account of which the
// fewest are. The first one of several is next.
func share(slots []Slot) {
	shown := map[prism.AccountID]int{}
	for range maxQuestions {
		var next *Slot
		for i := range slots {
			s := &slots[i]
			if s.Shown == s.Questions {
				continue
			}
			if next == nil || shown[s.Account] < shown[next.Account] || s.Account == next.Account && s.Shown < next.Shown {
				next = s
			}
		}
		if next == nil {
			return
		}
		next.Shown++
		shown[next.Account]++
	}
}
