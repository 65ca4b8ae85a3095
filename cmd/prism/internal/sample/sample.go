// Package sample fills an account with prisms, keys, results of a month and a run, so that every page of the console has
// something to show (spec: demo-account).
package sample

import (
	"bytes"
	"context"
	"crypto/rand"
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

// supportTSV has a subject and a message in each line.
//
//go:embed data/support.tsv
var supportTSV string

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
	Models  contract.Models
	// Clock is the clock of Results.
	Clock *Clock
	// Account makes the account.
	Account func(ctx context.Context) error
	// Key makes a key of the account.
	Key func(ctx context.Context, name string, role prism.Role) (contract.KeyDigest, error)
	// Work answers the rows of runs until ctx ends.
	Work func(ctx context.Context)
}

// Plan is how many calls Fill makes, and over which time.
type Plan struct {
	Calls int // at least 1
	Days  int // over which the calls are spread, up to Until; at least 1
	Until time.Time
}

type filling struct {
	deps    Deps
	plan    Plan
	rand    *mathrand.Rand
	owner   contract.KeyDigest
	callers []contract.KeyDigest
	texts   map[string][][]prism.FieldValue // the inputs of each prism
	// incident begins three hours in which most calls fail. Another model answers from then on.
	incident time.Time
}

// Fill fills a new account. The same plan makes the same results, apart from their ids.
func Fill(ctx context.Context, d Deps, p Plan) error {
	f := &filling{deps: d, plan: p, rand: mathrand.New(mathrand.NewPCG(7, 77))} //nolint:gosec // the demo is the same each time
	start := p.Until.AddDate(0, 0, -p.Days)
	f.incident = start.Add(p.Until.Sub(start) * 7 / 10).Truncate(24 * time.Hour).Add(12 * time.Hour)
	f.deps.Clock.Set(start.Add(-time.Hour))
	if err := f.readTexts(); err != nil {
		return err
	}
	if err := f.setUp(ctx); err != nil {
		return err
	}
	times := f.times(start)
	for i, at := range times {
		if i == len(times)*2/5 {
			if err := f.secondVersion(ctx, at); err != nil {
				return err
			}
		}
		if err := f.call(ctx, i, at); err != nil {
			return fmt.Errorf("result %d: %w", i+1, err)
		}
	}
	// The run is dated before the newest calls, so that lists begin with calls.
	f.deps.Clock.Set(p.Until.Add(-p.Until.Sub(start) / 6))
	return f.run(ctx)
}

func (f *filling) readTexts() error {
	rows, err := csv.NewReader(bytes.NewReader(bankingCSV)).ReadAll()
	if err != nil {
		return err
	}
	f.texts = map[string][][]prism.FieldValue{}
	for _, row := range rows[1:] {
		f.texts["banking77"] = append(f.texts["banking77"], []prism.FieldValue{{Key: "text", Value: row[0]}})
	}
	for line := range strings.Lines(supportTSV) {
		subject, message, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f.texts["support"] = append(f.texts["support"], []prism.FieldValue{
			{Key: "subject", Value: subject}, {Key: "message", Value: message},
		})
	}
	return nil
}

func (f *filling) setUp(ctx context.Context) error {
	if err := f.deps.Account(ctx); err != nil {
		return err
	}
	var err error
	if f.owner, err = f.deps.Key(ctx, "set up", prism.Owner); err != nil {
		return err
	}
	for _, name := range []string{"help desk", "nightly import", "mobile app"} {
		key, err := f.deps.Key(ctx, name, prism.Caller)
		if err != nil {
			return err
		}
		f.callers = append(f.callers, key)
	}
	if _, err := f.deps.Key(ctx, "dashboard", prism.Reader); err != nil {
		return err
	}
	for _, body := range [][]byte{bankingPrism, supportPrism} {
		var p api.NewPrism
		if err := strictjson.Unmarshal(body, &p); err != nil {
			return err
		}
		if _, err := contract.Do(ctx, f.deps.Results, f.owner, api.CreatePrism, api.CreatePrismRequest{NewPrism: p}); err != nil {
			return err
		}
	}
	return nil
}

// secondVersion adds a question to support.
func (f *filling) secondVersion(ctx context.Context, at time.Time) error {
	f.deps.Clock.Set(at.Add(-time.Minute))
	var p api.NewPrism
	if err := strictjson.Unmarshal(supportPrism, &p); err != nil {
		return err
	}
	p.Questions = append(p.Questions, prism.Question{
		Key: "reply", Type: prism.YesNo, Text: "Does the customer wait for a reply?",
	})
	_, err := contract.Do(ctx, f.deps.Results, f.owner, api.CreateVersion, api.CreateVersionRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "support"}}, NewVersion: p.NewVersion,
	})
	return err
}

// times are the times of the calls in their order: more by day than by night, fewer at weekends.
func (f *filling) times(start time.Time) []time.Time {
	span := f.plan.Until.Sub(start)
	times := make([]time.Time, 0, f.plan.Calls)
	for len(times) < f.plan.Calls {
		at := start.Add(time.Duration(f.rand.Int64N(int64(span)))).Truncate(time.Millisecond)
		likely := 0.15 + 0.85*math.Pow(math.Sin(math.Pi*float64(at.UTC().Hour())/24), 2)
		if day := at.UTC().Weekday(); day == time.Saturday || day == time.Sunday {
			likely *= 0.4
		}
		if f.rand.Float64() < likely {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// call makes one call at a time in the past. One in three failed calls is retried some minutes later.
func (f *filling) call(ctx context.Context, i int, at time.Time) error {
	f.deps.Clock.Set(at)
	slug := "support"
	if f.rand.Float64() < 0.45 {
		slug = "banking77"
	}
	fields := f.texts[slug][f.rand.IntN(len(f.texts[slug]))]
	key := f.callers[min(f.rand.IntN(4), len(f.callers)-1)]
	q := contract.CreateQuery{Key: key, Prism: prism.Ref{Slug: slug}, Format: contract.JSON}
	if slug == "support" {
		q.IdempotencyKey = fmt.Sprintf("message-%d", 100_000+i)
	}
	facts, err := f.deps.Results.CreateFacts(ctx, q)
	if err != nil {
		return err
	}
	ref := fmt.Sprintf("ticket-%d", 10_000+i)
	save := contract.Save{
		Account: facts.Account, Prism: facts.Prism, Version: facts.Version.Number, Key: facts.Key,
		Ref: &ref, Fields: fields, IdempotencyKey: q.IdempotencyKey, Format: contract.JSON,
	}
	ask := contract.Ask{Definition: facts.Version.Definition, Fields: fields}
	if err := f.save(ctx, &save, ask, at, f.fails(at)); err != nil || save.Outcome.Error == "" || f.rand.IntN(3) > 0 {
		return err
	}
	first := save.ID
	save.RetryOf, save.IdempotencyKey = &first, ""
	return f.save(ctx, &save, ask, at.Add(time.Duration(2+f.rand.IntN(20))*time.Minute), false)
}

// fails decides whether a call fails: one in fifty, and more than every second one in the incident.
func (f *filling) fails(at time.Time) bool {
	if since := at.Sub(f.incident); since >= 0 && since < 3*time.Hour {
		return f.rand.Float64() < 0.6
	}
	return f.rand.Float64() < 0.02
}

func (f *filling) save(ctx context.Context, s *contract.Save, ask contract.Ask, at time.Time, fails bool) error {
	f.deps.Clock.Set(at)
	outcome, err := f.deps.Models.Ask(ctx, ask)
	if err != nil {
		return err
	}
	id, err := prism.NewUUID(at, rand.Reader)
	if err != nil {
		return err
	}
	s.ID, s.Outcome = prism.ResultID{UUID: id}, f.dress(outcome, ask, at, fails)
	_, err = f.deps.Results.Save(ctx, *s)
	return err
}

// dress gives an answer of the offline model, which takes no time and has no price, the time, tokens and cost that a small
// language model would have. If the call fails, dress turns the answer into a timeout.
func (f *filling) dress(o contract.Outcome, ask contract.Ask, at time.Time, fails bool) contract.Outcome {
	call := *o.Call
	if at.Before(f.incident) {
		call.Name, call.Model = "words-1", "words-1-small"
	} else {
		call.Name, call.Model = "words-2", "words-2-large"
	}
	call.Tries = 1
	o.Call, o.TookMS = &call, int64(180*math.Exp(f.rand.NormFloat64()*0.4)) // about the times of a small model
	definition, _ := json.Marshal(ask.Definition)
	input := int64(len(definition)) / 4 // about four bytes a token
	for _, v := range ask.Fields {
		input += int64(len(v.Value))/4 + 1
	}
	output, price := int64(4*len(ask.Definition.Questions)), int64(100_000) // price of an input token in 10⁻¹² USD
	cost := input*price + output*4*price
	call.Usage = prism.Usage{InputTokens: &input, OutputTokens: &output, Cost: &cost, Currency: "USD"}
	if fails {
		o.Answers, o.Error, o.TookMS = nil, contract.TimeoutText, contract.ModelWait.Milliseconds()
		call.ErrorCode, call.Tries, call.LabelMass = prism.CodeTimeout, 3, nil
	}
	return o
}

// run uploads the bank's questions as a file and answers them in a run.
func (f *filling) run(ctx context.Context) error {
	working, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); f.deps.Work(working) }()
	defer func() { stop(); <-done }()

	file, err := f.upload(ctx)
	if err != nil {
		return err
	}
	n := api.NewRun{
		File: file, Fields: []api.FieldColumn{{Field: "text", Column: "text"}}, Name: "Questions of the test set",
	}
	made, err := contract.Do(ctx, f.deps.Results, f.owner, api.CreateRun, api.CreateRunRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "banking77"}}, NewRun: n,
	})
	if err != nil {
		return err
	}
	var r struct{ ID prism.RunID }
	if err := json.Unmarshal(made.Body, &r); err != nil {
		return err
	}
	return f.await(ctx, "finished", func() (contract.Response, error) {
		return contract.Do(ctx, f.deps.Results, f.owner, api.ReadRun, api.RunRequest{Run: r.ID})
	})
}

func (f *filling) upload(ctx context.Context) (prism.FileID, error) {
	made, err := contract.Do(ctx, f.deps.Results, f.owner, api.CreateFile, api.CreateFileRequest{NewFile: api.NewFile{
		Name: "banking77.csv", Format: prism.FileCSV, Bytes: int64(len(bankingCSV)),
	}})
	var file struct{ ID prism.FileID }
	if err == nil {
		err = json.Unmarshal(made.Body, &file)
	}
	if err == nil {
		_, err = f.deps.Results.PutPart(ctx, f.owner, contract.FilePart{File: file.ID, Number: 1, Data: bankingCSV})
	}
	if err == nil {
		_, err = contract.Do(ctx, f.deps.Results, f.owner, api.CompleteFile, api.FileRequest{File: file.ID})
	}
	if err != nil {
		return file.ID, err
	}
	return file.ID, f.await(ctx, "ready", func() (contract.Response, error) {
		return contract.Do(ctx, f.deps.Results, f.owner, api.ReadFile, api.FileRequest{File: file.ID})
	})
}

// await reads a file or run until it has the status.
func (f *filling) await(ctx context.Context, status string, read func() (contract.Response, error)) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := read()
		if err != nil {
			return err
		}
		var now struct{ Status string }
		if err := json.Unmarshal(r.Body, &now); err != nil {
			return err
		}
		switch now.Status {
		case status:
			return nil
		case "unusable", "paused", "cancelled":
			return errors.New("the run of the demo ended as " + now.Status)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
