package distribution

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

func day(t *testing.T, s string) prism.Day {
	t.Helper()
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return prism.DayOf(at)
}

// spec: distribution-time
func TestBucketsBeginWhereTheZoneSaysSo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, from, to string
		by                   api.DistributionBy
		count                int
		first, second, end   string
	}{
		{"days in UTC", "UTC", "2026-03-01", "2026-03-03", api.DistributionByDay, 2, "2026-03-01T00:00", "2026-03-02T00:00", "2026-03-03T00:00"},
		{"days of half an hour's zone", "Asia/Kolkata", "2026-03-01", "2026-03-03", api.DistributionByDay, 2, "2026-02-28T18:30", "2026-03-01T18:30", "2026-03-02T18:30"},
		{"a day of 23 hours", "Europe/Berlin", "2026-03-29", "2026-03-30", api.DistributionByHour, 23, "2026-03-28T23:00", "2026-03-29T00:00", "2026-03-29T22:00"},
		{"a day of 25 hours", "Europe/Berlin", "2026-10-25", "2026-10-26", api.DistributionByHour, 25, "2026-10-24T22:00", "2026-10-24T23:00", "2026-10-25T23:00"},
		{"the days around a change of the clocks", "Europe/Berlin", "2026-03-29", "2026-03-31", api.DistributionByDay, 2, "2026-03-28T23:00", "2026-03-29T22:00", "2026-03-30T22:00"},
		{"a day without a midnight begins when the clocks are set", "America/Sao_Paulo", "2018-11-03", "2018-11-05", api.DistributionByDay, 2, "2018-11-03T03:00", "2018-11-04T03:00", "2018-11-05T02:00"},
		{"a day with two midnights begins with the first", "America/Havana", "2026-11-01", "2026-11-03", api.DistributionByDay, 2, "2026-11-01T04:00", "2026-11-02T05:00", "2026-11-03T05:00"},
		{"weeks begin on Monday, the first where it is asked for", "UTC", "2026-11-25", "2026-12-08", api.DistributionByWeek, 3, "2026-11-25T00:00", "2026-11-30T00:00", "2026-12-08T00:00"},
		{"hours of a day whose clocks are set by half of one", "Australia/Lord_Howe", "2026-04-05", "2026-04-06", api.DistributionByHour, 25, "2026-04-04T13:00", "2026-04-04T14:00", "2026-04-05T13:30"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			begins := buckets(test.by, zone, day(t, test.from), day(t, test.to))
			if len(begins) != test.count+1 {
				t.Fatalf("there are %d buckets: %v", len(begins)-1, begins)
			}
			for i, want := range map[int]string{0: test.first, 1: test.second, test.count: test.end} {
				if got := begins[i].Format("2006-01-02T15:04"); got != want {
					t.Errorf("bucket %d begins at %s, want %s", i, got, want)
				}
			}
			for i := range test.count {
				if !begins[i].Before(begins[i+1]) || !begins[i].Equal(begins[i].Truncate(quarter)) {
					t.Errorf("bucket %d begins at %v, and the next at %v", i, begins[i], begins[i+1])
				}
			}
		})
	}
}
