package distribution

import (
	"time"

	"github.com/prism-results/prism/services/results/internal/finding"
)

// Searched are the answers to a question of results that a search finds (spec: distribution-searched).
type Searched struct {
	Question string
	quarters map[time.Time]*Counts
}

// Count counts a result.
func (s *Searched) Count(f *finding.Found) {
	a := f.Answer(s.Question)
	if a == nil {
		return
	}
	at := f.Result.CreatedAt.Truncate(quarter)
	c := s.quarters[at]
	if c == nil {
		c = &Counts{}
		if s.quarters == nil {
			s.quarters = map[time.Time]*Counts{}
		}
		s.quarters[at] = c
	}
	c.count(a)
	label, labelled := f.Labels[s.Question]
	c.Labelled += number(labelled)
	c.Right += number(labelled && label == a.Value())
}

// Counts are the counts, of a search that has covered so much.
func (s *Searched) Counts(covered finding.Covered) Found {
	found := Found{Exact: covered.Complete(), CountedFrom: covered.From, CountedTo: covered.Until}
	for at, c := range s.quarters {
		found.Quarters = append(found.Quarters, Quarter{at, *c})
	}
	found.sort()
	return found
}
