package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/services/results"
)

// A reader of docs/quality.md answers the example's file, has the reworded version answer it too, and watches the prism. Nothing has
// changed meanwhile, so nothing may drift: the file must not be sorted by what it asks.
//
// spec: drift-alarm, drift-reference.
func TestTheReaderOfThePageOfQualitySeesNoDrift(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(root, "examples", "quality", name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	definition := func(name string) (p api.NewPrism) {
		if err := strictjson.Unmarshal(file(name), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}

	c, err := compose(ctx, results.Config{DataDir: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.results.Close)
	id, err := c.results.Operator().CreateAccount(ctx, "reader")
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.results.Operator().CreateKey(ctx, id, "reader", prism.Owner)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := apikey.Parse(text)
	a := account{t, c.results, key.Digest()}
	p := definition("prism.json")
	of := ofPrism(p.Slug)
	began := time.Now().Add(-time.Hour)
	c.clock.Set(began)
	readAs[api.Prism](a, api.CreatePrism, api.CreatePrismRequest{NewPrism: p})
	a.working(c, func() {
		a.run(p.Slug, api.NewRun{
			File: a.upload(file("questions.csv")), Fields: []api.FieldColumn{{Field: "text", Column: "text"}},
			Labels: []api.FieldColumn{{Field: "topic", Column: "topic"}, {Field: "problem", Column: "problem"}},
		})
		readAs[api.Version](a, api.CreateVersion, api.CreateVersionRequest{
			PrismRequest: of, NewVersion: definition("reworded.json").NewVersion,
		})
		labels, err := c.results.LabelsRun(ctx, a.key, of.Prism, api.NewRun{FromLabelsOf: 1, Version: 2})
		if err != nil {
			t.Fatal(err)
		}
		a.run(p.Slug, labels)
	})
	c.clock.Set(began.Add(50 * time.Minute)) // by now each result is old enough to be counted
	readAs[api.Drift](a, api.SetDrift, api.SetDriftRequest{PrismRequest: of, DriftChange: api.DriftChange{Watched: true}})
	var drifts []api.Drift
	a.working(c, func() {
		for _, version := range []int32{1, 2} {
			a.await("counting answers", func() bool {
				d := readAs[api.Drift](a, api.ReadDrift, api.ReadDriftRequest{PrismRequest: of, Version: version})
				if d.CountedTo == nil || d.CountedTo.Before(began.Add(45*time.Minute)) {
					return false
				}
				drifts = append(drifts, d)
				return true
			})
		}
	})
	for _, d := range drifts {
		for _, q := range d.Questions {
			for name, w := range map[string]api.DriftWindow{"hour": q.Hour, "day": q.Day} {
				if w.Results < 900 || w.Classes == nil || w.Probability == nil {
					t.Fatalf("version %d: %d results of the last %s are compared", d.Version, w.Results, name)
				}
				if w.Alarm {
					t.Errorf("version %d: %s drifts in the last %s: answers by %v of %v, probabilities by %v of %v", d.Version, q.Question, name,
						w.Classes.PSI, w.Classes.Limit, w.Probability.PSI, w.Probability.Limit)
				}
			}
		}
	}
}
