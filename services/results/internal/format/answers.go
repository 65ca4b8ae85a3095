package format

import (
	"fmt"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// maxPlans bounds the plans that one encoder keeps: an export has results of every version of the prism.
const maxPlans = 64

// answers applies the Lens to row after row.
type answers struct {
	lens   prism.Lens
	parser answerjson.Parser
	plans  map[int32]*lens.Plan // by version
	cells  []lens.Cell
}

// of returns one cell for each Lens column, valid until the next call. All cells of a failed result are null.
func (a *answers) of(r Row) ([]lens.Cell, error) {
	a.cells = a.cells[:0]
	if r.Result.Status == prism.Failed {
		for range a.lens.Columns {
			a.cells = append(a.cells, lens.Cell{})
		}
		return a.cells, nil
	}
	stored, err := a.parser.Parse(r.Result.Answers)
	if err != nil {
		return nil, fmt.Errorf("format: result %s: %w", r.Result.ID, err)
	}
	a.cells = a.plan(r).Apply(a.cells, stored)
	return a.cells, nil
}

func (a *answers) plan(r Row) *lens.Plan {
	if p := a.plans[r.Result.Version]; p != nil {
		return p
	}
	if a.plans == nil || len(a.plans) == maxPlans {
		a.plans = make(map[int32]*lens.Plan)
	}
	p := lens.Compile(a.lens, r.Answered)
	a.plans[r.Result.Version] = p
	return p
}

// field finds the value of a field of the latest version, whose index is i. Results store values in their version's order,
// so the value is nearly always at index i.
func field(r *prism.Result, key string, i int) (string, bool) {
	if i < len(r.Fields) && r.Fields[i].Key == key {
		return r.Fields[i].Value, true
	}
	for _, f := range r.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}
