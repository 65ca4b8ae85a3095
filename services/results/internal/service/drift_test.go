package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: drift-set, drift-read, drift-members, drift-not-watched, drift-roles
func TestADriftIsThatOfAVersionOfAWatchedPrism(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "tickets")
	ctx, ref := t.Context(), prism.Ref{Slug: "tickets"}
	const none = `{"version":1,"watched":false,"counted_to":null,"reference":null,"questions":\[\]}`
	got, err := w.ReadDrift(ctx, w.key, ref, 0)
	matches(t, got, err, none)
	const at = `"[0-9T:.-]+Z"`
	window := `{"from":` + at + `,"to":` + at + `,"results":0,"alarm":false,"probability":null,"classes":null}`
	watched := func(reference string) string {
		return `{"version":1,"watched":true,"counted_to":` + at + `,"reference":` + reference + `,"questions":\[{"question":"q","index":0,"type":"yes_no","metrics":true,` +
			`"hour":` + window + `,"day":` + window + `,"hours":\[\],"days":\[\]}\]}`
	}
	got, err = w.SetDrift(ctx, w.key, ref, api.DriftChange{Watched: true})
	matches(t, got, err, watched(`{"kind":"first","from":null,"to":null,"results":0}`))
	hour := time.UnixMilli(w.clock.Load()).UTC().Truncate(time.Hour)
	period := &api.DriftPeriod{From: hour.Add(-2 * time.Hour), To: hour}
	got, err = w.SetDrift(ctx, w.key, ref, api.DriftChange{Watched: true, Version: 1, Reference: period})
	set := fmt.Sprintf(`{"kind":"set","from":"%s","to":"%s","results":0}`, prism.FormatTime(period.From), prism.FormatTime(period.To))
	matches(t, got, err, watched(set))
	got, err = w.ReadDrift(ctx, w.key, ref, 1)
	matches(t, got, err, watched(set))
	got, err = w.SetDrift(ctx, w.key, ref, api.DriftChange{})
	matches(t, got, err, none)
	for _, version := range []int{0, 2} {
		_, read := w.ReadDrift(ctx, w.key, prism.Ref{Slug: "other"}, int32(version))
		_, change := w.SetDrift(ctx, w.key, prism.Ref{Slug: "other"}, api.DriftChange{Version: version})
		if !errors.Is(read, apierr.PrismNotFound()) || !errors.Is(change, apierr.PrismNotFound()) {
			t.Errorf("of no prism: %v, %v", read, change)
		}
	}
	_, read := w.ReadDrift(ctx, w.key, ref, 2)
	_, change := w.SetDrift(ctx, w.key, ref, api.DriftChange{Watched: true, Version: 2})
	if !errors.Is(read, apierr.VersionNotFound()) || !errors.Is(change, apierr.VersionNotFound()) {
		t.Errorf("of no version: %v, %v", read, change)
	}
}

// spec: drift-reference-set
func TestAReferencePeriodIsOneThatIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "tickets")
	hour := time.UnixMilli(w.clock.Load()).UTC().Truncate(time.Hour)
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{-time.Hour, 2 * time.Hour, "reference.to: must not be in the future"},
		{-91 * 24 * time.Hour, 0, "reference.from: must be at most 90 days ago"},
		{-89 * 24 * time.Hour, 0, ""},
		{-89 * 24 * time.Hour, 0, ""}, // it is set, and too old by then
	} {
		_, err := w.SetDrift(t.Context(), w.key, prism.Ref{Slug: "tickets"}, api.DriftChange{
			Watched: true, Reference: &api.DriftPeriod{From: hour.Add(c.from), To: hour.Add(c.to)},
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%v to %v: %v, want %q", c.from, c.to, err, c.want)
		}
		if err == nil {
			w.clock.Add((100 * 24 * time.Hour).Milliseconds())
		}
	}
}
