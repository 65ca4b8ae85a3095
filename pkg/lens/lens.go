// Package lens derives, checks and applies Lenses, which turn stored answers into named columns. Its functions have no
// side effects.
package lens

import "github.com/prism-results/prism/pkg/prism"

// Derive is the Lens of a definition that was sent without one (spec: derived-lens): for each question in order a column
// <key> with the answer, then <key>_probability for choice and yes_no, <key>_average for scale.
func Derive(d prism.Definition) prism.Lens {
	columns := make([]prism.Column, 0, 2*len(d.Questions))
	for _, q := range d.Questions {
		for _, show := range q.Type.Derived() {
			name := q.Key
			if show != prism.ShowAnswer {
				name += "_" + string(show)
			}
			columns = append(columns, prism.Column{Name: name, Question: q.Key, Show: show})
		}
	}
	return prism.Lens{Columns: columns}
}
