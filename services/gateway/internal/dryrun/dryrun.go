// Package dryrun tells what a run of a file would do, without starting it: which rows are invalid, and what the others would cost.
package dryrun

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/gateway/internal/checks"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
	"github.com/prism-results/prism/services/gateway/internal/size"
)

// The bounds of a dry run (spec: run-dry-run).
const (
	// checkTime is how long rows are checked. Rows of a large file that are left then stay unchecked.
	checkTime = 20 * time.Second
	// maxShown is how many invalid rows are listed.
	maxShown = 100
	// sampleOfChunk and maxSample bound the rows whose tokens are counted.
	sampleOfChunk = 5
	maxSample     = 2_000
	// placeWait is how long a dry run waits for a place to begin.
	placeWait = 5 * time.Second
)

// Deps are what dry runs work with; all are required.
type Deps struct {
	Results   contract.Runs
	Models    contract.Models
	Estimator *size.Estimator
	// Places are how many chunks are checked at once. Accounts take turns for them (spec: dry-run-places).
	Places *fair.Queue
	// Stopping returns a context that ends when the service begins to refuse calls. Then no further rows are checked.
	Stopping func() context.Context
}

// Run answers the dry run of a run. Its errors are those of contract.Runs.PlanRun and contract.Models.List, and
// contract.ErrUnavailable without a place to begin. It gives its place back after each chunk, and waits for the next one.
func (d Deps) Run(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun) (contract.Response, error) {
	account := fair.Account(ctx)
	begin, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	if err := d.Places.Take(begin, account, fair.Preferred); err != nil {
		return contract.Response{}, errors.Join(contract.ErrUnavailable, err)
	}
	holdsPlace := true
	defer func() {
		if holdsPlace {
			d.Places.Give(account)
		}
	}()
	plan, err := execute.LookUp(ctx, func(ctx context.Context) (contract.RunPlan, error) { return d.Results.PlanRun(ctx, key, ref, n) })
	if err != nil {
		return contract.Response{}, err
	}
	known, err := execute.LookUp(ctx, d.Models.List)
	if err != nil {
		return contract.Response{}, err
	}
	t := tally{plan: plan, estimator: d.Estimator.ForCall(ctx), DryRun: api.DryRun{Rows: plan.Rows, Invalid: []api.InvalidRow{}, InvalidLabels: []api.InvalidRow{}}}
	ends := time.Now().Add(checkTime)
	checking, cancel := context.WithDeadline(ctx, ends)
	defer cancel()
	n.Version = plan.Version.Number // so that all chunks are of the version that PlanRun found
	for chunk := int32(0); chunk < plan.Chunks && time.Now().Before(ends) && d.Stopping().Err() == nil; chunk++ {
		if chunk > 0 {
			d.Places.Give(account)
			if holdsPlace = d.Places.Take(checking, account, fair.Preferred) == nil; !holdsPlace {
				break
			}
		}
		q := contract.PlanRows{Prism: prism.Ref{ID: plan.Prism}, Run: n, Chunk: chunk}
		rows, err := execute.LookUp(ctx, func(ctx context.Context) ([]contract.ChunkRow, error) { return d.Results.PlanRows(ctx, key, q) })
		if err != nil {
			return contract.Response{}, err
		}
		if err := t.add(rows); err != nil {
			return contract.Response{}, err
		}
	}
	if err := t.estimate(modelOf(known, plan.Version.Model)); err != nil {
		return contract.Response{}, err
	}
	body, err := strictjson.Marshal(t.DryRun, strictjson.Numbers)
	return contract.Response{ContentType: httpkit.JSONType, Body: body}, err
}

// tally sums up the rows that were checked.
type tally struct {
	plan      contract.RunPlan
	estimator size.CallEstimator
	api.DryRun

	bytes, sampleBytes int64 // of the inputs of all valid rows, and of the sampled ones, whose tokens were counted
	sampled            int
	sampleTokens       int64
}

// add checks the rows of a chunk by the code of a create call (spec: rows-are-calls).
func (t *tally) add(rows []contract.ChunkRow) error {
	for i, r := range rows {
		t.RowsChecked++
		for _, message := range r.InvalidLabels {
			if t.InvalidLabelsTotal++; len(t.InvalidLabels) < maxShown {
				t.InvalidLabels = append(t.InvalidLabels, api.InvalidRow{Row: r.Row, Message: message})
			}
		}
		message, err := t.check(r)
		if err == nil && message == "" {
			err = t.measure(r, i < sampleOfChunk)
		}
		switch {
		case err != nil:
			return err
		case message == "":
			continue
		}
		t.InvalidTotal++
		if len(t.Invalid) < maxShown {
			t.Invalid = append(t.Invalid, api.InvalidRow{Row: r.Row, Message: message})
		}
	}
	return nil
}

// check returns the message of an invalid row, or "" for a valid one.
func (t *tally) check(r contract.ChunkRow) (string, error) {
	if r.Invalid != "" {
		return r.Invalid, nil
	}
	sent, err := request.Row(r.Fields, r.Ref, r.Context)
	if err == nil {
		_, err = checks.Create(sent, contract.CreateFacts{Account: t.plan.Account, Prism: t.plan.Prism, Version: &t.plan.Version}, t.estimator)
	}
	if message, invalid := request.RefusesRow(err); invalid {
		return message, nil
	}
	return "", err
}

func (t *tally) measure(r contract.ChunkRow, sample bool) error {
	texts := []string{r.Context}
	for _, f := range r.Fields {
		texts = append(texts, f.Value)
	}
	bytes := int64(0)
	for _, text := range texts {
		bytes += int64(len(text))
	}
	t.bytes += bytes
	if !sample || t.sampled == maxSample {
		return nil
	}
	tokens, err := t.estimator.Count(texts...)
	t.sampled++
	t.sampleBytes += bytes
	t.sampleTokens += int64(tokens)
	return err
}

// estimate extrapolates from the rows that were checked to all rows.
func (t *tally) estimate(m api.Model) error {
	if t.RowsChecked == 0 {
		return nil
	}
	all := float64(t.Rows) / float64(t.RowsChecked)
	valid := float64(t.RowsChecked-t.InvalidTotal) * all
	calls := float64(contract.Calls(m, t.plan.Version.Questions))
	perByte := 0.0
	if t.sampleBytes > 0 {
		perByte = float64(t.sampleTokens) / float64(t.sampleBytes)
	}
	shared, err := t.estimator.Count(size.DefinitionTexts(t.plan.Version.Definition)...)
	questions := 0
	for _, q := range contract.AskedOf(t.plan.Version.Questions) {
		n, countErr := t.estimator.Count(q.Texts()...)
		questions, err = questions+readOf(m, q.Question, n), errors.Join(err, countErr)
	}
	if err != nil {
		return err
	}
	tokens := float64(t.bytes)*all*perByte*calls + valid*(calls*float64(shared)+float64(questions))
	t.ModelCalls, t.Tokens = int64(valid*calls+0.5), int64(tokens+0.5)
	if limit := t.plan.Run.RowsPerSecond; limit != nil && *limit > 0 {
		seconds := min(valid / *limit, math.MaxFloat64) // JSON has no infinity
		t.Seconds = &seconds
	}
	if m.Price != nil {
		estimate := tokens / 1e6 * m.Price.Input
		if m.Price.PerCall != nil {
			estimate += valid * calls * *m.Price.PerCall
		}
		cost, err := strictjson.Marshal(estimate)
		t.Cost, t.Currency = new(strictjson.Number(cost)), &m.Price.Currency
		return err
	}
	return nil
}

// readOf is how many of the n tokens of a question a model reads in all calls. Groups have each of its options once together, and the last
// round has its part of them (spec: option-groups).
func readOf(m api.Model, q prism.Question, n int) int {
	if m.Samples != nil {
		return n * *m.Samples
	}
	groups, last := contract.Rounds(m, q)
	if groups == 0 {
		return n * last
	}
	return n + n*last*contract.Candidates/len(q.AnswerKeys())
}

// modelOf is the model with the name, or the default model if the name is empty. It is the zero model, without a price, if no model
// with the name is configured.
func modelOf(known []api.Model, name string) api.Model {
	i := slices.IndexFunc(known, func(m api.Model) bool { return m.Name == name || name == "" && m.Default })
	if i < 0 {
		return api.Model{}
	}
	return known[i]
}
