// Package lens derives, checks and applies Lenses, which turn stored answers into named columns. Its functions have no
// side effects.
package lens

import "github.com/prism-results/prism/pkg/prism"

// The suffixes that derived columns add to the key of their question.
const (
	probabilitySuffix = "_probability"
	averageSuffix     = "_average"
)

// Derive is the Lens of a definition that was sent without one (spec: derived-lens): for each question in order a column
// <key> with the answer, then <key>_probability for choice and yes_no, <key>_average for scale.
func Derive(d prism.Definition) prism.Lens {
	columns := make([]prism.Column, 0, 2*len(d.Questions))
	for _, q := range d.Questions {
		columns = append(columns, prism.Column{Name: q.Key, Question: q.Key, Show: prism.ShowAnswer})
		switch q.Type {
		case prism.Choice, prism.YesNo:
			columns = append(columns,
				prism.Column{Name: q.Key + probabilitySuffix, Question: q.Key, Show: prism.ShowProbability})
		case prism.Scale:
			columns = append(columns,
				prism.Column{Name: q.Key + averageSuffix, Question: q.Key, Show: prism.ShowAverage})
		}
	}
	return prism.Lens{Columns: columns}
}
