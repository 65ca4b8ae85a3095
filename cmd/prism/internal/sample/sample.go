// Package sample fills an account with what a team leaves in a month: prisms, keys, members, results, labels, calibrations, runs and
// comments, so that every page of the console has something to show (spec: demo-account).
package sample

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

//go:embed data/banking77.json
var bankingPrism []byte

//go:embed data/support.json
var supportPrism []byte

// bankingCSV has the columns text and category.
//
//go:embed data/banking77.csv
var bankingCSV []byte

// supportTSV has a subject and a message in each line, and what is right for the questions team, refund and mood.
//
//go:embed data/support.tsv
var supportTSV string

// The slugs of the prisms.
const (
	banking = "banking77"
	support = "support"
)

// Clock is the clock of a store that is being filled. The zero value shows the real time. After Set, the clock runs on from the
// time that was set.
type Clock struct{ behind atomic.Int64 }

// Now is the time of the clock.
func (c *Clock) Now() time.Time { return time.Now().Add(-time.Duration(c.behind.Load())) }

// Set sets the clock.
func (c *Clock) Set(at time.Time) { c.behind.Store(int64(time.Since(at))) }

// Deps are what Fill works with; all are required.
type Deps struct {
	Results contract.Results
	Console contract.Console
	Models  contract.Models
	// Clock is the clock of Results and Console.
	Clock *Clock
	// Account makes the account.
	Account func(ctx context.Context) error
	// Key makes a key of the account.
	Key func(ctx context.Context, name string, role prism.Role) (contract.KeyDigest, error)
	// Work reads files, answers the rows of runs, and counts the answers of watched prisms, until ctx ends.
	Work func(ctx context.Context)
}

// Plan is how many calls Fill makes, and over which time.
type Plan struct {
	Calls int // at least 1
	Days  int // over which the calls are spread, up to Until; at least 1
	Until time.Time
}

// start is when the first day begins. Overview compares whole days with those before, so a part of a day would be all that it has to
// compare with.
func (p Plan) start() time.Time {
	if p.Days == 1 {
		return p.Until.Add(-24 * time.Hour)
	}
	return p.Until.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-p.Days)
}

type filling struct {
	deps    Deps
	plan    Plan
	rand    *mathrand.Rand
	owner   contract.KeyDigest
	callers []contract.KeyDigest
	people  []prism.MemberID                // as members has them
	texts   map[string][][]prism.FieldValue // the inputs of each prism
	broken  [][]prism.FieldValue            // the inputs of support about broken machines
	right   map[string][]string             // what is right for labelledQuestions, by the subject of a message
	newest  map[string]prism.ResultID       // of each subject, the newest result that is ok and older than the discussions
	// incident begins three hours in which most calls fail. Another model answers from then on.
	incident time.Time
	// recall begins the days in which most messages are about broken machines.
	recall time.Time
}

// Fill fills a new account. The same plan makes the same results, apart from their ids and from which of them have labels.
func Fill(ctx context.Context, d Deps, p Plan) error {
	f := &filling{
		deps: d, plan: p, rand: mathrand.New(mathrand.NewPCG(7, 77)), //nolint:gosec // the demo is the same each time
		right: map[string][]string{}, newest: map[string]prism.ResultID{},
	}
	start := p.start()
	f.incident = start.Add(p.Until.Sub(start) * 7 / 10).Truncate(24 * time.Hour).Add(12 * time.Hour)
	f.recall = p.Until.Add(-min(48*time.Hour, p.Until.Sub(start)/10))
	f.deps.Clock.Set(start.Add(-time.Hour))
	if err := f.readTexts(); err != nil {
		return err
	}
	if err := f.setUp(ctx); err != nil {
		return err
	}
	times := f.times(start)
	for i, at := range times {
		if i == len(times)/6 {
			if err := f.reword(ctx, at); err != nil {
				return fmt.Errorf("the second version: %w", err)
			}
		}
		if err := f.call(ctx, i, at); err != nil {
			return fmt.Errorf("result %d: %w", i+1, err)
		}
	}
	if err := f.working(ctx, func() error { return f.runFile(ctx, start) }); err != nil {
		return fmt.Errorf("the runs: %w", err)
	}
	if err := f.measure(ctx); err != nil {
		return fmt.Errorf("the labels: %w", err)
	}
	if err := f.discuss(ctx); err != nil {
		return fmt.Errorf("the comments: %w", err)
	}
	return f.watch(ctx)
}

func (f *filling) readTexts() error {
	rows, err := csv.NewReader(bytes.NewReader(bankingCSV)).ReadAll()
	if err != nil {
		return err
	}
	f.texts = map[string][][]prism.FieldValue{}
	for _, row := range rows[1:] {
		f.texts[banking] = append(f.texts[banking], []prism.FieldValue{{Key: "text", Value: row[0]}})
	}
	for line := range strings.Lines(supportTSV) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 2+len(labelledQuestions()) {
			return fmt.Errorf("support.tsv: %d cells in a line", len(cells))
		}
		fields := []prism.FieldValue{{Key: "subject", Value: cells[0]}, {Key: "message", Value: cells[1]}}
		f.texts[support] = append(f.texts[support], fields)
		f.right[cells[0]] = cells[2:]
		if cells[2] == "repairs" {
			f.broken = append(f.broken, fields)
		}
	}
	return nil
}

func (f *filling) setUp(ctx context.Context) error {
	if err := f.deps.Account(ctx); err != nil {
		return err
	}
	var err error
	if f.owner, err = f.deps.Key(ctx, "set up", prism.Owner); err != nil {
		return fmt.Errorf("the first key: %w", err)
	}
	for _, name := range []string{"help desk", "nightly import", "mobile app"} {
		key, err := f.deps.Key(ctx, name, prism.Caller)
		if err != nil {
			return fmt.Errorf("the key of the %s: %w", name, err)
		}
		f.callers = append(f.callers, key)
	}
	if _, err := f.deps.Key(ctx, "dashboard", prism.Reader); err != nil {
		return fmt.Errorf("the key of the dashboard: %w", err)
	}
	bank, err := newPrism(bankingPrism)
	if err != nil {
		return err
	}
	// The first try at the questions only has the labels of the teams; the second version describes them.
	first, err := newPrism(supportPrism)
	if err != nil {
		return err
	}
	for i := range first.Questions[0].Options {
		first.Questions[0].Options[i].Description = ""
	}
	for _, p := range []api.NewPrism{bank, first} {
		if _, err := contract.Do(ctx, f.deps.Results, f.owner, api.CreatePrism, api.CreatePrismRequest{NewPrism: p}); err != nil {
			return fmt.Errorf("the prism %s: %w", p.Slug, err)
		}
	}
	return f.invite(ctx)
}

func newPrism(body []byte) (p api.NewPrism, err error) {
	err = strictjson.Unmarshal(body, &p)
	return p, err
}

// reword labels results of the first version of support, and makes a second version, with descriptions of the teams and another
// question, which answers the labelled messages.
func (f *filling) reword(ctx context.Context, at time.Time) error {
	f.deps.Clock.Set(at.Add(-10 * time.Minute))
	if err := f.label(ctx, 1, labelsOfFirst); err != nil {
		return fmt.Errorf("labelling the first version: %w", err)
	}
	p, err := newPrism(supportPrism)
	if err != nil {
		return err
	}
	p.Questions = append(p.Questions, prism.Question{
		Key: "reply", Type: prism.YesNo, Text: "Does the customer wait for a reply?",
	})
	_, err = contract.Do(ctx, f.deps.Results, f.owner, api.CreateVersion, api.CreateVersionRequest{
		PrismRequest: ofPrism(support), NewVersion: p.NewVersion,
	})
	if err != nil {
		return err
	}
	return f.working(ctx, func() error { return f.runLabels(ctx) })
}

func ofPrism(slug string) api.PrismRequest { return api.PrismRequest{Prism: prism.Ref{Slug: slug}} }

// times are the times of the calls in their order: more by day than by night, fewer at weekends, slowly more over the month, and
// twice as many after the recall.
func (f *filling) times(start time.Time) []time.Time {
	span := f.plan.Until.Sub(start)
	times := make([]time.Time, 0, f.plan.Calls)
	for len(times) < f.plan.Calls {
		at := start.Add(time.Duration(f.rand.Int64N(int64(span)))).Truncate(time.Millisecond)
		likely := 0.15 + 0.85*math.Pow(math.Sin(math.Pi*float64(at.UTC().Hour())/24), 2)
		if at.Before(f.recall) {
			likely *= 0.35 + 0.15*float64(at.Sub(start))/float64(span)
			if day := at.UTC().Weekday(); day == time.Saturday || day == time.Sunday {
				likely *= 0.4
			}
		}
		if f.rand.Float64() < likely {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// read decodes the body of a response.
func read[T any](r contract.Response, err error) (body T, _ error) {
	if err != nil {
		return body, err
	}
	return body, json.Unmarshal(r.Body, &body)
}

// await asks whether something has happened until it has, or cannot happen any more.
func await(ctx context.Context, happened func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := happened(); done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(errors.New("the demo was stopped"), ctx.Err())
		}
	}
}
