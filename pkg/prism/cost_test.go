package prism_test

import (
	"math"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: cost-is-exact
func TestACostIsWrittenAsAnExactDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cost prism.Cost
		want string
	}{
		{prism.Cost{}, "0"},
		{prism.Cost{Rest: 1}, "0.000000000001"},
		{prism.Cost{Rest: 125_000_000}, "0.000125"},
		{prism.Cost{Whole: 100}, "100"},
		{prism.Cost{Whole: 10, Rest: 500_000_000_000}, "10.5"},
		{prism.Cost{Whole: 1, Rest: 1_999_999_999_999}, "2.999999999999"},
		{prism.Cost{Rest: math.MaxInt64}, "9223372.036854775807"},
		{prism.Cost{Whole: math.MaxInt64, Rest: math.MaxInt64}, "9223372036863999179.036854775807"},
		{prism.Cost{Whole: 3, Rest: 1}.Add(prism.Cost{Whole: 4, Rest: 999_999_999_999}), "8"},
		{prism.Cost{Rest: math.MaxInt64}.Add(prism.Cost{Rest: math.MaxInt64}), "18446744.073709551614"},
	} {
		if got, err := c.cost.MarshalJSON(); err != nil || string(got) != c.want {
			t.Errorf("%+v is %s, %v, want %s", c.cost, got, err, c.want)
		}
	}
}

// spec: cost-is-exact
func TestACostIsOneFloatHoweverItWasAddedUp(t *testing.T) {
	t.Parallel()
	var sum prism.Cost
	for range 10 {
		sum = sum.Add(prism.Cost{Rest: 7_200_000})
	}
	for cost, want := range map[prism.Cost]float64{sum: 7.2e-05, {Whole: 3, Rest: 100_000_000_000}: 3.1, {}: 0} {
		if got := cost.Float64(); got != want {
			t.Errorf("%+v is %v, want %v", cost, got, want)
		}
	}
}

// spec: usage-days
func TestADayIsOfUTC(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 14*60*60)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "2026-11-01"},
		{time.Date(2026, 11, 1, 23, 59, 59, 999_999_999, time.UTC), "2026-11-01"},
		{time.Date(2026, 11, 2, 13, 59, 59, 0, east), "2026-11-01"},
		{time.Date(2026, 11, 2, 14, 0, 0, 0, east), "2026-11-02"},
		{time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), "1969-12-31"},
		{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), "0000-01-01"},
		{time.Date(9999, 12, 31, 12, 0, 0, 0, time.UTC), "9999-12-31"},
	} {
		if got := prism.DayOf(c.at); got.String() != c.want || prism.DayOf(got.Start()) != got || got.Start().After(c.at) {
			t.Errorf("%s is on %s, want %s", c.at, got, c.want)
		}
	}
}
