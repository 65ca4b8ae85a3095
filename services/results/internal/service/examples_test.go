package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/store"
)

// counts are those of labels.
type counts struct {
	Labels   int `json:"labels"`
	Counted  int `json:"counted"`
	Examples int `json:"examples"`
}

// labelledExample is example, where a test has an example of its own.
var labelledExample = example

// Five examples of 220 inputs, and one of them again under another id: whether it is counted already, or has just been labelled.
//
// spec: distribution-labels
func TestLabelsOfExamplesAreNotInADistribution(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := definition("text")
	for i := range 5 {
		d.Examples = append(d.Examples, prism.Example{
			Fields:  prism.ExampleFields{{Key: "text", Value: fmt.Sprint("text ", i+1)}},
			Answers: prism.ExampleAnswers{prism.NewExampleAnswer(d.Questions[0], "true")},
		})
	}
	if _, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: "tickets", NewVersion: api.NewVersion{Definition: d}}); err != nil {
		t.Fatal(err)
	}
	p, err := w.store.Prism(t.Context(), w.account, prism.Ref{Slug: "tickets"})
	if err != nil {
		t.Fatal(err)
	}
	ids := w.examples(t, p.ID, 1, 220)
	w.labelled(t, p.ID, ids, 1, prism.RandomSample, true)
	labelled := func(where ...string) (answers, labelled int64) {
		rows := did(t, w, api.ReadDistribution, api.ReadDistributionRequest{
			PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "tickets"}}, Question: "q", By: api.DistributionByDay, Zone: "UTC",
			ResultSearch: api.ResultSearch{Where: where},
		})
		for _, row := range rows.Data {
			answers, labelled = answers+row.Answers, labelled+row.Labelled
		}
		return answers, labelled
	}
	want := func(when string, wantAnswers, wantLabelled int64, where ...string) {
		t.Helper()
		if a, l := labelled(where...); a != wantAnswers || l != wantLabelled {
			t.Errorf("%s %d answers and %d labels, want %d and %d", when, a, l, wantAnswers, wantLabelled)
		}
	}
	want("at first", 220, 215)
	again := w.save(p.ID)
	again.Fields[0].Value = "text 3"
	w.saved(t, again)
	label := labels.Label{Result: again.ID, Version: 1, Question: "q", Value: "true", Sample: prism.RandomSample, Origin: store.LabelOfCall, At: time.UnixMilli(1)}
	if _, err := w.store.PutLabels(t.Context(), w.account, p.ID, []labels.Label{label}); err != nil {
		t.Fatal(err)
	}
	want("before it is counted", 221, 215)
	if err := w.store.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		if more, err = w.store.Count(t.Context(), w.account, 1000); err != nil {
			t.Fatal(err)
		}
	}
	want("when all is counted", 221, 215)
	if _, err := w.DeleteResult(t.Context(), w.key, ids[5]); err != nil {
		t.Fatal(err)
	}
	want("after a deletion", 221, 215)
}

// spec: emptied-examples
func TestALeaseStopsWhenAnExampleOfItsVersionIsEmptied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "a")
	taken := w.save(of)
	if _, err := w.Save(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	p, err := w.store.Prism(t.Context(), w.account, prism.Ref{ID: of})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Latest.Definition
	fields := make(prism.ExampleFields, len(d.Fields))
	for i, f := range d.Fields {
		fields[i] = prism.FieldValue{Key: f.Key, Value: "of a person"}
	}
	q := d.Questions[0]
	d.Examples = []prism.Example{{
		Fields: fields, Answers: prism.ExampleAnswers{prism.NewExampleAnswer(q, q.LabelValues()[0])}, Result: taken.ID,
	}}
	version := api.CreateVersionRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "a"}}, NewVersion: api.NewVersion{Definition: d}}
	if _, err := contract.Do(t.Context(), w, w.key, api.CreateVersion, version); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, newRun(w.ready(t, []byte(tickets)).ID)); err != nil {
		t.Fatal(err)
	}
	stops := func(c *contract.Chunk) bool {
		states, err := w.RenewLeases(t.Context(), []contract.Lease{c.Lease})
		if err != nil {
			t.Fatal(err)
		}
		return states[0].Stop
	}
	c := w.leased(t)
	if c.Facts.Version.Examples[0].Emptied() || stops(c) {
		t.Error("the lease stops before the deletion")
	}
	if _, err := w.DeleteResult(t.Context(), w.key, taken.ID); err != nil {
		t.Fatal(err)
	}
	if !stops(c) {
		t.Error("the lease goes on with an example whose result is deleted")
	}
	w.answered(t, c)
	if again := w.leased(t); !again.Facts.Version.Examples[0].Emptied() || stops(again) {
		t.Errorf("the next lease has %+v", again.Facts.Version.Examples)
	}
}

// spec: measures-without-examples
func TestInputsThatAreExamplesAreLeftOutOfTheMeasures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := definition("text")
	example := func(i int, of prism.ResultID) prism.Example {
		return prism.Example{
			Fields:  prism.ExampleFields{{Key: "text", Value: fmt.Sprint("text ", i)}},
			Answers: prism.ExampleAnswers{prism.NewExampleAnswer(d.Questions[0], "true")}, Result: of,
		}
	}
	for i := range 5 {
		d.Examples = append(d.Examples, example(i+1, prism.ResultID{}))
	}
	if _, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: "tickets", NewVersion: api.NewVersion{Definition: d}}); err != nil {
		t.Fatal(err)
	}
	p, err := w.store.Prism(t.Context(), w.account, prism.Ref{Slug: "tickets"})
	if err != nil {
		t.Fatal(err)
	}
	of := p.ID
	ids := w.examples(t, of, 1, 220)
	w.labelled(t, of, ids, 1, prism.RandomSample, true)
	for _, origin := range []store.LabelOrigin{store.LabelOfCall, store.LabelOfFile} { // equal inputs under other ids
		s := w.save(of)
		s.Fields[0].Value, s.Context = "text 3", string(origin)
		w.saved(t, s)
		label := labels.Label{Result: s.ID, Version: 1, Question: "q", Value: "true", Sample: prism.RandomSample, Origin: origin, At: time.UnixMilli(1)}
		if _, err := w.store.PutLabels(t.Context(), w.account, of, []labels.Label{label}); err != nil {
			t.Fatal(err)
		}
	}
	measured := func(version int32) counts {
		response, err := w.Quality(t.Context(), w.key, versionAt("tickets", version), "q")
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Questions []counts `json:"questions"`
		}
		decode(t, response, &body)
		return body.Questions[0]
	}
	if got := measured(1); got != (counts{222, 215, 7}) {
		t.Errorf("measures: %+v", got)
	}
	response, err := contract.Do(t.Context(), w, w.key, api.ReadThresholds, api.ReadThresholdsRequest{
		VersionRequest: versionOf("tickets"), Question: "q", FalseYes: 1, FalseNo: 1, Unsure: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var thresholds counts
	if decode(t, response, &thresholds); thresholds != (counts{222, 215, 7}) {
		t.Errorf("thresholds: %+v", thresholds)
	}
	if fit := w.calibrated(t, "tickets", api.PlattCalibration); fit.Labels != 215 {
		t.Errorf("a calibration is fitted to %d labels", fit.Labels)
	}

	d.Examples = []prism.Example{example(6, ids[5])}
	version := api.CreateVersionRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "tickets"}}, NewVersion: api.NewVersion{Definition: d}}
	if _, err := contract.Do(t.Context(), w, w.key, api.CreateVersion, version); err != nil {
		t.Fatal(err)
	}
	w.saveLabelled(t, of, 2, 220, func(int) string { return `{"q":{"type":"yes_no","probability":0.75}}` }, map[string]func(int) string{
		"q": func(i int) string { _, yes := labelledExample(i); return fmt.Sprint(yes) },
	})
	compared := func() (c struct {
		Counted int    `json:"counted"`
		LeftOut counts `json:"left_out"`
	},
	) {
		response, err := contract.Do(t.Context(), w, w.key, api.CompareVersions, api.CompareVersionsRequest{
			PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "tickets"}}, A: 1, B: 2, Question: "q",
		})
		if err != nil {
			t.Fatal(err)
		}
		decode(t, response, &c)
		return c
	}
	if got := compared(); got.Counted != 214 || got.LeftOut.Examples != 6 {
		t.Errorf("compared: %+v", got)
	}
	if got := measured(2); got != (counts{220, 219, 1}) {
		t.Errorf("measures of version 2: %+v", got)
	}
	if _, err := w.DeleteResult(t.Context(), w.key, ids[5]); err != nil {
		t.Fatal(err)
	}
	if got := measured(2); got != (counts{220, 220, 0}) { // the text is not known any more, and no cached measure is served
		t.Errorf("measures after the deletion: %+v", got)
	}
}
