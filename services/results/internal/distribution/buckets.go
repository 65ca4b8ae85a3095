package distribution

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// buckets are when the buckets of a time begin, and at last when the last one ends (spec: distribution-time).
func buckets(by api.DistributionBy, zone *time.Location, from, to prism.Day) (begins []time.Time) {
	for day := from; day < to; day++ {
		begin := beginning(day, zone)
		if by != api.DistributionByWeek || day == from || isMonday(day) {
			begins = append(begins, begin)
		}
		if by == api.DistributionByHour {
			next := beginning(day+1, zone)
			for at := begin.Add(time.Hour); at.Before(next); at = at.Add(time.Hour) {
				begins = append(begins, at)
			}
		}
	}
	return append(begins, beginning(to, zone))
}

// isMonday: day 0 was a Thursday.
func isMonday(day prism.Day) bool { return day.Start().Weekday() == time.Monday }

// beginning is the first moment of a day in a zone. Its midnight may be twice, or not at all: then the day begins when the clocks are set.
func beginning(day prism.Day, zone *time.Location) time.Time {
	midnight := day.Start()
	year, month, date := midnight.Date()
	usual := time.Date(year, month, date, 0, 0, 0, 0, zone)
	_, before := usual.Add(-24 * time.Hour).Zone() // the offset before the clocks were set, if they were
	begin := midnight.Add(-time.Duration(before) * time.Second).In(zone)
	if usual.Day() == date && (begin.Day() != date || usual.Before(begin)) {
		begin = usual
	}
	return begin.UTC()
}
