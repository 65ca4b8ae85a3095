package format

import (
	"fmt"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// Plan is a Lens prepared for the results of one version. It can be used concurrently.
type Plan struct {
	names   [][]byte // of the columns, as JSON strings with their colon
	columns *lens.Plan
}

// NewPlan prepares a Lens for the results of the version with the definition answered, which gives labels and the values
// of levels.
func NewPlan(l prism.Lens, answered prism.Definition) *Plan {
	p := &Plan{names: make([][]byte, len(l.Columns)), columns: lens.Compile(l, answered)}
	for i, c := range l.Columns {
		p.names[i] = append(quoted(c.Name), ':')
	}
	return p
}

// answers applies the Lens to row after row.
type answers struct {
	parser answerjson.Parser
	cells  []lens.Cell
}

// of returns one cell for each Lens column, valid until the next call. All cells of a failed result are null.
func (a *answers) of(r Row) ([]lens.Cell, error) {
	a.cells = a.cells[:0]
	if r.Result.Status == prism.Failed {
		for range r.Plan.names {
			a.cells = append(a.cells, lens.Cell{})
		}
		return a.cells, nil
	}
	stored, err := a.parser.Parse(r.Result.Answers)
	if err != nil {
		return nil, fmt.Errorf("format: result %s: %w", r.Result.ID, err)
	}
	a.cells = r.Plan.columns.Apply(a.cells, stored)
	return a.cells, nil
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
