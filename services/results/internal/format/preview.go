package format

import (
	"fmt"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Answers is the value of the member answers in format json: the Lens columns by name (spec: try-members).
func Answers(p *Plan, stored []byte) ([]byte, error) {
	var parser answerjson.Parser
	answers, err := parser.Parse(stored)
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return appendAnswers(nil, p, p.columns.Apply(nil, answers)), nil
}

// Preview is a result in format json, with the reason of each column that is null: {result, missing} (spec: lens-preview). A
// failed result has no answers, and so no reasons.
func Preview(t Table, r Row) ([]byte, error) {
	one, err := Single(contract.JSON, t, r)
	if err != nil {
		return nil, err
	}
	b := append(append([]byte(`{"result":`), one.Body...), `,"missing":{`...)
	if r.Result.Status == prism.Failed {
		return append(b, "}}"...), nil
	}
	var parser answerjson.Parser
	answers, err := parser.Parse(r.Result.Answers)
	if err != nil {
		return nil, fmt.Errorf("format: result %s: %w", r.Result.ID, err)
	}
	empty := len(b)
	for i, reason := range r.Plan.columns.Reasons(answers) {
		if reason == "" {
			continue
		}
		if len(b) > empty {
			b = append(b, ',')
		}
		b = strictjson.AppendString(append(b, r.Plan.names[i]...), string(reason))
	}
	return append(b, "}}"...), nil
}
