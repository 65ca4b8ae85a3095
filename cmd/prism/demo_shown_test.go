package main

import (
	"bytes"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/cmd/prism/internal/sample"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results"
)

// The default plan: drift is known only from so many results on.
//
// spec: demo-account.
func TestTheDemoHasWhatEachPageShows(t *testing.T) {
	t.Parallel()
	cfg := results.Config{DataDir: t.TempDir()}
	until := time.Date(2026, time.March, 31, 12, 0, 0, 0, time.UTC)
	plan := sample.Plan{Calls: 5000, Days: 30, Until: until}
	began := time.Now()
	if err := fill(t.Context(), cfg, "example", plan, "bin/prism", &bytes.Buffer{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %s", time.Since(began))
	a := readAccount(t, cfg, "example")
	latest := ofVersion("support", 2)

	t.Run("two versions, the second of which is better", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		if p := readAs[api.Prism](a, api.ReadPrism, latest.PrismRequest); p.LatestVersion != 2 {
			t.Errorf("the latest version is %d", p.LatestVersion)
		}
		c := readAs[api.Comparison](a, api.CompareVersions, api.CompareVersionsRequest{
			PrismRequest: latest.PrismRequest, A: 1, B: 2, Question: "team",
		})
		if c.Counted < 50 || c.Differences.Accuracy.Value <= 0 {
			t.Errorf("version 2 is %s by %d inputs: %+v", c.Verdict, c.Counted, c.Differences.Accuracy)
		}
	})
	t.Run("400 results that people labelled", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		labelled := map[string]bool{}
		people := map[string]bool{}
		for cursor := ""; ; {
			page := readAs[api.Page[api.LabelledResult]](a, api.ListLabels, api.ListLabelsRequest{
				PrismRequest: latest.PrismRequest, Question: "team", PageRequest: api.PageRequest{Limit: 100}, Cursor: cursor,
			})
			for _, r := range page.Data {
				if l := r.Labels["team"]; l.Origin == "call" {
					labelled[r.ResultID], people[l.KeyID] = true, true
				}
			}
			if page.NextCursor == nil {
				break
			}
			cursor = *page.NextCursor
		}
		if len(labelled) != 400 || len(people) != 2 {
			t.Errorf("%d results have labels of %d people", len(labelled), len(people))
		}
	})
	// What Overview shows as Right is of the latest version.
	t.Run("how many are right", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		for of, questions := range map[api.VersionRequest][]string{
			latest: {"team", "refund", "mood"}, ofVersion("banking77", 1): {"intent"},
		} {
			q := readAs[api.Quality](a, api.ReadQuality, api.ReadQualityRequest{VersionRequest: of})
			for _, question := range questions {
				i := slices.IndexFunc(q.Questions, func(q api.QuestionQuality) bool { return q.Question == question })
				if m := q.Questions[i]; m.Counted < 200 || m.Accuracy == nil || m.Accuracy.Value < 0.2 || len(m.Bins) == 0 {
					t.Errorf("%s by %d labels: %+v", question, m.Counted, m.Accuracy)
				} else {
					t.Logf("%s: %d labels, accuracy %+v, log loss %+v", question, m.Counted, *m.Accuracy, *m.LogLoss)
				}
			}
		}
		to := prism.DayOf(until) + 1
		from := to - 31
		d := readAs[api.Distribution](a, api.ReadDistribution, api.ReadDistributionRequest{
			PrismRequest: latest.PrismRequest, Question: "team", By: api.DistributionByDay, Zone: "UTC", From: &from, To: &to,
		})
		if len(d.Data) != 30 || d.Data[0].Answers < 10 {
			t.Errorf("%d days have answers, the first %d", len(d.Data), d.Data[0].Answers)
		}
		days, right := 0, 0
		for _, day := range d.Data {
			if day.Labelled > 0 {
				days, right = days+1, right+int(day.Right)
			}
		}
		if days < 20 || right < 100 {
			t.Errorf("%d days have labelled answers, %d are right", days, right)
		}
	})
	t.Run("calibrations that are pinned and shown", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		for of, questions := range map[api.VersionRequest][]string{latest: {"team", "refund"}, ofVersion("banking77", 1): {"intent"}} {
			pins := readAs[api.PinnedCalibrations](a, api.ReadPinnedCalibrations, of)
			shown := readAs[api.Prism](a, api.ReadPrism, of.PrismRequest).Lens.Columns
			for _, question := range questions {
				if pins.Questions[question] == nil {
					t.Errorf("%s has no calibration", question)
				}
				if !slices.ContainsFunc(shown, func(c prism.Column) bool { return c.Question == question && c.Calibrated }) {
					t.Errorf("no column shows %s calibrated", question)
				}
			}
		}
	})
	t.Run("drift since the recall, and none of the bank's questions", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		for slug, want := range map[string]bool{"support": true, "banking77": false} {
			d := readAs[api.Drift](a, api.ReadDrift, api.ReadDriftRequest{PrismRequest: ofPrism(slug)})
			if !d.Watched || d.CountedTo == nil || d.CountedTo.Before(until.Add(-3*time.Minute)) {
				t.Errorf("%s is counted to %v", slug, d.CountedTo)
			}
			q := d.Questions[0]
			t.Logf("%s: %d days, %d results of the last: %+v %+v", slug, len(q.Days), q.Day.Results, q.Day.Probability, q.Day.Classes)
			if q.Day.Classes == nil || q.Day.Alarm != want || len(q.Days) < 10 {
				t.Errorf("%s drifts: %t, by %d results of the last day and %d days", slug, q.Day.Alarm, q.Day.Results, len(q.Days))
			}
		}
	})
	t.Run("a paused run", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		paused := readAs[api.Page[api.Run]](a, api.ListRuns, api.ListRunsRequest{Status: prism.RunPaused, PageRequest: api.PageRequest{Limit: 10}})
		if len(paused.Data) != 1 || paused.Data[0].OK < 100 || paused.Data[0].Pending == 0 || paused.Data[0].Reason != nil {
			t.Errorf("paused runs: %+v", paused.Data)
		}
	})
	t.Run("comments, and results that are assigned", func(t *testing.T) {
		a := account{t, a.Service, a.key}
		members := readAs[api.Page[api.Member]](a, api.ListMembers, api.ListMembersRequest{PageRequest: api.PageRequest{Limit: 10}}).Data
		if len(members) != 2 {
			t.Fatalf("members: %+v", members)
		}
		said, assigned := 0, 0
		for _, m := range members {
			mine := readAs[api.Page[struct{ ID prism.ResultID }]](a, api.ListResults, api.ListResultsRequest{
				PageRequest: api.PageRequest{Limit: 10}, ResultFilter: api.ResultFilter{Assignee: m.ID}, Format: contract.JSON,
			})
			for _, r := range mine.Data {
				assigned++
				comments := readAs[api.Page[api.Comment]](a, api.ListComments, api.ListCommentsRequest{
					ResultRequest: api.ResultRequest{Result: r.ID}, PageRequest: api.PageRequest{Limit: 10},
				})
				for _, c := range comments.Data {
					if said++; c.Author.Kind != "member" || c.Author.Name == "" {
						t.Errorf("a comment of %+v", c.Author)
					}
				}
			}
		}
		if assigned != 3 || said != 6 {
			t.Errorf("%d results are assigned, and have %d comments", assigned, said)
		}
	})
}
