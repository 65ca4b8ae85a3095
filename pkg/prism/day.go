package prism

import "time"

// Day is a day in UTC, as a number of days since 1970-01-01.
type Day int32

const secondsOfDay = 24 * 60 * 60

// DayOf is the day of a time.
func DayOf(t time.Time) Day {
	seconds := t.Unix()
	day := seconds / secondsOfDay
	if seconds%secondsOfDay < 0 {
		day--
	}
	return Day(day) //nolint:gosec // the year of a time that is written has four digits
}

// Start is the time at which the day begins.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// String is the day as RFC 3339 writes it, such as 2026-11-01.
func (d Day) String() string { return d.Start().Format(time.DateOnly) }
