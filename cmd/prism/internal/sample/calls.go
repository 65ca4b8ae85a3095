package sample

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// call makes one call at a time in the past. One in three failed calls is retried some minutes later.
func (f *filling) call(ctx context.Context, i int, at time.Time) error {
	f.deps.Clock.Set(at)
	slug, fields := f.input(at)
	key := f.callers[min(f.rand.IntN(4), len(f.callers)-1)]
	q := contract.CreateQuery{Key: key, Prism: prism.Ref{Slug: slug}, Format: contract.JSON}
	if slug == support {
		q.IdempotencyKey = fmt.Sprintf("message-%d", 100_000+i)
	}
	facts, err := f.deps.Results.CreateFacts(ctx, q)
	if err != nil {
		return fmt.Errorf("looking up the call: %w", err)
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

// input is the prism that a call at a time is of, one in three the bank's, and its text. After the recall four in five calls are of
// support, and half of these about broken machines.
func (f *filling) input(at time.Time) (slug string, fields []prism.FieldValue) {
	slug, ofBank := support, 1./3
	recalled := !at.Before(f.recall)
	if recalled {
		ofBank = 0.2
	}
	if f.rand.Float64() < ofBank {
		slug = banking
	}
	texts := f.texts[slug]
	if slug == support && recalled && f.rand.Float64() < 0.5 {
		texts = f.broken
	}
	return slug, texts[f.rand.IntN(len(texts))]
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
		return fmt.Errorf("asking the model: %w", err)
	}
	id, err := prism.NewUUID(at, rand.Reader)
	if err != nil {
		return err
	}
	s.ID, s.Outcome = prism.ResultID{UUID: id}, f.dress(outcome, ask, at, fails)
	if _, err = f.deps.Results.Save(ctx, *s); err != nil {
		return fmt.Errorf("saving the result: %w", err)
	}
	if !fails && at.Before(f.plan.Until.Add(-beforeUntil)) {
		f.newest[s.Fields[0].Value] = s.ID
	}
	return nil
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
