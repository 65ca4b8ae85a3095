package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// Distribution is the answers to a question by time.
	Distribution = api.Distribution
	// DistributionRow is the answers of an hour, a day or a week.
	DistributionRow = api.DistributionRow
	// DistributionValue is how many results answered a value.
	DistributionValue = api.DistributionValue
	// DistributionBy is how long a row of a distribution is.
	DistributionBy = api.DistributionBy
)

// How long rows are.
const (
	DistributionByHour = api.DistributionByHour
	DistributionByDay  = api.DistributionByDay
	DistributionByWeek = api.DistributionByWeek
)

// DistributionFilter selects what to count; an empty member other than Question selects all, or what its comment says.
type DistributionFilter struct {
	Question string         // its key
	By       DistributionBy // DistributionByDay if empty
	Zone     string         // a name of the IANA time zone database; UTC if empty
	From     time.Time      // the first day of the zone: its date counts; 30 days before To if zero
	To       time.Time      // the day after the last one; tomorrow if zero
	Version  int
	ResultSearch
}

// ReadDistribution counts the answers to a question by time.
func (c *Client) ReadDistribution(ctx context.Context, prism string, f DistributionFilter, options ...CallOption) (Distribution, error) {
	q := url.Values{}
	set(q, "question", f.Question)
	set(q, "by", string(f.By))
	set(q, "zone", f.Zone)
	for name, day := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !day.IsZero() {
			q.Set(name, day.Format(time.DateOnly))
		}
	}
	if f.Version != 0 {
		q.Set("version", strconv.Itoa(f.Version))
	}
	setSearch(q, f.ResultSearch)
	return fetch[Distribution](ctx, c, declared(api.ReadDistribution, prism).where(q), options)
}
