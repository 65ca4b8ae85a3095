package api

import (
	"fmt"
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// ReadDistribution counts the answers to a question by time (spec: distribution).
var ReadDistribution = Op[ReadDistributionRequest, Distribution]{Declaration{
	Name: "readDistribution", Method: http.MethodGet, Path: "/v1/prisms/{prism}/distribution", Tag: "Prisms", Role: prism.Reader, Class: Scanning,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.NotSearchable()},
}}

// ReadDistributionRequest is the request of ReadDistribution. Without a day, results completes the period, since its clock says which day
// is today in the zone.
type ReadDistributionRequest struct {
	PrismRequest
	// The key of a question.
	Question string `query:"question" max:"200" required:"true" example:"refund"`
	// How long a row is.
	By DistributionBy `query:"by" default:"day"`
	// The time zone of days and hours, by its name in the IANA database.
	Zone string `query:"zone" max:"64" default:"UTC" example:"Europe/Berlin"`
	// The first day, in the zone. 30 days before `to` unless given, and at most 416 by hour, 10,000 by day and 70,000 by week.
	From *prism.Day `query:"from"`
	// The day after the last, likewise. Tomorrow unless given.
	To *prism.Day `query:"to"`
	// Only answers of this version; of all unless given.
	Version int32 `query:"version" min:"1" max:"2147483647"`
	ResultSearch
}

// DistributionBy is how long a row of a distribution is.
type DistributionBy string

// How long rows are.
const (
	DistributionByHour DistributionBy = "hour"
	DistributionByDay  DistributionBy = "day"
	DistributionByWeek DistributionBy = "week"
)

// The bounds of a distribution (spec: distribution-time).
const (
	distributionDays = 30 // without From
	mostBuckets      = 10_000
)

// Values are all of them in the order in which error messages list them.
func (DistributionBy) Values() []string {
	return []string{string(DistributionByHour), string(DistributionByDay), string(DistributionByWeek)}
}

// Period returns the first day of a query and the day after its last, or what is wrong with them. Without To the last day is today.
func (q ReadDistributionRequest) Period(today prism.Day) (from, to prism.Day, problem *apierr.Problem) {
	to = today + 1
	if q.To != nil {
		to = *q.To
	}
	from = to - distributionDays
	if q.From != nil {
		from = *q.From
	}
	longest := prism.Day(mostBuckets)
	switch q.By {
	case DistributionByDay:
	case DistributionByHour:
		longest /= 24
	case DistributionByWeek:
		longest *= 7
	}
	switch {
	case from >= to:
		problem = &apierr.Problem{Path: "from", Text: "must be before to"}
	case to-from > longest:
		problem = &apierr.Problem{Path: "from", Text: fmt.Sprintf("must be at most %d days before to", longest)}
	}
	return from, to, problem
}

// Problems implements the rule that days that are both sent are a period.
func (q ReadDistributionRequest) Problems(Sent) []apierr.Problem {
	if q.From != nil && q.To != nil {
		if _, _, problem := q.Period(0); problem != nil {
			return []apierr.Problem{*problem}
		}
	}
	return nil
}

// Distribution is the answers to a question by time.
type Distribution struct {
	// The question.
	Question string `json:"question" schema:"Key"`
	// Its type in the newest version that has it.
	Type QuestionType `json:"type"`
	// How long a row is.
	By DistributionBy `json:"by"`
	// The time zone.
	Zone string `json:"zone"`
	// The first day, in the zone.
	From string `json:"from" form:"date"`
	// The day after the last.
	To string `json:"to" form:"date"`
	// Everything that was ever answered and labelled is counted; with `q` or `where`, every result that matches.
	Exact bool `json:"exact"`
	// Results whose ids have an earlier time are not all counted. Null if all are.
	CountedFrom *Time `json:"counted_from"`
	// What happened since is not all counted. Null if all is.
	CountedTo *Time `json:"counted_to"`
	// A row for each hour, day or week with an answer, in the order of time.
	Data []DistributionRow `json:"data"`
}

// DistributionRow is the answers of an hour, a day or a week.
type DistributionRow struct {
	// When it begins.
	At Time `json:"at"`
	// How many results answered.
	Answers int64 `json:"answers" min:"1"`
	// How many answered what: each value that a label can have.
	Values []DistributionValue `json:"values"`
	// The mean probability of yes, or of what was answered.
	Probability float64 `json:"probability" min:"0" max:"1"`
	// How many of the answers have a label.
	Labelled int64 `json:"labelled" min:"0"`
	// How many of those are as their label says.
	Right int64 `json:"right" min:"0"`
	// How many answers have a probability of yes of 0.00, 0.01, … 1.00, rounded. Of yes_no.
	Bins Nullable[int64] `json:"bins" null:"true"`
}

// DistributionValue is how many results answered a value.
type DistributionValue struct {
	// The key of an option or a level, or whether the answer is yes.
	Value any `json:"value"`
	// How many.
	Count int64 `json:"count" min:"0"`
}
