package finding

import "time"

// Covered is what a search did not look at: what was changed after Until, and saved before From. Newest is MostSorted if there were more
// to sort.
type Covered struct {
	Until, From *time.Time
	Newest      int
}

// Complete tells whether a search has looked at all results.
func (c Covered) Complete() bool { return c.Until == nil && c.From == nil }
