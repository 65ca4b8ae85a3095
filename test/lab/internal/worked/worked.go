// Package worked is the example of docs/quality.md: the labelled questions of examples/quality are answered by the versions of a
// prism, and then measured, calibrated and compared, all by the Go client. It writes the tables and pictures of the page.
//
// The offline model always answers the same, and intervals have a seed from the data, so its tables are the same in each run.
package worked

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prism-results/prism/client"
)

// The questions of the example.
const (
	Topic   = "topic"   // choice
	Problem = "problem" // yes_no
)

// Costs of the example: a yes calls somebody at once, which costs 4 in vain; a no waits in the queue, where a problem costs 2; an
// unsure one is read first, for 1.
var Costs = client.Costs{FalseYes: 4, FalseNo: 2, Unsure: 1}

// Data is the folder examples/quality.
type Data struct {
	First    client.NewPrism   // the first try at the questions
	Reworded client.NewVersion // the second
	header   []string
	rows     [][]string
}

// Read reads the folder below the repository's.
func Read(root string) (d Data, err error) {
	dir := filepath.Join(root, "examples", "quality")
	var reworded client.NewPrism
	for name, into := range map[string]any{"prism.json": &d.First, "reworded.json": &reworded} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return d, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return d, fmt.Errorf("%s: %w", name, err)
		}
	}
	d.Reworded = reworded.NewVersion
	raw, err := os.ReadFile(filepath.Join(dir, "questions.csv"))
	if err != nil {
		return d, err
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil || len(rows) < 2 {
		return d, errors.Join(errors.New("questions.csv has no rows"), err)
	}
	d.header, d.rows = rows[0], rows[1:]
	return d, nil
}

// Rows is how many questions there are.
func (d Data) Rows() int { return len(d.rows) }

// part is the file with the rows from one place to another. The rows are in an order in which each part has questions of all
// intents (examples/quality/README.md), so that each part is a sample of them.
func (d Data) part(from, to int) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(d.header); err != nil {
		return nil, err
	}
	if err := w.WriteAll(d.rows[from:to]); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Growth is what is known with a number of labels.
type Growth struct {
	Labels  int
	Quality client.Quality
	// Calibrations that auto finds, by question, or in words why it finds none.
	Calibrations map[string]client.Calibration
	None         map[string]string
}

// Version is what is known of a version when all its rows are labelled.
type Version struct {
	Name   string
	Number int
	Growth
	Calibrated client.Quality // with the calibrations pinned
	Thresholds client.Thresholds
}

// Example is a prism with its answers.
type Example struct {
	c    *client.Client
	data Data
	slug string
}

// New makes the prism with its first version.
func New(ctx context.Context, c *client.Client, data Data, first client.NewVersion) (*Example, error) {
	p := data.First
	p.NewVersion = first
	_, err := c.CreatePrism(ctx, p)
	return &Example{c, data, p.Slug}, err
}

// Answer has the first version answer the rows from one place to another, and stores their labels.
func (e *Example) Answer(ctx context.Context, from, to int) error {
	content, err := e.data.part(from, to)
	if err != nil {
		return err
	}
	r, err := e.c.RunFile(ctx, e.slug,
		client.Upload{Name: "questions.csv", Format: client.FileCSV, Content: bytes.NewReader(content), Bytes: int64(len(content))},
		client.NewRun{Fields: map[string]string{"text": "text"}, Labels: map[string]string{Topic: "topic", Problem: "problem"}}, nil)
	if err != nil {
		return err
	}
	return answered(r)
}

// Add makes the second version, and has it answer what is labelled of the first one.
func (e *Example) Add(ctx context.Context, v client.NewVersion, limits client.RunLimits, progress func(client.Run)) error {
	if _, err := e.c.CreateVersion(ctx, e.slug, v); err != nil {
		return err
	}
	r, err := e.c.CreateRun(ctx, e.slug, client.NewRun{FromLabelsOf: 1, RunLimits: limits})
	if err != nil {
		return err
	}
	if r, err = e.c.WatchRun(ctx, r.ID, progress); err != nil {
		return err
	}
	return answered(r)
}

// answered is an error if a run ended otherwise than with answers to most of its rows.
func answered(r client.Run) error {
	if 2*r.OK < r.Rows || r.Status != client.RunFinished {
		return fmt.Errorf("the run is %s: %d of %d rows are answered", r.Status, r.OK, r.Rows)
	}
	return nil
}

// Measure reads the measures of a version, and looks for calibrations.
func (e *Example) Measure(ctx context.Context, version int) (g Growth, err error) {
	g.Calibrations, g.None = map[string]client.Calibration{}, map[string]string{}
	if g.Quality, err = e.c.ReadQuality(ctx, e.slug, version, client.QualityFilter{}); err != nil {
		return g, err
	}
	g.Labels = g.Quality.Questions[0].Counted
	for _, question := range []string{Topic, Problem} {
		n := client.NewCalibration{Question: question, Method: client.AutoCalibration}
		made, err := e.c.CreateCalibration(ctx, e.slug, version, n)
		var refused *client.Error
		switch {
		case errors.Is(err, client.ErrConflict) && errors.As(err, &refused):
			g.None[question] = refused.Message
		case err != nil:
			return g, err
		default:
			g.Calibrations[question] = made
		}
	}
	return g, nil
}

// Finish measures a version, pins its calibrations, and chooses thresholds.
func (e *Example) Finish(ctx context.Context, name string, number int) (v Version, err error) {
	v.Name, v.Number = name, number
	if v.Growth, err = e.Measure(ctx, number); err != nil {
		return v, err
	}
	pins := map[string]*string{}
	for question, made := range v.Calibrations {
		pins[question] = &made.ID
	}
	if len(pins) > 0 {
		if _, err = e.c.PinCalibrations(ctx, e.slug, number, pins); err != nil {
			return v, err
		}
	}
	calibrated := client.QualityFilter{Calibrated: true}
	if v.Calibrated, err = e.c.ReadQuality(ctx, e.slug, number, calibrated); err != nil {
		return v, err
	}
	calibrated.Question = Problem
	v.Thresholds, err = e.c.ReadThresholds(ctx, e.slug, number, calibrated, Costs)
	return v, err
}

// Compare compares version 2 with version 1 by each question.
func (e *Example) Compare(ctx context.Context) (all []client.Comparison, err error) {
	for _, question := range []string{Topic, Problem} {
		one, err := e.c.CompareVersions(ctx, e.slug, 1, 2, question)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// of is the measures of a question.
func of(q client.Quality, question string) client.QuestionQuality {
	return q.Questions[slices.IndexFunc(q.Questions, func(one client.QuestionQuality) bool { return one.Question == question })]
}

// sizes are how many labels the first version is measured with, one after the other.
var sizes = []int{50, 200, 1000}

// Offline is the example with the offline model.
type Offline struct {
	Growth        []Growth
	First, Second Version
	Comparisons   []client.Comparison
}

// AnswerOffline works the example with a Prism whose default model is the offline one.
func AnswerOffline(ctx context.Context, c *client.Client, d Data) (o Offline, err error) {
	e, err := New(ctx, c, d, d.First.NewVersion)
	if err != nil {
		return o, err
	}
	from := 0
	for _, to := range sizes {
		if err := e.Answer(ctx, from, to); err != nil {
			return o, err
		}
		g, err := e.Measure(ctx, 1)
		if err != nil {
			return o, err
		}
		o.Growth, from = append(o.Growth, g), to
	}
	if err := e.Answer(ctx, from, d.Rows()); err != nil {
		return o, err
	}
	if o.First, err = e.Finish(ctx, "1: labels only", 1); err != nil {
		return o, err
	}
	o.Growth = append(o.Growth, o.First.Growth)
	if err := e.Add(ctx, d.Reworded, client.RunLimits{}, nil); err != nil {
		return o, err
	}
	if o.Second, err = e.Finish(ctx, "2: with descriptions", 2); err != nil {
		return o, err
	}
	o.Comparisons, err = e.Compare(ctx)
	return o, err
}

// AnswerLive has the first n questions answered by the offline model and then by another one, as versions that name their models.
func AnswerLive(
	ctx context.Context, c *client.Client, d Data, n int, offline, model, name string, progress func(client.Run),
) (l Live, err error) {
	v := d.First.NewVersion
	v.Model = offline
	e, err := New(ctx, c, d, v)
	if err != nil {
		return l, err
	}
	if err := e.Answer(ctx, 0, n); err != nil {
		return l, err
	}
	if l.Offline, err = e.Finish(ctx, "1: offline", 1); err != nil {
		return l, err
	}
	v.Model = model
	// More rows at once would wait for each other inside their 15 seconds.
	if err := e.Add(ctx, v, client.RunLimits{Concurrency: new(1)}, progress); err != nil {
		return l, err
	}
	if l.Real, err = e.Finish(ctx, "2: "+name, 2); err != nil {
		return l, err
	}
	l.Comparisons, err = e.Compare(ctx)
	return l, err
}

// number writes a count with a comma after each three digits.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
