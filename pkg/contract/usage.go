package contract

import (
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// UsageQuery selects what to add up (spec: usage-query). Zero values select everything.
type UsageQuery struct {
	By       UsageBy
	From, To *prism.Day   `json:",omitzero"` // To is exclusive; nil: see Period
	Prism    *prism.Ref   `json:",omitzero"`
	Model    string       `json:",omitzero"`
	Key      *prism.KeyID `json:",omitzero"`
}

// UsageBy is what usage is added up by.
type UsageBy string

// What usage is added up by.
const (
	ByDay   UsageBy = "day"
	ByPrism UsageBy = "prism"
	ByModel UsageBy = "model"
	ByKey   UsageBy = "key"
)

// UsageBys are all of them in the order in which error messages list them.
func UsageBys() []UsageBy { return []UsageBy{ByDay, ByPrism, ByModel, ByKey} }

// The days of a UsageQuery (spec: usage-days).
const (
	usageDays     = 30  // without From
	mostUsageDays = 366 // at most
)

// Period returns the first day of a query and the day after its last, or what is wrong with them. Without To the last day is today.
func (q UsageQuery) Period(today prism.Day) (from, to prism.Day, problem *apierr.Problem) {
	to = today + 1
	if q.To != nil {
		to = *q.To
	}
	from = to - usageDays
	if q.From != nil {
		from = *q.From
	}
	switch {
	case from >= to:
		problem = &apierr.Problem{Path: "from", Text: "must be before to"}
	case to-from > mostUsageDays:
		problem = &apierr.Problem{Path: "from", Text: "must be at most 366 days before to"}
	}
	return from, to, problem
}
