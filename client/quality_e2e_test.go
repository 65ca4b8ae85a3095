package client_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: quality, thresholds, compare, too-few-labels
func TestMeasuresOfLabelledResults(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()
	_, err := c.CreatePrism(ctx, triage("triage"))
	check(t, err)
	_, err = c.CreateVersion(ctx, "triage", triage("").NewVersion)
	check(t, err)
	upset := client.QualityFilter{Question: "upset"}
	if _, err := c.ReadQuality(ctx, "triage", 1, upset); !errors.Is(err, client.ErrConflict) {
		t.Errorf("without labels: %v", err)
	}
	labels := client.ManyLabels{Sample: client.RandomSample}
	for i := range 60 {
		r, err := c.CreateResult(ctx, "triage", client.NewResult{Text: fmt.Sprint("message ", i/2), Version: i%2 + 1})
		check(t, err)
		value := client.LabelValue(fmt.Sprint(i < 48)) // the model says yes
		labels.Labels = append(labels.Labels, client.NewLabel{ResultID: r.ID, Question: "upset", Value: value})
	}
	_, err = c.AddLabels(ctx, "triage", labels)
	check(t, err)

	q, err := c.ReadQuality(ctx, "triage", 1, upset)
	check(t, err)
	if one := q.Questions[0]; q.Version != 1 || len(q.Questions) != 1 || one.Counted != 30 || one.Accuracy.Value != 0.8 || one.RPS != nil ||
		one.Confusion.Counts[0][1] != 6 || one.Classes[1].Value != true || one.Bins != nil {
		t.Errorf("got %+v", one)
	}
	at, err := c.ReadThresholds(ctx, "triage", 1, upset, client.Costs{FalseYes: 1, FalseNo: 1.5, Unsure: 0.4})
	check(t, err)
	if at.YesAt != 0.6 || at.Theory.FalseYes != 6 || at.Theory.Total != 6 || len(at.Counts) != 101 || at.FalseNo != 1.5 {
		t.Errorf("got %+v", at)
	}
	compared, err := c.CompareVersions(ctx, "triage", 1, 2, "upset")
	check(t, err)
	if compared.Verdict != "not distinguishable with 30 labels" || compared.McNemar != (client.McNemar{P: 1}) ||
		compared.A.Accuracy.Value != 0.8 || compared.B.Version != 2 || compared.Differences.Accuracy.Value != 0 {
		t.Errorf("got %+v", compared)
	}
}
