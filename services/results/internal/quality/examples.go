package quality

import (
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// shownInputs are the inputs of a version's examples, as Answered.Fields has them. A model has seen what is right for them, so the answers to
// equal inputs say nothing of others, whatever the id of their result: they are left out of all measures (spec: measures-without-examples).
type shownInputs map[[16]byte]bool

func shownBy(d prism.Definition) shownInputs {
	inputs := shownInputs{}
	for _, e := range d.Examples {
		if !e.Emptied() {
			inputs[inputHash("", slices.Clone(e.Fields))] = true
		}
	}
	return inputs
}
