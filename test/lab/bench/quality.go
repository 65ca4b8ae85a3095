package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

const (
	// driftCounted, measuredIn and calibratedRead are what docs/specification/quality.md and its neighbours promise: seconds for the
	// drift of all results, ms for the measures of all labels, and the processor time of a read with calibrated columns, of that
	// without.
	driftCounted, measuredIn, calibratedRead = 5, 1000, 1.05
	labelledSlug                             = "labelled"
)

// labelledPrism has a question of each type, so that each kind of measure is taken.
var labelledPrism = client.NewPrism{Slug: labelledSlug, NewVersion: client.NewVersion{
	Definition: client.Definition{
		Fields: []client.Field{{Key: "message"}},
		Questions: []client.Question{
			{Key: "topic", Type: client.Choice, Text: "What is the message about?", Options: []client.Option{
				{Key: "card", Label: "Card"},
				{Key: "payment", Label: "Payment"},
				{Key: "account", Label: "Account"},
				{Key: "transfer", Label: "Transfer"},
				{Key: "identity", Label: "Identity"},
				{Key: "other", Label: "Other"},
			}},
			{Key: "urgent", Type: client.YesNo, Text: "Does the customer need a reply within the hour?"},
			{Key: "tone", Type: client.Scale, Text: "How angry is the customer?", Levels: []client.Level{
				{Key: "calm", Label: "Calm"}, {Key: "annoyed", Label: "Annoyed"}, {Key: "angry", Label: "Angry"}, {Key: "furious", Label: "Furious"},
			}},
		},
	},
}}

// quality is how long drift and measures take with many results and labels of an account, and what a calibrated column costs a read.
func (b *bench) quality(ctx context.Context) error {
	return b.archived(ctx, system.Archive{Results: b.Stored, Failed: 100}, func(a archive) error {
		if err := b.drift(ctx, a); err != nil {
			return err
		}
		if err := b.measures(ctx, a); err != nil {
			return err
		}
		return b.calibratedReads(ctx, a)
	})
}

// drift counts the answers of all results: from the last look that saw nothing counted to the first one that saw all.
func (b *bench) drift(ctx context.Context, a archive) error {
	// The calls that made the archive are too young to be counted.
	filter := client.ResultFilter{Prism: system.Small.Slug, To: time.Now().Add(-system.ArchiveLag / 2)}
	newest, err := a.ListResults(ctx, filter, client.PageOptions{Limit: 1})
	if err != nil {
		return err
	}
	last := newest.Data[0].CreatedAt.Time
	var took, used []float64
	for range b.Rounds {
		if _, err := a.SetDrift(ctx, system.Small.Slug, client.DriftChange{}); err != nil {
			return err
		}
		before, err := a.busy()
		if err != nil {
			return err
		}
		d, err := a.SetDrift(ctx, system.Small.Slug, client.DriftChange{Watched: true})
		if err != nil {
			return err
		}
		began, start := time.Now(), d.CountedTo.Time
		err = awaited(ctx, 20*time.Millisecond, func() (bool, error) {
			looked := time.Now()
			d, err := a.ReadDrift(ctx, system.Small.Slug, 0)
			if err == nil && !d.CountedTo.After(start) {
				began = looked
			}
			return err == nil && d.CountedTo.After(last), err
		})
		if err != nil {
			return err
		}
		took = append(took, time.Since(began).Seconds())
		after, err := a.busy()
		if err != nil {
			return err
		}
		used = append(used, after-before)
	}
	if d, err := a.ReadDrift(ctx, system.Small.Slug, 0); err != nil {
		return err
	} else if n, want := countedIn(d), int64(b.Stored-b.Stored/100); n < want {
		return fmt.Errorf("%d results were counted, want %d", n, want)
	}
	b.report.add(b.out, atMost("quality", b.what(a, "drift of all"), "s", took, driftCounted),
		plain("quality", b.what(a, "drift of all, processor time"), "s", used))
	_, err = a.SetDrift(ctx, system.Small.Slug, client.DriftChange{})
	return err
}

// countedIn is how many answers the days of a drift have.
func countedIn(d client.Drift) (n int64) {
	for _, day := range d.Questions[0].Days {
		n += day.Results
	}
	return n
}

// measures answers a file with labels, and then the same inputs with a second version. Before each measure a label changes, so that
// none is kept.
func (b *bench) measures(ctx context.Context, a archive) error {
	if _, err := a.CreatePrism(ctx, labelledPrism); err != nil {
		return err
	}
	content := strings.NewReader(labelledFile(b.Labels))
	file, err := a.UploadFile(ctx, client.Upload{Name: "labelled.csv", Format: client.FileCSV, Content: content, Bytes: content.Size()})
	if err != nil {
		return err
	}
	same := map[string]string{"topic": "topic", "urgent": "urgent", "tone": "tone"}
	runs := []client.NewRun{
		{FileID: file.ID, Fields: map[string]string{"message": "message"}, Labels: same},
		{FromLabelsOf: 1, Version: 2},
	}
	for i, input := range runs {
		if i == 1 {
			second := labelledPrism.NewVersion
			second.Instructions = "Answer as the support team would."
			if _, err := a.CreateVersion(ctx, labelledSlug, second); err != nil {
				return err
			}
		}
		run, err := a.CreateRun(ctx, labelledSlug, input)
		if err != nil {
			return err
		}
		if run, err = a.WatchRun(ctx, run.ID, nil); err != nil || run.OK != run.Rows {
			return fmt.Errorf("%d of %d rows were answered: %w", run.OK, run.Rows, err)
		}
	}
	var labelled string
	for r, err := range a.Results(ctx, client.ResultFilter{Prism: labelledSlug, Version: 1}) {
		if err != nil {
			return err
		}
		labelled = r.ID
		break
	}
	values := map[string][2]string{"topic": {"card", "payment"}, "urgent": {"true", "false"}, "tone": {"calm", "angry"}}
	const version = "/v1/prisms/" + labelledSlug + "/versions/1/quality"
	for _, m := range []struct{ name, question, path string }{
		{"measures of a choice", "topic", version + "?question=topic"},
		{"measures of a yes_no", "urgent", version + "?question=urgent"},
		{"measures of a scale", "tone", version + "?question=tone"},
		{"thresholds by cost", "urgent", version + "/thresholds?question=urgent&false_yes=1&false_no=5&unsure=0.5"},
		{"two versions compared by a choice", "topic", "/v1/prisms/" + labelledSlug + "/compare?a=1&b=2&question=topic"},
	} {
		var took []float64
		for round := range b.Rounds {
			value := client.LabelValue(values[m.question][round%2])
			label := client.NewLabels{Labels: map[string]client.LabelValue{m.question: value}, Sample: client.RandomSample}
			if _, err := a.PutLabels(ctx, labelled, label); err != nil {
				return err
			}
			began := time.Now()
			body, err := a.Call(ctx, get, m.path, "", http.StatusOK)
			if err != nil {
				return err
			}
			took = append(took, milliseconds(time.Since(began)))
			if n := countedLabels(body); n < b.Labels-1 { // a comparison leaves out the changed label
				return fmt.Errorf("%s: %d labels counted, want %d", m.name, n, b.Labels)
			}
		}
		b.report.add(b.out, atMost("quality", fmt.Sprintf("%s with %d labels, %s", a.store, b.Labels, m.name), "ms", took, measuredIn))
	}
	return nil
}

// countedLabels are the labels that a measure, thresholds or a comparison are of.
func countedLabels(body []byte) int {
	var counted struct {
		Counted   int
		Questions []struct{ Counted int }
	}
	if json.Unmarshal(body, &counted) != nil || len(counted.Questions) == 0 {
		return counted.Counted
	}
	return counted.Questions[0].Counted
}

// labelledFile has messages with words that the offline model answers by, and labels of which most are what it answers.
func labelledFile(rows int) string {
	var text strings.Builder
	text.WriteString("message,topic,urgent,tone\n")
	topics, tones := labelledPrism.Questions[0].Options, labelledPrism.Questions[2].Levels
	for row := range rows {
		topic, urgent, tone := row%len(topics), row%5 < 2, row/3%len(tones)
		fmt.Fprintf(&text, "\"Message %d is about my %s, and I am %s.", row, topics[topic].Label, tones[tone].Label)
		if urgent {
			text.WriteString(" I need a reply within the hour.")
		}
		if row%10 > 7 {
			topic = (topic + 1) % len(topics)
		}
		if row%9 > 6 {
			tone = (tone + 1) % len(tones)
		}
		fmt.Fprintf(&text, "\",%s,%t,%s\n", topics[topic].Key, urgent != (row%7 == 0), tones[tone].Key)
	}
	return text.String()
}

// calibratedReads compares the processor time of reads under a Lens with calibrated columns with that under the same Lens without,
// of the same results, in turns.
func (b *bench) calibratedReads(ctx context.Context, a archive) error {
	pins := map[string]*string{}
	for question, method := range map[string]client.CalibrationMethod{
		"topic": client.TemperatureCalibration, "urgent": client.PlattCalibration, "tone": client.TemperatureCalibration,
	} {
		fit, err := a.CreateCalibration(ctx, labelledSlug, 1, client.NewCalibration{Question: question, Method: method})
		if err != nil {
			return err
		}
		pins[question] = &fit.ID
	}
	if _, err := a.PinCalibrations(ctx, labelledSlug, 1, pins); err != nil {
		return err
	}
	var ids []string
	for r, err := range a.Results(ctx, client.ResultFilter{Prism: labelledSlug, Version: 1}) {
		if err != nil {
			return err
		}
		if ids = append(ids, r.ID); len(ids) == 1000 {
			break
		}
	}
	s := *a.System
	s.IDs = [][]string{ids}
	turn := *b
	turn.Length = b.Length / 2
	measure := func(calibrated bool) (us float64, err error) {
		lens := client.Lens{Columns: []client.Column{
			{Name: "topic", Question: "topic", Show: client.ShowConfidence, Calibrated: calibrated},
			{Name: "card", Question: "topic", Show: client.ShowProbability, Option: "card", Calibrated: calibrated},
			{Name: "urgent", Question: "urgent", Show: client.ShowAnswer, Calibrated: calibrated},
			{Name: "p_urgent", Question: "urgent", Show: client.ShowProbability, Calibrated: calibrated},
			{Name: "tone", Question: "tone", Show: client.ShowProbability, Option: "angry", Calibrated: calibrated},
		}}
		if _, err := a.ReplaceLens(ctx, labelledSlug, lens); err != nil {
			return 0, err
		}
		m, err := turn.measure(ctx, &s, readCall, 0)
		return m.total(), err
	}
	var with, without []float64
	for range b.Rounds {
		var sums [2]float64
		for _, calibrated := range []bool{false, true, true, false, false, true, true, false} {
			us, err := measure(calibrated)
			if err != nil {
				return err
			}
			if calibrated {
				sums[1] += us / 4
			} else {
				sums[0] += us / 4
			}
		}
		without, with = append(without, sums[0]), append(with, sums[1])
	}
	b.report.add(b.out, besideAtMost("quality", a.store+", processor time of a read with five calibrated columns, of one without", "µs",
		with, without, calibratedRead))
	return nil
}
